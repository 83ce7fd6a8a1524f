"""Builds the models that a tenant's registry describes, with a client that reaches no inner address unasked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from opora.chat.registry import Made
from opora.chat.settings import checked
from opora.domain.errors import InvalidInput
from opora.domain.models import ModelEntry, ModelKind
from opora.net.addresses import AddressPolicy
from opora.net.client import GuardedClient
from opora.settings import Settings

VISION = "vision"
"""The option of a chat model that sees pictures."""
CHAT_OPTIONS = ("temperature", "top_p", "seed", "thinking", "max_completion_tokens")
EMBEDDING_OPTIONS: Mapping[str, type] = {"query_prefix": str, "passage_prefix": str, "max_tokens": int}
RERANK_OPTIONS: Mapping[str, type] = {"max_passage_chars": int}
MAX_OPTION_CHARS = 200


class EndpointMaker:
    """Inner hosts are reached where `OPORA_MODEL_HOSTS` names them, or where a model of the settings is."""

    def __init__(self, settings: Settings) -> None:
        addresses = (settings.chat_url, settings.embedding_url, settings.rerank_url)
        self._embedding = (
            (settings.embedding_url, settings.embedding_model) if settings.embedding == "openai" else ("", "")
        )
        hosts = {*(host.lower() for host in settings.model_hosts), *_hosts(addresses)}
        self._client = GuardedClient(AddressPolicy(allowed_hosts=frozenset(hosts), setting="OPORA_MODEL_HOSTS"))

    async def close(self) -> None:
        await self._client.close()

    def _is_of_settings(self, entry: ModelEntry) -> bool:
        """Whether the entry names the embedding model of the settings, whose vectors are of the same space then."""
        there = (_place(self._embedding[0]), self._embedding[1])
        return bool(self._embedding[0]) and (_place(entry.base_url), entry.model) == there

    def providers(self, kind: ModelKind) -> tuple[str, ...]:
        from opora.models.rerank_styles import STYLES
        from opora.models.thinking import PROVIDERS

        return {ModelKind.CHAT: PROVIDERS, ModelKind.EMBEDDING: ("openai",), ModelKind.RERANK: tuple(STYLES)}[kind]

    def checked_options(self, kind: ModelKind, options: Mapping[str, Any]) -> dict[str, Any]:
        if kind is ModelKind.CHAT:
            _check_names(options, (*CHAT_OPTIONS, VISION))
            sees = options.get(VISION, False)
            if not isinstance(sees, bool):
                raise InvalidInput.of(f"options.{VISION}", f"'{VISION}' is true or false.")
            shaped = checked({name: value for name, value in options.items() if name != VISION})
            return {**shaped, VISION: True} if sees else shaped
        known = EMBEDDING_OPTIONS if kind is ModelKind.EMBEDDING else RERANK_OPTIONS
        _check_names(options, tuple(known))
        for name, value in options.items():
            if isinstance(value, bool) or not isinstance(value, known[name]):
                raise InvalidInput.of(f"options.{name}", f"'{name}' is of another type.")
            if isinstance(value, int) and value < 0:
                raise InvalidInput.of(f"options.{name}", f"'{name}' is not negative.")
            if isinstance(value, str) and len(value) > MAX_OPTION_CHARS:
                raise InvalidInput.of(f"options.{name}", f"'{name}' has at most {MAX_OPTION_CHARS} characters.")
        return dict(options)

    def make(self, entry: ModelEntry, key: str) -> Made:
        from opora.models.checked import CheckedEmbedder
        from opora.models.table import CHAT_MODELS, EMBEDDERS, RERANKERS, load

        common: dict[str, Any] = {"key": key, "client": self._client, "setting": ""}
        made: Made
        if entry.kind is ModelKind.CHAT:
            made = load(CHAT_MODELS, "openai")(
                entry.base_url,
                entry.model,
                provider=entry.provider,
                sees_images=bool(entry.options.get(VISION)),
                **common,
            )
        elif entry.kind is ModelKind.EMBEDDING:
            place = "" if self._is_of_settings(entry) else _place(entry.base_url)
            raw = load(EMBEDDERS, "openai")(entry.base_url, entry.model, place=place, **entry.options, **common)
            made = CheckedEmbedder(raw)
        else:
            made = load(RERANKERS, "endpoint")(
                entry.base_url, entry.model, style=entry.provider, **entry.options, **common
            )
        return made


def _place(url: str) -> str:
    """An address as it tells models apart: without the letter case of its host and a slash at its end."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.lower(), query="", fragment="").geturl().rstrip("/")


def _hosts(urls: Iterable[str]) -> Iterable[str]:
    for url in urls:
        parts = urlsplit(url)
        if parts.hostname:
            port = parts.port or (443 if parts.scheme == "https" else 80)
            yield f"{parts.hostname.lower()}:{port}"


def _check_names(options: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in options:
        if name not in known:
            raise InvalidInput.of(
                f"options.{name}", f"There is no option '{name}'.", hint=f"Known: {', '.join(known)}."
            )


def make_fetcher(settings: Settings) -> GuardedClient:
    """The client that fetches documents of the web."""
    hosts = frozenset(host.lower() for host in settings.fetch_hosts)
    return GuardedClient(AddressPolicy(allowed_hosts=hosts, setting="OPORA_FETCH_HOSTS"))
