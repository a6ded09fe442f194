"""Texts that look like secrets: keys, tokens and passwords whose form gives them away.

Rules are those of detect-secrets (extra ``public``) that know a token by its form, and a few more forms. Left out are
its rules by entropy and by words such as "password": pages are full of hashes, ids and prose about passwords; its rules
for IP addresses, which are no secrets; and those that know a key by the name before it, which pages put elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from html import unescape
from typing import Any, Final, NamedTuple

from sitegen.errors import ConfigurationError

_DETECTORS: Final = (
    "AWSKeyDetector",
    "AzureStorageKeyDetector",
    "BasicAuthDetector",
    "DiscordBotTokenDetector",
    "GitHubTokenDetector",
    "GitLabTokenDetector",
    "JwtTokenDetector",
    "MailchimpDetector",
    "OpenAIDetector",
    "PrivateKeyDetector",
    "PypiTokenDetector",
    "SendGridDetector",
    "SlackDetector",
    "SquareOAuthDetector",
    "StripeDetector",
    "TelegramBotTokenDetector",
    "TwilioKeyDetector",
)
"""Classes of detect-secrets."""

_FURTHER: Final = (
    ("Anthropic API Key", r"sk-ant-[\w-]{32,}"),
    ("GitHub Fine-Grained Token", r"github_pat_\w{60,}"),
    ("Google API Key", r"\bAIza[\w-]{35}\b"),
    ("Hugging Face Token", r"\bhf_[A-Za-z0-9]{34}\b"),
    ("npm Token", r"\bnpm_[A-Za-z0-9]{36}\b"),
)
"""(name, regular expression) of forms that detect-secrets does not know, or knows with their surroundings alone."""

_TAG: Final = re.compile(r"<[^<>]*>")


class Secret(NamedTuple):
    """Where something looks like a secret; never the secret itself."""

    line: int
    """From 1."""
    rule: str
    """What it looks like: ``GitHub Token``."""


class Detector:
    """The rules, ready to be asked."""

    def __init__(self, allowed: Collection[str] = ()) -> None:
        """``allowed``: texts that look like secrets and are none. Raises ConfigurationError without the extra."""
        try:
            from importlib.metadata import version

            from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class as known_rules

            known: dict[str, Any] = known_rules()
            classes = {rule.__name__: rule for rule in known.values()}
            rules = [classes[name]() for name in _DETECTORS]
        except (ImportError, KeyError) as error:
            raise ConfigurationError(
                f"The site cannot be searched for secrets: {error}.", fix="pip install 'sitegen-evals[public]'"
            ) from error
        self._rules = [(str(rule.secret_type), pattern) for rule in rules for pattern in rule.denylist]
        self._rules += [(name, re.compile(pattern)) for name, pattern in _FURTHER]
        self._allowed = tuple(allowed)
        self.version = repr((version("detect-secrets"), _DETECTORS, _FURTHER, sorted(allowed)))
        """Changes when anything does that decides what is found."""

    def search(self, text: str, *, markup: bool) -> tuple[Secret, ...]:
        """Everything in a text that looks like a secret, by line.

        ``markup``: it is HTML, whose readers see neither tags nor entities; it is searched as it is and as it is read.
        """
        found = set(self._found(text))
        if markup:
            found |= set(self._found(unescape(_TAG.sub("", text))))
        return tuple(sorted(found))

    def _found(self, text: str) -> Iterator[Secret]:
        for rule, pattern in self._rules:
            for match in pattern.finditer(text):
                if not any(match[0] in each for each in self._allowed):
                    yield Secret(text.count("\n", 0, match.start()) + 1, rule)
