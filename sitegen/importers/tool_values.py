"""The base of what is read of tools' files, and the types that values of JSON should have, with bounds.

Values of other types become empty or None, so that a wrong value is lost alone.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from typing import Final, TypeVar, cast

from sitegen.importers.usual_names import LOGPROB, PARTS
from sitegen.model.answers import Turn
from sitegen.model.outcomes import HALF, LARGEST_NUMBER, Unusable, Value
from sitegen.model.usage import spelled_number
from sitegen.text.keys import plain_key
from sitegen.text.plain import cut

T = TypeVar("T")

LONGEST_TEXT: Final = 10_000
"""The greatest length of a text, in characters. Longer texts are cut."""


def text(value: Value) -> str:
    """Return a text, else an empty one."""
    if isinstance(value, Unusable) and value.reason == HALF:
        return as_text(value)
    return cut(value, LONGEST_TEXT) if isinstance(value, str) else ""


def written(value: Value) -> str:
    """Return a text unchanged, and other values as JSON. Empty for null."""
    if value is None or isinstance(value, str | Unusable):
        return as_text(value) if isinstance(value, Unusable) else text(value)
    return cut(json.dumps(value, default=as_text, ensure_ascii=False), LONGEST_TEXT)


def as_text(value: object) -> str:
    """Return a number, or a value that JSON allows but nothing can use, as it was written.

    Each half of a surrogate pair in a text is the replacement character.
    """
    if not isinstance(value, Unusable):
        return str(value)
    return re.sub(r"\\ud[89a-f][0-9a-f]{2}", "\ufffd", value.literal) if value.reason == HALF else value.literal


def name_of(value: Value) -> str:
    """Return a text or a whole number as a name, else an empty text."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return (str(value) if is_number else text(value)).strip()[:LONGEST_TEXT]


def items(value: Value) -> list[Value]:
    """Return a list, or an empty one."""
    return value if isinstance(value, list) else []


def lone_item(value: Value) -> Value:
    """Return the item of a list of one, else the value itself."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def lone_text(value: Value) -> str:
    """Return the item of a list of one, or the value itself, as text."""
    return written(lone_item(value))


def members(value: Value) -> dict[str, Value]:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def number(value: Value) -> float | None:
    """Return a number from 0 up, else None."""
    size = as_float(value)
    return size if size is not None and size >= 0 else None


def whole(value: Value) -> int | None:
    """Return a whole number from 0 up, else None."""
    size = number(value)
    return int(size) if size is not None and size == int(size) else None


def share(value: Value) -> float | None:
    """Return a number from 0 to 1, else None."""
    size = number(value)
    return size if size is not None and size <= 1 else None


def truth(value: Value) -> bool | None:
    """Return a truth value, else None."""
    return value if isinstance(value, bool) else None


def as_float(value: Value) -> float | None:
    """Return a number up to ``LARGEST_NUMBER`` as a float, and None for anything else."""
    if type(value) is not int and type(value) is not Decimal:  # which bool is not, and this is asked a million times
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if abs(number) <= LARGEST_NUMBER else None


def as_number(cell: Value) -> float | None:
    """Return a number, which may be written as text; one in percent as a share."""
    if not isinstance(cell, str):
        return as_float(cell)
    spelled = spelled_number(cell.strip().removesuffix("%"))
    return as_float(spelled / 100 if spelled is not None and "%" in cell else spelled)


def stated_confidence(*objects: Mapping[str, Value]) -> float | None:
    """Return how sure the model was of its answer, as the first of these objects states in a number of any range.

    A natural logarithm becomes the probability; one above 0 is none, and becomes infinite.
    ``JudgedResults.with_confidences`` reads the numbers of a file together.
    """
    for stated in objects:
        for name, value in stated.items():
            if (key := plain_key(name)) in PARTS["confidence"] and (number := as_number(value)) is not None:
                return number if key != LOGPROB else math.exp(number) if number <= 0 else math.inf
    return None


def value_at(row: Mapping[str, Value], column: str) -> Value:
    """Return the value of a column, or of a path into its objects and lists (``arguments.0.0``); None without one."""
    if column in row or "." not in column:
        return row.get(column)
    first, _, rest = column.partition(".")
    value = row.get(first)
    while isinstance(value, list) and rest:
        index, _, rest = rest.partition(".")
        value = value[int(index[:9])] if index.isdecimal() and int(index[:9]) < len(value) else None
    if rest:
        return value_at(value, rest) if isinstance(value, dict) else None
    return value


class ToolObject:
    """An object in a file of a tool, of which ``part`` declares what counts. Other keys are ignored."""

    def __init__(self, value: Value) -> None:
        self.members = members(value)


def part(read: Callable[[Value], T], path: str) -> cached_property[T]:
    """Declare a part of an object: the type that it should have, and the path of keys and indices to it.

    It is read whenever it is asked for: few parts are twice, and hundreds of thousands of rows would keep them all.
    """
    return cast("cached_property[T]", property(lambda owner: read(value_at(owner.members, path))))


def list_of(read: Callable[[Value], T]) -> Callable[[Value], list[T]]:
    """Return the type of a list of objects. Items that are no objects are left out."""
    return lambda value: [read(item) for item in items(value) if isinstance(item, dict)]


def anything(value: Value) -> Value:
    """Return the type of a part that may be any value."""
    return value


def conversation(value: Value) -> str:
    """Return the input of a model as text. Each message of a conversation begins with its role."""
    said = list_of(members)(value)
    if not any({"content", "parts"} & message.keys() for message in said):
        return written(value)
    messages = [f"{name_of(message.get('role'))}: {content_of(_content(message))}" for message in said]
    return text("\n\n".join(messages))


def last_message(value: Value) -> str:
    """Return an answer as text: the last message that has one, if it is a conversation."""
    said = map(content_of, map(_content, reversed(list_of(members)(value))))
    return next(filter(None, said), "") or conversation(value)


def _content(message: dict[str, Value]) -> Value:
    return message.get("content", message.get("parts"))


def content_of(content: Value) -> str:
    """Return the text of a message, whose content may be a list of parts."""
    return text(content) or text(
        "".join(text(item.get("text")) for item in list_of(members)(content) if item.get("type") != "reasoning")
    )


def unique(name: str, used: Counter[str]) -> str:
    """Return the name, with a number from its second use on."""
    used[name] += 1
    return name if used[name] == 1 else f"{name} ({used[name]})"


_ARGUMENTS: Final = ("arguments", "input", "args")
_IDS_OF_CALLS: Final = ("tool_call_id", "tool_use_id", "call_id")
_RESULT: Final = ("output", "result", "response")
"""Keys of a result, or of a call that holds what the tool returned as well."""
_ERROR: Final = r'\s*\{\s*"error"\s*:\s*("[^"]|\{)'  # what begins a result that states an error as JSON
_PARTS: Final = {
    "call": ("tool_use", "tool_call", "functionCall", "function_call", "toolInvocation", "dynamic_tool"),
    "result": ("tool_result", "functionResponse", "function_response"),
}
"""Ends of the types of parts of a message that are no text, or keys of parts that hold such a one alone."""


TRANSCRIPT: Final = re.compile(r"(?:conversation|messages|trajectory|transcript)\.json")
"""Matches the name of a file with the transcript of the case that the file beside it judges."""


def transcript(*conversations: Value) -> tuple[Turn, ...]:
    """Return the messages of conversations in their order, each followed by the calls of tools in it.

    Messages are those of chat APIs: with ``tool_calls`` and a role ``tool``, or with parts that call tools and return
    results. A call may be a message of its own, and hold its result; so may a result.
    """
    turns: list[Turn] = []
    names: dict[str, str] = {}  # of tools by the id of the call, which a result may state alone
    for message in chain.from_iterable(map(list_of(members), conversations)):
        role, content, before = name_of(message.get("role")), _content(message), len(turns)
        pieces = [*map(_part, list_of(members)(content))]
        if content and not pieces:
            pieces = [("message", {"text": text(content) or written(content)})]
        calls = list_of(members)(message.get("tool_calls", message.get("toolCalls")))
        if role in ("tool", "function") or message.get("type") == "function_call_output":
            pieces = [each for each in pieces if each[0] == "result"] or [("result", message)]
        elif (not role and _tool(message)) or message.get("function_call"):
            calls.append(members(message.get("function_call")) or message)
        for kind, group in groupby([*pieces, *(("call", call) for call in calls)], itemgetter(0)):
            inside: list[Value] = [piece for _, piece in group]
            if kind == "message" and role and (said := content_of(inside)):
                turns.append(Turn("message", role, said))
            for each in map(members, inside if kind == "call" else ()):
                turns += _turns_of_call(each, names)
            for each in map(members, inside if kind == "result" else ()):
                known = next((names.get(name_of(each[key]), "") for key in _IDS_OF_CALLS if key in each), "")
                turns.append(_result(_tool(each) or known, each))
        if role and len(turns) == before:
            turns.append(Turn("message", role, text(message.get("refusal"))))
    return tuple(turns)


def _part(part: dict[str, Value]) -> tuple[str, dict[str, Value]]:
    """Return what a part of a message is, and what it holds. The type of a call may name its tool: ``tool-weather``."""
    of_type = name_of(part.get("type"))
    for kind, types in _PARTS.items():
        if alone := next(filter(part.get, types), ""):
            return kind, members(part[alone])
        if of_type.replace("-", "_").endswith(types):
            return kind, part
    return ("call", {"name": of_type[5:], **part}) if of_type.startswith("tool-") else ("message", part)


def _turns_of_call(call: dict[str, Value], names: dict[str, str]) -> Iterator[Turn]:
    """Yield the call of a tool, and its result if the call holds it."""
    function = members(call.get("function"))
    name, stated = _tool(call), {**call, **function}
    names[name_of(call.get("call_id", call.get("id")))] = name
    yield Turn("call", name, written(next((stated[key] for key in _ARGUMENTS if key in stated), None)))
    if any(call.get(key) is not None for key in (*_RESULT, "error", "errorText")):
        yield _result(name, call)


def _result(name: str, stated: dict[str, Value]) -> Turn:
    content = next((stated[key] for key in ("content", *_RESULT) if stated.get(key) is not None), None)
    inside = members(content)  # {"error": "too slow"}, or {"type": "error-text", "value": "too slow"}
    error = stated.get("error", stated.get("errorText", inside.get("error")))
    is_error = stated.get("status") in ("error", "failed") or True in map(stated.get, ("is_error", "isError"))
    if inside.keys() == {"type", "value"}:
        content, is_error = inside["value"], is_error or name_of(inside["type"]).startswith("error")
    said = text(members(error).get("message")) or written(error) if error else content_of(content) or written(content)
    return Turn("result", name, said, failed=bool(error or is_error or re.match(_ERROR, said)))


def _tool(stated: dict[str, Value]) -> str:
    function = stated.get("function")
    named = (members(function).get("name"), function, *map(stated.get, ("tool", "name", "toolName")))
    return next(filter(None, map(name_of, named)), "")
