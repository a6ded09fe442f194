"""What is left to the garbage collector."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def new_objects_alone() -> Iterator[None]:
    """Without collections of their own, ``gc`` sees what is made meanwhile and nothing that was there before.

    Thousands of tests leave much behind, in which a search takes seconds.
    """
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
        gc.unfreeze()
