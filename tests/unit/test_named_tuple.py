"""Our NamedTuple does what that of typing does, which type checkers take it for."""

import pickle
import typing
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
import pytest

from sitegen.model import named_tuple

T = TypeVar("T")


class Ours(named_tuple.NamedTuple):
    """A value and its note."""

    value: int
    note: str = "none"

    def doubled(self) -> int:
        return 2 * self.value


class Typings(typing.NamedTuple):
    """A value and its note."""

    value: int
    note: str = "none"

    def doubled(self) -> int:
        return 2 * self.value


class Held(named_tuple.NamedTuple, Generic[T]):
    content: T


@pytest.mark.parametrize(
    "use",
    [
        tuple,
        hash,
        lambda row: row == (1, "none"),
        lambda row: row < (2, ""),
        lambda row: (row.value, row.note, row[1], row.doubled()),
        lambda row: row._replace(note="two"),
        lambda row: row._asdict(),
        lambda row: row._make([3, "three"]),
        lambda row: repr(row).partition("(")[2],
        lambda row: pickle.loads(pickle.dumps(row)) == row,
        lambda row: type(pickle.loads(pickle.dumps(row))) is type(row),
        lambda row: msgspec.json.decode(msgspec.json.encode(row), type=type(row)).doubled(),
        lambda row: hasattr(row, "__dict__"),
        lambda row: (type(row)._fields, type(row)._field_defaults, type(row).__match_args__, type(row).__doc__),
    ],
)
def test_a_value_behaves_as_one_of_typing(use: Callable[[Any], object]) -> None:
    assert use(Ours(1)) == use(Typings(1)) == use(Ours(value=1, note="none"))


@pytest.mark.parametrize("wrong", [lambda of: of(), lambda of: of(1, "", 2), lambda of: of(1, other=2)])
def test_wrong_arguments_are_refused(wrong: Callable[[Any], object]) -> None:
    for kind in (Ours, Typings):
        with pytest.raises(TypeError):
            wrong(kind)


def test_an_unknown_field_cannot_be_replaced() -> None:
    with pytest.raises(TypeError, match="other"):
        Ours(1)._replace(other=2)  # type: ignore[call-arg]


def test_a_class_with_a_type_variable_names_it_in_brackets() -> None:
    held: Held[int] = Held[int](content=3)
    (content,) = held
    assert (content, held.content, Held[int].__origin__) == (3, 3, Held)  # type: ignore[attr-defined]


def test_fields_cannot_be_set() -> None:
    with pytest.raises(AttributeError):
        Ours(1).value = 2  # type: ignore[misc]
