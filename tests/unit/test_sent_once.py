"""A value that many tasks share is pickled once and unpickled once."""

import pickle
from weakref import ref

from sitegen.engine.eval_task import SentOnce


class Counted:
    """A value that counts how often it is pickled and unpickled."""

    pickled = unpickled = 0

    def __reduce__(self) -> tuple[object, tuple[()]]:
        Counted.pickled += 1
        return _unpickled, ()


def _unpickled() -> Counted:
    Counted.unpickled += 1
    return Counted()


def test_tasks_that_share_a_value_send_it_once_and_receive_the_same_object() -> None:
    shared = SentOnce(Counted())
    tasks = [pickle.dumps((number, shared)) for number in range(3)]
    received = [pickle.loads(task) for task in tasks]
    assert [number for number, _ in received] == [0, 1, 2]
    assert {id(sent.value) for _, sent in received} == {id(received[0][1].value)}
    assert (Counted.pickled, Counted.unpickled) == (1, 1)


def test_what_was_received_can_be_sent_on() -> None:
    sent = SentOnce(("a", 1))
    once = pickle.loads(pickle.dumps(sent))
    assert pickle.loads(pickle.dumps(once)).value == ("a", 1)


def test_a_value_that_was_sent_is_held_as_bytes_until_it_is_asked_for() -> None:
    value = Counted()
    held, shared = ref(value), SentOnce(value)
    del value
    pickle.dumps(shared)
    assert held() is None
    assert shared.value is shared.value
