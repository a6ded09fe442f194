"""Finds texts that look like secrets: keys, tokens and passwords with a recognisable form.

Entropy, or words such as "password", do not suffice, because pages are full of hashes, ids and prose about passwords.
One pass over a text searches for the beginnings of all forms, and only the text after these is examined closely.

A form is the service's documented format, or the common pattern of its tokens: the text at the beginning, and the rest.
Lengths are lower bounds if a service has changed them before. Tokens without a form of their own (Cohere, Mistral,
Azure OpenAI, ...) are recognised by the name of a variable before them.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from html import unescape
from typing import Final, TypeAlias

from sitegen.model.frozen import Frozen


class Form(Frozen):
    """One kind of secret: ``before``, one of ``heads`` and ``after``, without gaps."""

    name: str
    """The name on pages, without an article."""
    heads: tuple[str, ...]
    """Literal texts; every secret of the kind contains one of them."""
    after: str
    """Regular expression for the text after the head. Its group ``secret``, if there is one, is the secret itself; the
    rest is the name of a variable."""
    before: str = ""
    """Regular expression for the text before the head; empty if the head begins a word."""


_WORD: Final = r"[A-Za-z0-9]"
_HEX: Final = r"[0-9a-f]"
_URL: Final = r"[\w-]"
_UUID: Final = rf"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}"
_OVER: Final = r"(?![A-Za-z0-9])"  # the end of a token
_MIXED: Final = r"(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]"
"""Characters that include a digit and a capital letter, for heads that words with hyphens could follow."""

_MODELS: Final = (
    Form("Anthropic API Key", ("sk-ant-",), rf"{_URL}{{32,}}"),
    Form("OpenRouter API Key", ("sk-or-",), rf"(?:v\d-)?{_WORD}{{32,}}"),
    Form("Langfuse Secret Key", ("sk-lf-",), rf"{_UUID}"),
    Form("Helicone API Key", ("sk-helicone-",), rf"(?:[a-z]{{2}}-)?{_WORD}{{5,}}(?:-{_WORD}{{5,}}){{2,}}"),
    Form("OpenAI API Key", ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-service-", "sk-None-"), rf"{_MIXED}{{20,}}"),
    Form("API Key that begins with sk-", ("sk-",), rf"{_WORD}{{30,}}"),  # OpenAI, DeepSeek, Braintrust and others
    Form("ElevenLabs API Key", ("sk_",), rf"{_HEX}{{48}}{_OVER}"),
    Form("Google API Key", ("AIza",), rf"{_URL}{{35}}{_OVER}"),
    Form("Google API Key", ("AQ.Ab",), rf"{_MIXED}{{30,}}"),
    Form("Groq API Key", ("gsk_",), rf"{_WORD}{{40,}}"),
    Form("Hugging Face Token", ("hf_", "api_org_"), rf"{_WORD}{{34}}{_OVER}"),
    Form("Replicate API Token", ("r8_",), rf"{_WORD}{{36,}}"),
    Form("Fireworks API Key", ("fw_",), rf"{_WORD}{{20,}}"),
    Form("Perplexity API Key", ("pplx-",), rf"{_WORD}{{40,}}"),
    Form("xAI API Key", ("xai-",), rf"{_WORD}{{70,}}"),
    Form("Cerebras API Key", ("csk-",), rf"{_WORD}{{40,}}"),
    Form("Together API Key", ("tgp_v1_",), rf"{_MIXED}{{40,}}"),
    Form("NVIDIA API Key", ("nvapi-",), rf"{_URL}{{60,}}"),
    Form("Voyage API Key", ("pa-",), rf"{_MIXED}{{43}}(?!{_URL})"),
    Form("Jina API Key", ("jina_",), rf"{_MIXED}{{50,}}"),
    Form("Tavily API Key", ("tvly-",), rf"(?:dev-|prod-)?{_MIXED}{{32,}}"),
    Form("Amazon Bedrock API Key", ("ABSK",), r"[A-Za-z0-9+/]{100,}={0,2}"),
    Form("Amazon Bedrock API Key", ("bedrock-api-key-",), r"[A-Za-z0-9+/=]{60,}"),
)
_TRACING: Final = (
    Form("LangSmith API Key", ("lsv2_",), rf"[a-z]{{2}}_{_HEX}{{32}}_{_HEX}{{10}}"),
    Form("LangSmith API Key", ("ls__",), rf"{_HEX}{{32}}{_OVER}"),
    Form("Weights & Biases API Key", ("wandb_v1_",), rf"{_MIXED}{{40,}}"),
    Form("Pinecone API Key", ("pcsk_",), rf"(?:{_WORD}{{4,8}}_{_WORD}{{50,}}|{_WORD}{{60,}})"),
    Form("Arize API Key", ("ak-",), rf"{_UUID}"),
    Form("Sentry Token", ("sntrys_", "sntryu_"), r"[\w+/=-]{60,}"),
    Form("New Relic Key", ("NRAK-", "NRII-", "NRJS-", "NRSP-"), rf"{_URL}{{19,}}"),
    Form("Grafana Token", ("glsa_",), rf"{_WORD}{{32}}_{_HEX}{{8}}"),
    Form("Grafana Token", ("glc_",), r"[A-Za-z0-9+/]{32,}={0,2}"),
    Form("Honeycomb Key", ("hcaik_", "hcxik_", "hcamk_", "hcxmk_"), rf"{_WORD}{{50,}}"),
    Form("PostHog Personal API Key", ("phx_",), rf"{_WORD}{{40,}}"),
    Form("Dynatrace Token", ("dt0c01.", "dt0s16."), r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
)
_CLOUDS: Final = (
    Form("AWS Access Key", ("AKIA", "ASIA", "ABIA", "ACCA"), rf"(?:[A-Z2-7]{{16}}|[A-Z0-9]{{16}}){_OVER}(?<!EXAMPLE)"),
    Form("Google OAuth Secret", ("GOCSPX-",), rf"{_URL}{{28}}"),
    Form("Google OAuth Token", ("ya29.",), rf"{_URL}{{30,}}"),
    Form("Azure Storage or Service Bus Key", ("AccountKey=", "SharedAccessKey="), r"[A-Za-z0-9+/]{40,}={0,2}"),
    Form("Azure Shared Access Signature", ("sig=",), r"(?:[A-Za-z0-9]|%2[BFbf]|[+/]){40,}(?:%3[Dd]|=)"),
    Form("Azure Client Secret", ("Q~",), r"[\w~.-]{31,34}(?![\w~.-])", before=r"(?<![\w~.])[\w~.]{3}\d"),
    Form("DigitalOcean Token", ("dop_v1_", "doo_v1_", "dor_v1_"), rf"{_HEX}{{64}}"),
    Form("Cloudflare API Token", ("cfk_", "cfut_", "cfat_"), rf"{_MIXED}{{40,}}"),
    Form("Cloudflare Origin CA Key", ("v1.0-",), rf"{_HEX}{{24}}-{_HEX}{{100,}}"),
    Form("Vercel Token", ("vcp_", "vci_", "vca_", "vcr_", "vck_"), rf"{_WORD}{{24,}}"),
    Form("Netlify Token", ("nfp_", "nfc_", "nfo_", "nfu_", "nfb_"), rf"{_WORD}{{36,}}"),
    Form("Supabase Token", ("sbp_",), rf"(?:oauth_)?{_HEX}{{40}}"),
    Form("Supabase Secret Key", ("sb_secret_",), rf"{_MIXED}{{20,}}"),
    Form("Databricks Token", ("dapi",), rf"{_HEX}{{32}}(?:-\d)?{_OVER}"),
    Form("Heroku API Key", ("HRKU-",), rf"(?:{_UUID}|{_URL}{{40,}})"),
    Form("Fly.io Token", ("fm1r_", "fm1a_", "fm2_", "fo1_"), r"[\w+/=-]{40,}"),
    Form("Render API Key", ("rnd_",), rf"{_WORD}{{28,}}"),
    Form("PlanetScale Credentials", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), r"[\w.=-]{32,}"),
    Form("Neon API Key", ("napi_",), rf"{_WORD}{{50,}}"),
    Form("HashiCorp Vault Token", ("hvs.", "hvb.", "hvr."), rf"{_URL}{{24,}}"),
    Form("HCP Terraform Token", (".atlasv1.",), r"[\w=-]{60,}", before=rf"{_WORD}{{14}}"),
    Form("Doppler Token", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa."), rf"(?:[\w-]{{2,35}}\.)?{_WORD}{{40,}}"),
    Form("Pulumi Token", ("pul-",), rf"{_HEX}{{40}}{_OVER}"),
    Form("Docker Token", ("dckr_pat_", "dckr_oat_"), rf"{_MIXED}{{27,}}"),
    Form("1Password Service Account", ("ops_eyJ",), r"[A-Za-z0-9+/]{200,}={0,2}"),
    Form("age Secret Key", ("AGE-SECRET-KEY-1",), r"[A-Z0-9]{58}"),
)
_CODE: Final = (
    Form("GitHub Token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rf"{_WORD}{{36,}}"),
    Form("GitHub Fine-Grained Token", ("github_pat_",), r"\w{60,}"),
    Form(
        "GitLab Token",
        ("GR1348941", *map("gl{}-".format, ("pat", "dt", "rt", "cbt", "ptt", "oas", "soat", "ft", "imt", "agent"))),
        r"[\w.-]{20,}",
    ),
    Form("Bitbucket App Password", ("ATBB",), rf"{_WORD}{{28,}}"),
    Form("Atlassian API Token", ("ATATT3", "ATCTT3", "ATSTT3"), r"[\w=-]{60,}"),
    Form("npm Token", ("npm_",), rf"{_WORD}{{36}}{_OVER}"),
    Form("PyPI Token", ("pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBp"), rf"{_URL}{{50,}}"),
    Form("RubyGems Key", ("rubygems_",), rf"{_HEX}{{48}}"),
    Form("crates.io Token", ("cio",), rf"{_WORD}{{32}}{_OVER}"),
    Form("NuGet Key", ("oy2",), rf"[a-z0-9]{{43}}{_OVER}"),
    Form("JFrog Key", ("AKCp",), rf"{_WORD}{{60,}}"),
    Form("Postman Key", ("PMAK-",), rf"{_HEX}{{24}}-{_HEX}{{34}}"),
)
_TALK: Final = (
    Form("Slack Token", ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxd-"), r"[\w%-]{20,}"),
    Form("Slack Token", ("xoxe-", "xoxe.", "xapp-"), r"[\w.-]{30,}"),
    Form("Slack Webhook", ("hooks.slack.com/",), r"(?:services|workflows|triggers)/T\w{6,}/\w{6,}/\w{16,}"),
    Form(
        "Discord Webhook", ("discord.com/api/", "discordapp.com/api/"), rf"(?:v\d+/)?webhooks/\d{{16,20}}/{_URL}{{60,}}"
    ),
    Form(
        "Discord Bot Token",
        ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),  # a number that begins with 1 to 9, in base64
        rf"{_WORD}{{20,26}}\.{_URL}{{6}}\.{_URL}{{27,38}}(?!{_URL})",
    ),
    Form("Discord Token", ("mfa.",), rf"{_URL}{{80,}}"),
    Form("Telegram Bot Token", (":AA",), rf"{_URL}{{33}}(?!{_URL})", before=r"(?<!\d)\d{8,10}"),
    Form(
        "Microsoft Teams Webhook",
        (".webhook.office.com/",),
        r"webhookb2/[\w@-]{36,}/IncomingWebhook/[\w/-]{36,}",
        before=r"\w+",
    ),
    Form("Linear Key", ("lin_api_", "lin_oauth_", "lin_wh_"), rf"{_WORD}{{32,}}"),
    Form("Notion Token", ("ntn_",), rf"{_WORD}{{40,}}"),
    Form("Notion Token", ("secret_",), rf"{_WORD}{{43}}{_OVER}"),
    Form("Asana Token", ("0/", "1/", "2/"), rf"\d{{14,}}(?:/\d{{14,}})?:{_HEX}{{32}}"),
    Form("Airtable Token", ("pat",), rf"{_WORD}{{14}}\.{_HEX}{{64}}"),
    Form("Figma Token", ("figd_", "figp_"), rf"{_MIXED}{{38,}}"),
    Form("HubSpot Token", ("pat-na1-", "pat-na2-", "pat-eu1-"), _UUID),
    Form("Mapbox Secret Token", ("sk.eyJ",), rf"{_URL}{{30,}}\.{_URL}{{20,}}"),
    Form("Contentful Token", ("CFPAT-",), rf"{_MIXED}{{43}}"),
)
_TRADE: Final = (
    Form("Stripe Key", ("sk_live_", "rk_live_", "sk_test_", "rk_test_"), rf"{_WORD}{{20,}}"),
    Form("Webhook Signing Secret", ("whsec_",), r"[A-Za-z0-9+/]{32,}={0,2}"),
    Form("Twilio Key", ("SK",), rf"{_HEX}{{32}}{_OVER}"),
    Form("SendGrid Key", ("SG.",), rf"{_URL}{{20,24}}\.{_URL}{{39,50}}"),
    Form("Mailgun Key", ("key-",), rf"{_HEX}{{32}}{_OVER}"),
    Form("Mailchimp Key", ("-us",), rf"\d{{1,2}}{_OVER}", before=rf"(?<![0-9a-z]){_HEX}{{32}}"),
    Form("Shopify Token", ("shpat_", "shpss_", "shpca_", "shppa_"), r"[0-9a-fA-F]{32}"),
    Form("Square Token", ("sq0atp-", "sq0csp-", "sq0idp-"), rf"{_URL}{{22,}}"),
    Form("Square Token", ("EAAA",), rf"{_URL}{{60}}(?!{_URL})"),
    Form("PayPal or Braintree Token", ("access_token$",), rf"(?:production|sandbox)\$[a-z0-9]{{16}}\${_HEX}{{32}}"),
    Form("Plaid Token", ("access-production-", "access-sandbox-", "access-development-"), _UUID),
)
_EVERYWHERE: Final = (
    Form("JSON Web Token", ("eyJ",), rf"{_URL}{{10,}}\.eyJ{_URL}{{10,}}\.{_URL}{{20,}}"),
    Form(
        "Private Key",  # recognised by its body, because the first line alone is an example
        ("-----BEGIN ",),
        r"(?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?!-----)[\s\S]){0,400}?[A-Za-z0-9+/=]{30,}(?:(?!-----)[\s\S]){0,12000}(?:-----END [A-Z0-9 ]{4,40}-----)?",
    ),
    Form(
        "Basic Auth Credentials",
        ("://",),
        r"[^\s/:@<>\"'`]{0,100}:(?!(?i:pass(?:word|wd)?|pwd|secret|token|\*+|x+|\.+)@)[^\s/:@<>\"'`${}\[\]]{3,200}@[\w.-]+",
        before=r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,30}",
    ),
    Form("Sentry DSN", ("://",), rf"{_HEX}{{32}}@[\w.-]+/\d+", before=r"(?<![A-Za-z])https?"),
    Form(
        "Password of a Connection",
        ("Password=", "password=", "PWD=", "Pwd=", "pwd="),
        r"(?P<secret>(?!(?i:pass(?:word|wd)?|pwd|secret|\*+|x+)[;\"'\s])[^\s;\"'<>{}$&]{6,200})(?=[;\"'\s]|$)",
        before=r"(?i:server|host|data source|user id|uid|username|user)=[^\n\"'<>]{1,200};\s?",
    ),
)
_NAMES: Final = (
    *("api_key", "API_KEY", "apiKey", "ApiKey", "api-key", "Api-Key", "APIKEY", "apikey", "_TOKEN", "access_token"),
    *("auth_token", "api_token", "accessToken", "authToken", "apiToken", "_SECRET", "client_secret", "clientSecret"),
    *("secret_key", "SECRET_KEY", "secretKey", "secret_access_key", "SECRET_ACCESS_KEY", "SecretAccessKey"),
    *("secretAccessKey", "ACCESS_KEY", "AUTH_KEY", "SIGNING_KEY", "ENCRYPTION_KEY", "ADMIN_KEY", "APP_KEY"),
)
_VALUE: Final = (
    r"(?=[A-Za-z0-9+/]*\d)(?=[A-Za-z0-9+/]*[A-Za-z])"
    r"[A-Za-z0-9+/]{20,200}(?:[._~-][\w.~-]{1,200})?={0,2}"
)
_IN_PASSWORD: Final = r"[^\s\"'`\\<>{}()$;&]"
_PASSWORD: Final = (
    rf"(?={_IN_PASSWORD}{{0,200}}\d)(?={_IN_PASSWORD}{{0,200}}[A-Za-z])(?!(?i:pass(?:word|wd)?)\d{{0,4}}(?!{_IN_PASSWORD}))"
    rf"{_IN_PASSWORD}{{8,200}}(?![\w(])"
)
"""A password with a letter and a digit, before a name for it and ``=``, or ``:`` and a quotation mark."""
_KEY_OR_TOKEN: Final = "Value of a Key or Token"
_NAMED: Final = (
    Form(
        _KEY_OR_TOKEN,
        _NAMES,
        rf"\w{{0,12}}[\"'`\\)\]]{{0,4}}\s{{0,4}}(?:=>|[=:]|\s)\s{{0,4}}[\"'`\\]{{0,4}}(?P<secret>{_VALUE}|{_UUID})",
        before=r"\w{0,40}",
    ),
    Form(
        _KEY_OR_TOKEN,
        ("password", "Password", "PASSWORD", "passwd", "PASSWD", "passphrase", "PASSPHRASE"),
        rf"\w{{0,12}}[\"'`\\]{{0,4}}\s{{0,4}}(?:[=:]\s{{0,4}}[\"'`\\]{{1,4}}|=\s{{0,4}})(?P<secret>{_PASSWORD})",
        before=r"\w{0,40}",
    ),
    Form(_KEY_OR_TOKEN, ("Bearer ", "bearer "), rf"(?P<secret>{_VALUE})"),
)

_FORMS: Final = (*_MODELS, *_TRACING, *_CLOUDS, *_CODE, *_TALK, *_TRADE, *_EVERYWHERE, *_NAMED)
"""Every form; of several forms with the same head, the first that fits counts."""


_INLINE: Final = re.compile(r"</?(?:a|abbr|b|code|del|em|i|ins|kbd|mark|s|small|span|strong|sub|sup|u|wbr)\b[^<>]*>")
"""Tags that do not divide words; all others do."""
_TAG: Final = re.compile(r"<[^<>]*>")
_BEFORE: Final = 300  # the most characters before a head that may belong to the secret
_ESCAPE: Final = re.compile(r"(?:\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2})\Z")
"""An escape sequence: a word can begin after it, although it ends with a letter or a digit."""
_LINE_END: Final = re.compile(r"(?:\\[nr]|\s)+")
_DISTINCT: Final = 3  # the least number of different characters in a secret; ``xxxxxxxx`` is a placeholder


Secret: TypeAlias = tuple[int, str]
"""The line, from 1, of a text that looks like a secret, and the name of its form; the text itself is not kept."""

_Rule: TypeAlias = tuple[str, re.Pattern[str] | None, re.Pattern[str]]
"""A form with one of its heads: its name, the pattern before the head, and that of the secret from its head on."""


class Detector:
    """Searches texts for the known forms of secrets."""

    def __init__(self, allowed: Collection[str] = ()) -> None:
        """``allowed``: whole texts that only look like secrets; a part of such a text allows nothing."""
        self._heads, self._rules = _compiled()
        self._allowed = frozenset(map(_bare, allowed))
        self.version = repr((_FORMS, sorted(self._allowed)))
        """A description of everything that affects which texts are reported."""

    def search(self, text: str, *, markup: bool) -> tuple[Secret, ...]:
        """Return everything in a text that looks like a secret, by line.

        ``markup``: whether it is HTML, whose readers see neither tags nor entities: its visible words are searched,
        and each tag separately.
        """
        if not markup:
            return tuple(sorted(set(self._search(text))))
        tags = dict.fromkeys(_TAG.findall(text))  # pages have many equal tags
        inside: set[Secret] = set()
        if any(True for _ in self._search(unescape("\n".join(tags)))):
            for tag in tags:
                above = text.count("\n", 0, text.index(tag))
                inside |= {(above + line, rule) for line, rule in self._search(unescape(tag))}
        divided = any("\n" in tag for tag in tags)
        words = _TAG.sub(
            (lambda tag: _lines(tag) or " ") if divided else " ", _INLINE.sub(_lines if divided else "", text)
        )
        return tuple(sorted(inside | set(self._search(unescape(words)))))

    def _search(self, text: str) -> Iterator[Secret]:
        named: list[tuple[int, int]] = []
        matches: list[tuple[int, int]] = []
        for head in self._heads.finditer(text):
            for name, before, after in self._rules[head[0]]:
                match = after.match(text, head.start())
                start = _start(text, head.start(), before) if match else None
                if match is None or start is None:
                    continue
                secret = match["secret"] if "secret" in after.groupindex else text[start : match.end()]
                if len(set(text[start : head.start()] + match[0][len(head[0]) :])) < _DISTINCT:
                    continue
                is_allowed = _bare(secret) in self._allowed
                if name != _KEY_OR_TOKEN:
                    matches.append(match.span())
                    if not is_allowed:
                        yield text.count("\n", 0, start) + 1, name
                elif not is_allowed:
                    named.append(match.span())
                break
        for start, end in named:  # a secret with a form of its own is reported under that form
            if not any(start < other_end and other_start < end for other_start, other_end in matches):
                yield text.count("\n", 0, start) + 1, _KEY_OR_TOKEN


def _lines(tag: re.Match[str]) -> str:
    """Return the line breaks inside a tag, so that later lines keep their numbers when the tag is removed."""
    return "\n" * tag[0].count("\n")


def _start(text: str, head: int, before: re.Pattern[str] | None) -> int | None:
    """Return the start of the secret with its head at a position; None if the text before the head does not fit."""
    window = text[max(0, head - _BEFORE) : head]
    if before is not None:
        match = before.search(window)
        return head - len(window) + match.start() if match else None
    inside = bool(window) and window[-1].isascii() and window[-1].isalnum()
    return None if inside and not _ESCAPE.search(window[-6:]) else head


def _bare(text: str) -> str:
    """Return a text without white space and line breaks, which pages and data files write differently."""
    return _LINE_END.sub("", text)


@cache
def _compiled() -> tuple[re.Pattern[str], dict[str, tuple[_Rule, ...]]]:
    """Return the pattern of all heads, and the rules of each head, most specific first."""
    heads = sorted({head for form in _FORMS for head in form.heads}, key=len, reverse=True)
    by_head = {
        longest: tuple(
            (
                form.name,
                re.compile(rf"(?:{form.before})\Z") if form.before else None,
                re.compile(re.escape(head) + form.after),
            )
            for head in heads
            if longest.startswith(head)
            for form in _FORMS
            if head in form.heads
        )
        for longest in heads
    }
    return re.compile(_tree(heads)), by_head


def _tree(texts: Iterable[str]) -> str:
    """Return a pattern that matches the longest of the given texts and reads each character once."""
    below: dict[str, list[str]] = {}
    ends = False
    for text in texts:
        if text:
            below.setdefault(text[0], []).append(text[1:])
        else:
            ends = True
    branches = [re.escape(first) + _tree(rest) for first, rest in sorted(below.items())]
    if not branches:
        return ""
    return branches[0] if len(branches) == 1 and not ends else f"(?:{'|'.join(branches)}){'?' if ends else ''}"
