"""Reads the samples of Inspect's logs, each with all of its epochs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from sitegen.frozen import Frozen
from sitegen.model.values import Value
from sitegen.scoring.judged.case import Usage
from sitegen.scoring.judged.formats.json_values import items, lone_item, members, name_of, number, text, whole, written

Number = TypeVar("Number", int, float)


class Epoch(Frozen):
    """One answer to a sample."""

    number: int
    scores: dict[str, Value]
    """The score objects by scorer."""
    output: str
    error: str
    usage: Usage


class LogSample(Frozen):
    """A sample of the data set, with its epochs in order."""

    id: str
    input: str
    expected: str
    epochs: tuple[Epoch, ...]

    @property
    def output(self) -> str:
        """The answer, or all answers with the numbers of their epochs."""
        if len(self.epochs) == 1:
            return self.epochs[0].output
        return text("\n\n".join(f"{epoch.number}: {epoch.output}" for epoch in self.epochs if epoch.output))

    @property
    def usage(self) -> Usage:
        """The usage of all epochs together."""
        return Usage(
            tokens_in=_sum(epoch.usage.tokens_in for epoch in self.epochs),
            tokens_out=_sum(epoch.usage.tokens_out for epoch in self.epochs),
            cost=_sum(epoch.usage.cost for epoch in self.epochs),
            latency=_sum(epoch.usage.latency for epoch in self.epochs),
        )


def samples_of(raw: Iterable[Value]) -> tuple[LogSample, ...]:
    """Return the samples in the order of the log. *raw* holds one object for each epoch of a sample."""
    samples: dict[str, LogSample] = {}
    for place, entry in enumerate(filter(None, map(members, raw)), 1):
        name = name_of(entry.get("id")) or f"sample {place}"
        sample = samples.get(name)
        if sample is None:
            expected = written(lone_item(entry.get("target")))
            sample = LogSample(id=name, input=_conversation(entry.get("input")), expected=expected, epochs=())
        epochs = sorted((*sample.epochs, _epoch(entry)), key=lambda epoch: epoch.number)
        samples[name] = replace(sample, epochs=tuple(epochs))
    return tuple(samples.values())


def _epoch(sample: Mapping[str, Value]) -> Epoch:
    error, output = sample.get("error"), members(sample.get("output"))
    choice = next(iter(items(output.get("choices"))), None)
    return Epoch(
        number=whole(sample.get("epoch")) or 1,
        scores=members(sample.get("scores")),
        output=text(output.get("completion")) or _message_text(members(members(choice).get("message")).get("content")),
        error=text(error) or text(members(error).get("message")),
        usage=_usage_of_epoch(sample),
    )


def _usage_of_epoch(sample: Mapping[str, Value]) -> Usage:
    """The usage of all models that answered. Tokens from a cache count as tokens in."""
    models = [members(usage) for usage in members(sample.get("model_usage")).values()]
    input_keys = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    return Usage(
        tokens_in=_sum(whole(model.get(key)) for model in models for key in input_keys),
        tokens_out=_sum(whole(model.get("output_tokens")) for model in models),
        cost=_sum(number(model.get("total_cost")) for model in models),
        latency=number(sample.get("total_time")),
    )


def _sum(numbers: Iterable[Number | None]) -> Number | None:
    defined = [number for number in numbers if number is not None]
    return sum(defined) if defined else None


def _conversation(value: Value) -> str:
    """The input as text. Each message of a conversation begins with its role."""
    if not isinstance(value, list):
        return text(value)
    messages = map(members, value)
    return text("\n\n".join(f"{name_of(row.get('role'))}: {_message_text(row.get('content'))}" for row in messages))


def _message_text(content: Value) -> str:
    """The text of a message, whose content may be a list of parts."""
    return text(content) or text("".join(text(members(part).get("text")) for part in items(content)))
