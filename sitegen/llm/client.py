"""Calls a model through the Messages API with the official client."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from sitegen.config.models import Llm
from sitegen.errors import ConfigurationError
from sitegen.llm.files import Prompt
from sitegen.model.frozen import Frozen
from sitegen.model.usage import Usage, stated
from sitegen.text.plain import line

if TYPE_CHECKING:
    from anthropic import APIError

KEY: Final = "ANTHROPIC_API_KEY"
_LONGEST_ERROR: Final = 300  # characters
_HOPELESS: Final = (401, 403, 404)
"""Statuses for a wrong key, a missing permission or an unknown model: every other call would fail likewise."""
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

Log = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class CallSettings(Llm):
    """The table ``[llm]`` and the address of the API, which no file may set because the user's key goes there."""

    base_url: str | None = None
    """None for the client's default, which the environment can change."""

    @property
    def parameters(self) -> dict[str, int | float]:
        """The parameters of every call, as responses record them."""
        parameters = {"max_tokens": self.max_tokens, "temperature": self.temperature}
        return {name: value for name, value in parameters.items() if value is not None}

    def check(self) -> None:
        """Raise ConfigurationError for settings that no API accepts, or that would send the key unencrypted."""
        for name, fix in self.misfits():
            raise ConfigurationError(f"llm.{name} is {getattr(self, name)}.", fix=fix)
        if not self.model.strip():
            raise ConfigurationError("llm.model is empty.", fix="Name a model.")
        if self.base_url is not None:
            url = urlsplit(self.base_url)
            if url.scheme != "https" and not (url.scheme == "http" and url.hostname in _LOOPBACK):
                raise ConfigurationError(
                    f"The address of the API is {self.base_url!r}; your key would go there unencrypted, or nowhere.",
                    fix="Use https://, or http:// on this machine.",
                )


class ModelReply(Frozen):
    """A model's answer."""

    text: str
    model: str
    """The name that the API returns, with an alias resolved."""
    usage: Usage = Usage()
    """Tokens as counted by the API, seconds of the last attempt, and the cost if the settings have a price."""

    def stated_usage(self) -> dict[str, int | float]:
        """Return the defined numbers of the usage, as responses record them."""
        return {name: value for name, value in self.usage._asdict().items() if value is not None}


class CallError(Exception):
    """A call without an answer, described in one line. Other calls may succeed."""


class Client:
    """The API client."""

    def __init__(self, settings: CallSettings, log: Log) -> None:
        """Raises ConfigurationError if a setting is invalid, or if the package or the key is missing."""
        settings.check()
        try:
            import anthropic
        except ImportError:
            raise ConfigurationError(
                "The package 'anthropic' is not installed.", fix="In a clone of sitegen: pip install '.[llm]'"
            ) from None
        key = os.environ.get(KEY, "").strip()
        if not key:
            raise ConfigurationError(f"The environment variable {KEY} is not set.", fix="Set it to your API key.")
        self._settings = settings
        self._key = key
        self._log = log
        self._errors = anthropic.APIError
        self._client = anthropic.AsyncAnthropic(
            api_key=key, base_url=settings.base_url, timeout=settings.timeout, max_retries=settings.max_retries
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(self, label: str, prompt: Prompt) -> ModelReply:
        """Ask for one answer. The client itself repeats calls after 408, 409, 429, 5xx, time-outs and lost connections.

        Raises CallError, or ConfigurationError if no call can succeed.
        """
        request: dict[str, Any] = {
            "model": self._settings.model,
            "max_tokens": self._settings.max_tokens,
            "messages": [{"role": "user", "content": prompt.message}],
        }
        if prompt.system:
            request["system"] = prompt.system
        if self._settings.temperature is not None:  # newer clients lack the argument, as newer models refuse it
            request["extra_body"] = {"temperature": self._settings.temperature}
        started, status = monotonic(), "failed"
        try:
            raw = await self._client.messages.with_raw_response.create(**request)
            status = f"{raw.status_code}, retries {raw.retries_taken}"
            return self._answer(await raw.parse(), round(raw.elapsed.total_seconds(), 3))
        except (self._errors, ValueError) as error:
            failure = self._failure(error)
            status = str(failure)
            raise failure from None
        finally:
            self._log(f"{label}: {status}, {monotonic() - started:.2f} s")

    def _answer(self, message: Any, seconds: float) -> ModelReply:
        """Return the text of a message. The client does not validate types and keys of the API's messages."""
        content = getattr(message, "content", None)
        if not isinstance(content, list):
            raise CallError("the answer of the API is not a message")
        if getattr(message, "stop_reason", None) == "max_tokens":
            raise CallError(f"the answer was cut off after max_tokens = {self._settings.max_tokens}")
        texts = [getattr(block, "text", None) for block in content if getattr(block, "type", None) == "text"]
        text = "".join(text for text in texts if isinstance(text, str))
        model = str(getattr(message, "model", "") or "")
        return ModelReply(text, model, self._usage(getattr(message, "usage", None), model, seconds))

    def _usage(self, counted: Any, model: str, seconds: float) -> Usage:
        names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        tokens = stated({name: getattr(counted, name, None) for name in names}).usage
        price = self._settings.prices.get(model) or self._settings.prices.get(self._settings.model)
        cached = any(getattr(counted, name, None) for name in names[2:])  # cached tokens have other prices
        cost = None
        if price and not cached and tokens.tokens_in is not None and tokens.tokens_out is not None:
            cost = (tokens.tokens_in * price.input + tokens.tokens_out * price.output) / 1_000_000
        return tokens._replace(cost=cost, latency=seconds)

    def _failure(self, error: APIError | ValueError) -> CallError | ConfigurationError:
        text = line(" ".join(self._in_words(error).split()).replace(self._key, "..."), _LONGEST_ERROR)
        if getattr(error, "status_code", None) in _HOPELESS:
            return ConfigurationError(
                f"The API refuses every call: {text}.",
                where=self._settings.base_url or "the default API",
                fix=f"Check {KEY}, --base-url, and model below [llm] in sitegen.toml.",
            )
        return CallError(text)

    def _in_words(self, error: APIError | ValueError) -> str:
        import anthropic

        if isinstance(error, anthropic.APITimeoutError):
            return f"no answer within {self._settings.timeout:g} s"
        if isinstance(error, anthropic.APIStatusError):
            inner = error.body.get("error") if isinstance(error.body, dict) else None
            said = f"{inner.get('type') or ''}: {inner.get('message') or ''}" if isinstance(inner, dict) else ""
            return f"{error.status_code} {said or error.message}"
        if isinstance(error, anthropic.APIError):
            return f"{error.message} {error.__cause__ or ''}"
        return f"the answer of the API is no JSON: {error}"
