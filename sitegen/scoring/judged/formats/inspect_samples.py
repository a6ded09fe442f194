"""The samples of Inspect's logs: each with all of its epochs, as text, numbers and score objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

from sitegen.model.values import Value
from sitegen.scoring.judged.case import Usage
from sitegen.scoring.judged.formats.json_values import items, members, name_of, number, text, whole, written

Number = TypeVar("Number", int, float)


class Epoch(NamedTuple):
    """One answer to a sample."""

    number: int
    scores: dict[str, Value]
    """The score objects by scorer."""
    output: str
    error: str
    usage: Usage


class LogSample(NamedTuple):
    """One sample of the data set, with its epochs in order."""

    id: str
    input: str
    expected: str
    epochs: tuple[Epoch, ...]

    @property
    def output(self) -> str:
        """The answer; of several all of them, numbered."""
        if len(self.epochs) == 1:
            return self.epochs[0].output
        return text("\n\n".join(f"{epoch.number}: {epoch.output}" for epoch in self.epochs if epoch.output))

    @property
    def usage(self) -> Usage:
        """Of all epochs together."""
        return Usage(
            tokens_in=_sum(epoch.usage.tokens_in for epoch in self.epochs),
            tokens_out=_sum(epoch.usage.tokens_out for epoch in self.epochs),
            cost=_sum(epoch.usage.cost for epoch in self.epochs),
            latency=_sum(epoch.usage.latency for epoch in self.epochs),
        )


def samples_of(raw: Iterable[Value]) -> tuple[LogSample, ...]:
    """The samples of a log in its order, of as many epochs as there are."""
    samples: dict[str, LogSample] = {}
    for place, each in enumerate(filter(None, map(members, raw)), 1):
        name = name_of(each.get("id")) or f"sample {place}"
        known = samples.get(name)
        if known is None:
            target = each.get("target")
            stated = items(target)
            expected = written(stated[0] if len(stated) == 1 else target)
            known = LogSample(id=name, input=_messages(each.get("input")), expected=expected, epochs=())
        epochs = sorted((*known.epochs, _epoch(each)), key=lambda epoch: epoch.number)
        samples[name] = known._replace(epochs=tuple(epochs))
    return tuple(samples.values())


def _epoch(sample: Mapping[str, Value]) -> Epoch:
    error, output = sample.get("error"), members(sample.get("output"))
    choice = next(iter(items(output.get("choices"))), None)
    return Epoch(
        number=whole(sample.get("epoch")) or 1,
        scores=members(sample.get("scores")),
        output=text(output.get("completion")) or _content(members(members(choice).get("message")).get("content")),
        error=text(error) or text(members(error).get("message")),
        usage=_usage(sample),
    )


def _usage(sample: Mapping[str, Value]) -> Usage:
    """Of all models that answered; tokens from a cache are tokens in."""
    models = [members(each) for each in members(sample.get("model_usage")).values()]
    read = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    tokens_in = [whole(each.get(key)) for each in models for key in read]
    return Usage(
        tokens_in=_sum(tokens_in),
        tokens_out=_sum(whole(model.get("output_tokens")) for model in models),
        cost=_sum(number(model.get("total_cost")) for model in models),
        latency=number(sample.get("total_time")),
    )


def _sum(numbers: Iterable[Number | None]) -> Number | None:
    known = [each for each in numbers if each is not None]
    return sum(known) if known else None


def _messages(value: Value) -> str:
    """The input as text: of a conversation every message under its role."""
    if not isinstance(value, list):
        return text(value)
    messages = (members(each) for each in value)
    return written(
        "\n\n".join(f"{name_of(message.get('role'))}: {_content(message.get('content'))}" for message in messages)
    )


def _content(value: Value) -> str:
    """The text of a message, whose content may be a list of parts."""
    return text(value) or text("".join(text(members(each).get("text")) for each in items(value)))
