"""Gives every source of one answer a short alias, and turns aliases back into public tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opora.cite.decoder import StreamDecoder, expand
from opora.cite.protocol import protocol_prompt
from opora.cite.resources import ResourceDecoder, Resources
from opora.cite.tags import kb_tag, web_tag
from opora.domain.search import MatchType, SearchResult
from opora.ports import ChatMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What an alias stands for; ``tag`` is '' where nothing can be cited by it."""

    alias: str
    tag: str = ""
    title: str = ""


class AnswerDecoder:
    """What the model wrote as readers see it: handles first, then citations, in one pass over the stream."""

    def __init__(self, resources: ResourceDecoder, sources: StreamDecoder) -> None:
        self._resources = resources
        self._sources = sources

    def feed(self, text: str) -> str:
        return self._sources.feed(self._resources.feed(text))

    def flush(self) -> str:
        return self._sources.feed(self._resources.flush()) + self._sources.flush()


class Registry:
    """One for each answer, never kept: c1, c2 … are chunks, w1 … web pages, d1 … documents, b1 … bases.

    The model sees aliases only, so it has no long ids to misspell and none to leak. Handles of stored things have
    aliases of their own (`opora.cite.resources`), which are put in first and taken back first.
    """

    def __init__(self, *, citations_enabled: bool = True) -> None:
        self.citations_enabled = citations_enabled
        self._sources: dict[str, Source] = {}
        self._aliases: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._resources = Resources()

    def register_results(self, results: Sequence[SearchResult]) -> list[str]:
        """The alias of each result, numbered in this order; a source that is known keeps its alias."""
        return [self.register(result) for result in results]

    def register(self, result: SearchResult) -> str:
        if result.match_type is MatchType.WEB:
            url = result.chunk_id
            return self._add("w", url, title=result.title, tag=web_tag(url=url, title=result.title or url))
        title = result.title or result.file_name
        tag = kb_tag(title=title, chunk_id=result.chunk_id, base_id=result.base_id, document_id=result.document_id)
        return self._add("c", result.chunk_id, title=title, tag=tag)

    def document(self, document_id: str, *, title: str = "") -> str:
        """The alias under which a document is named to the model; it is no citation."""
        return self._add("d", document_id, title=title)

    def base(self, base_id: str, *, name: str = "") -> str:
        """The alias under which a knowledge base is named to the model; it is no citation."""
        return self._add("b", base_id, title=name)

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(self._sources.values())

    def public_tag(self, alias: str) -> str:
        """The public tag of an alias; '' for one that is unknown, or when citations are off."""
        source = self._sources.get(alias)
        return source.tag if source and self.citations_enabled else ""

    def encoded(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """The messages as the model gets them: aliases in the place of handles."""
        return [replace(message, content=self._resources.encode(message.content)) for message in messages]

    def decoder(self) -> AnswerDecoder:
        """A decoder for one channel of the answer (text and thinking each need their own)."""
        return AnswerDecoder(self._resources.decoder(), StreamDecoder(self.public_tag))

    def expand(self, text: str) -> str:
        return expand(self._resources.restore(text), self.public_tag)

    def protocol_prompt(self, language: str = "") -> str:
        """What the system prompt says about citing, in ``ru``, ``zh`` or ``en``."""
        return protocol_prompt(citations_enabled=self.citations_enabled, language=language)

    def _add(self, kind: str, key: str, *, title: str, tag: str = "") -> str:
        known = self._aliases.get((kind, key))
        if known is not None:
            return known
        self._counts[kind] = self._counts.get(kind, 0) + 1
        alias = f"{kind}{self._counts[kind]}"
        self._aliases[kind, key] = alias
        self._sources[alias] = Source(alias=alias, tag=tag, title=title)
        return alias
