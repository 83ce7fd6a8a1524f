"""What is known: bases, documents, the blocks a parser sees in a document, and the chunks cut from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from opora.domain.enrichment import EnrichmentConfig, EnrichmentStep


class BaseType(StrEnum):
    DOCUMENT = "document"
    FAQ = "faq"
    WIKI = "wiki"


class ParseStatus(StrEnum):
    """Where a document stands. It ends ``completed`` or ``failed``; ``processing`` is searchable once it is split."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    DELETING = "deleting"


class ParseReason(StrEnum):
    """The stable reasons of a failed document."""

    NO_TEXT = "no_text"
    NOT_TEXT = "not_text"
    UNSUPPORTED = "unsupported_format"
    DAMAGED = "damaged_file"
    ENCRYPTED = "encrypted"
    ARCHIVE_LIMIT = "archive_limit"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    SIZE_LIMIT = "size_limit"
    PAGE_LIMIT = "page_limit"
    CRASHED = "parser_crashed"
    EMBEDDING = "embedding_failed"
    INDEXING = "indexing_failed"
    CANCELLED = "cancelled"
    UNREACHABLE = "unreachable"
    """Nothing that could be read stood at its address."""


KEPT_VERSION = "The earlier version stays in search."
"""What is said where a document's new version comes to nothing."""


class Origin(StrEnum):
    """How a document came in, and so what may be done to its content."""

    FILE = "file"
    MANUAL = "manual"
    """Written by people, and edited in place."""
    URL = "url"
    """Fetched from the address that is its source, and fetched again when it is read anew."""


class ChunkType(StrEnum):
    TEXT = "text"
    PARENT_TEXT = "parent_text"
    IMAGE_OCR = "image_ocr"
    IMAGE_CAPTION = "image_caption"
    IMAGE_VECTOR = "image_vector"
    SUMMARY = "summary"
    ENTITY = "entity"
    RELATIONSHIP = "relationship"
    FAQ = "faq"
    QUESTION = "question"
    """A question that leads to another chunk; see `opora.domain.forms`."""
    WEB_SEARCH = "web_search"
    TABLE_SUMMARY = "table_summary"
    TABLE_COLUMN = "table_column"
    WIKI_PAGE = "wiki_page"


CHUNK_SIZE = 512
CHUNK_OVERLAP = 80
PARENT_CHUNK_SIZE = 4096
CHILD_CHUNK_SIZE = 384
CHILD_OVERLAP = CHILD_CHUNK_SIZE // 5
CHUNK_HARD_CAP = 7_500


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkingConfig:
    """How text is cut; sizes in characters. ``parent_child`` cuts parents first and children inside them."""

    size: int = CHUNK_SIZE
    overlap: int = CHUNK_OVERLAP
    parent_child: bool = False
    parent_size: int = PARENT_CHUNK_SIZE
    child_size: int = CHILD_CHUNK_SIZE
    child_overlap: int = CHILD_OVERLAP
    hard_cap: int = CHUNK_HARD_CAP


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingStrategy:
    vector: bool = True
    keyword: bool = True
    wiki: bool = False
    graph: bool = False


class FaqIndexMode(StrEnum):
    """What of an entry is searched: its questions, or its answers too."""

    QUESTION_ONLY = "question_only"
    QUESTION_ANSWER = "question_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaqConfig:
    index_mode: FaqIndexMode = FaqIndexMode.QUESTION_ONLY


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeBase:
    base_id: str
    tenant_id: str
    name: str
    base_type: BaseType = BaseType.DOCUMENT
    description: str = ""
    chunking: ChunkingConfig = field(default_factory=ChunkingConfig)
    indexing: IndexingStrategy = field(default_factory=IndexingStrategy)
    faq: FaqConfig = field(default_factory=FaqConfig)
    enrichment: EnrichmentConfig = field(default_factory=EnrichmentConfig)
    embedding_model_id: str = ""
    """Identity of the model whose vectors this base holds (`EmbedderCard.identity`)."""
    own_model_id: str = ""
    """The model of the registry that this base is embedded by; '' is that of the installation."""
    vector_store_id: str = ""
    is_pinned: bool = False
    created_at: datetime
    updated_at: datetime

    @property
    def enrichment_steps(self) -> tuple[EnrichmentStep, ...]:
        """What a model does for each document: what was chosen, and the entities of a base that keeps a graph."""
        return self.enrichment.steps + ((EnrichmentStep.ENTITIES,) if self.indexing.graph else ())

    @property
    def is_enriched(self) -> bool:
        return bool(self.enrichment_steps) or self.enrichment.base_description


BLOCK_JOIN = "\n\n"


class BlockKind(StrEnum):
    """What a piece of a parsed document is; the splitter treats each kind by its own rule."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    CODE = "code"
    FORMULA = "formula"
    TABLE = "table"
    FOOTNOTE = "footnote"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle on a page, in points from the top left corner."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a piece of text stands in its document, so that a citation can be opened there.

    Pages, rows and chars count from 1, 1 and 0. ``start`` and ``end`` are offsets in `ParsedDocument.text`.
    """

    start: int = 0
    end: int = 0
    page: int | None = None
    page_end: int | None = None
    boxes: tuple[Box, ...] = ()
    box_starts: tuple[int, ...] = ()
    """In a parsed block: where in its text the piece inside each box begins; () where that is not known."""
    heading_path: tuple[str, ...] = ()
    sheet: str = ""
    row: int | None = None
    row_end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A structural piece of a document. ``text`` is Markdown-like plain text.

    ``level`` is the heading level (1 to 6) or list depth. A table block's ``head`` is repeated over each of its
    pieces; ``rows`` hold the row texts that may be cut between (``text`` is head and rows joined by line ends).
    """

    kind: BlockKind
    text: str
    level: int = 0
    place: Place = field(default_factory=Place)
    head: str = ""
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """What a parser gives back: blocks in reading order and facts about the file.

    ``metadata`` holds plain JSON values: ``encoding`` for text files, ``pages`` for PDF, front matter, and so on.
    """

    blocks: tuple[Block, ...]
    file_type: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The whole text: the blocks' texts joined by a blank line. `Place.start` and ``end`` of chunks point here."""
        return BLOCK_JOIN.join(block.text for block in self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document of a base. ``version`` grows by each replacement of its content."""

    document_id: str
    base_id: str
    tenant_id: str
    title: str
    file_name: str
    file_type: str
    file_size: int
    file_hash: str
    source: str = ""
    """Where it came from: the path given to `opora ingest`, an address, or '' for an upload."""
    folder: str = ""
    """Where it lies in its base: names joined by '/'; '' for the top."""
    origin: Origin = Origin.FILE
    parse_status: ParseStatus = ParseStatus.PENDING
    error_reason: str = ""
    error_message: str = ""
    enabled: bool = True
    description: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    file_metadata: Mapping[str, Any] = field(default_factory=dict)
    """What of ``metadata`` the file itself says: a new version of the file says it anew."""
    tag_ids: tuple[str, ...] = ()
    version: int = 1
    indexed_version: int = 0
    """The version whose chunks are searched: behind ``version`` while a replacement is under way; 0 for none yet."""
    chunk_count: int = 0
    embedded_count: int = 0
    created_at: datetime
    updated_at: datetime

    @property
    def is_cancelled(self) -> bool:
        """Somebody took back its reading, or the making of its vectors: no work goes on with it."""
        return self.parse_status is ParseStatus.FAILED and self.error_reason == ParseReason.CANCELLED

    @property
    def title_from_name(self) -> str:
        """The title of a document that has none of its own: the file's name without its extension."""
        return self.file_name.rpartition(".")[0] or self.file_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document as it is searched and cited.

    ``chunk_id`` comes from document, context, content and the occurrence number of equal content, never from the
    index. ``content`` is what is shown and cited; `search_text` is what is embedded and indexed.
    """

    chunk_id: str
    base_id: str
    tenant_id: str
    document_id: str
    chunk_index: int
    content: str
    context: str = ""
    """The heading path (or sheet name) that stands over the content, joined by ' > '."""
    chunk_type: ChunkType = ChunkType.TEXT
    place: Place = field(default_factory=Place)
    parent_chunk_id: str = ""
    pre_chunk_id: str = ""
    next_chunk_id: str = ""
    enabled: bool = True
    tag_ids: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def search_text(self) -> str:
        return f"{self.context}\n{self.content}" if self.context else self.content

    @property
    def is_searched(self) -> bool:
        """Parents give context only, and an entry of a FAQ is found by its forms: neither is embedded or indexed."""
        return self.chunk_type not in (ChunkType.PARENT_TEXT, ChunkType.FAQ)
