"""Every setting of the installation in one frozen value; read from the environment in bootstrap and cli only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from opora.domain.errors import InvalidInput
from opora.domain.roles import Role

MIB = 1024 * 1024
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})


def default_data_folder() -> Path:
    """The platform's folder for a user's application data."""
    from platformdirs import user_data_path

    return user_data_path("opora", appauthor=False)


class Settings(BaseSettings):
    """Read from ``OPORA_*`` variables; ``opora settings`` prints each with its value and where it came from."""

    model_config = SettingsConfigDict(env_prefix="OPORA_", frozen=True, extra="ignore")

    data: Path = Field(default_factory=default_data_folder, description="Folder for databases, files and models.")
    database_url: SecretStr | None = Field(
        default=None,
        description="Address of PostgreSQL, postgresql://user:password@host/name; left out: SQLite in the folder.",
    )
    shared: Path | None = Field(
        default=None,
        description="Folder of the files and the key file, where servers share them; left out: the data folder.",
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on; anything but loopback needs an API key.")
    port: int = Field(default=8642, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    api_key: SecretStr | None = Field(default=None, description="Key that every request must carry when it is set.")
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Host names, comma-separated, under which the server may be addressed beside loopback."
    )

    embedding: str = Field(
        default="local",
        description="Where vectors come from: local, openai (an OpenAI-compatible endpoint), null or none.",
    )
    embedding_url: str = Field(
        default="", description="Base address of the embeddings endpoint, such as http://host/v1."
    )
    embedding_key: SecretStr | None = Field(default=None, description="Key for the embeddings endpoint.")
    embedding_model: str = Field(default="", description="Name of the embedding model at the endpoint.")
    embedding_threads: int = Field(
        default=0, ge=0, description="Threads of the local model; 0 takes the cores there are."
    )

    chat_url: str = Field(
        default="", description="Base address of an OpenAI-compatible chat endpoint; empty: quotes only."
    )
    chat_key: SecretStr | None = Field(default=None, description="Key for the chat endpoint.")
    chat_model: str = Field(default="", description="Name of the chat model at the endpoint.")
    chat_provider: str = Field(
        default="openai", description="How the chat endpoint is asked to think: openai, ollama, vllm, qwen or deepseek."
    )

    chat_vision: bool = Field(default=False, description="Whether the chat model sees pictures.")
    vision_model: str = Field(
        default="", description="A model at the chat endpoint that looks at pictures where the chat model can't."
    )

    rerank_url: str = Field(
        default="", description="Address of a rerank endpoint, with or without /rerank; empty: no endpoint."
    )
    rerank_key: SecretStr | None = Field(default=None, description="Key for the rerank endpoint.")
    rerank_model: str = Field(default="", description="Name of the reranking model at the endpoint.")
    rerank_style: str = Field(
        default="jina", description="How the rerank endpoint is spoken to: jina, cohere, tei or vllm (also Xinference)."
    )
    rerank_chars: int = Field(
        default=0, ge=0, description="Most characters of a passage that the endpoint gets; 0: it cuts by itself."
    )
    rerank_folder: str = Field(
        default="", description="Folder of an ONNX cross-encoder, used in place of an endpoint; needs opora[rerank]."
    )

    model_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Inner hosts (host or host:port), comma-separated, where models that users enter may be called.",
    )

    fetch_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Inner hosts (host or host:port), comma-separated, from which documents may be fetched.",
    )

    role: Role = Field(
        default=Role.ALL,
        description="What this process does: all, ingestor (models and workers) or retriever (search alone).",
    )
    nats_url: SecretStr | None = Field(
        default=None, description="NATS, such as nats://host:4222; empty: no broker.", validation_alias="NATS_URL"
    )
    nats_prefix: str = Field(
        default="opora",
        pattern=r"^[A-Za-z0-9_-]{1,40}$",
        description="Begins the names of streams, so that installations can share a broker.",
        validation_alias="NATS_PREFIX",
    )
    queue_limit: int = Field(
        default=10_000, ge=0, description="Documents and other work that may wait; more are refused for now. 0: any."
    )

    engine: str = Field(default="sqlite", description="Search engine.", validation_alias="RETRIEVE_DRIVER")
    qdrant_host: str = Field(default="localhost", description="Where Qdrant is.", validation_alias="QDRANT_HOST")
    qdrant_port: int = Field(default=6334, ge=1, le=65535, description="Its gRPC port.", validation_alias="QDRANT_PORT")
    qdrant_collection: str = Field(
        default="opora_embeddings",
        pattern=r"^[A-Za-z0-9_-]{1,100}$",
        description="Begins the names of its collections.",
        validation_alias="QDRANT_COLLECTION",
    )
    qdrant_api_key: SecretStr | None = Field(
        default=None, description="Key for Qdrant.", validation_alias="QDRANT_API_KEY"
    )
    qdrant_use_tls: bool = Field(
        default=False, description="Whether Qdrant is spoken to by TLS.", validation_alias="QDRANT_USE_TLS"
    )
    search_timeout: float = Field(
        default=30.0,
        gt=0,
        description="Seconds that a group of stores may take to search.",
        validation_alias="MULTI_STORE_RETRIEVE_TIMEOUT_SEC",
    )
    expansion: bool = Field(
        default=True,
        description="Whether the retriever adds neighbours of what it found by meaning.",
        validation_alias="EXPANSION_ENABLED",
    )
    vector_memory: int = Field(
        default=512 * MIB, ge=MIB, description="Bytes of vectors kept in memory by the SQLite engine."
    )

    upload_limit: int = Field(default=50 * MIB, gt=0, description="Largest file taken in, in bytes.")
    parse_seconds: float = Field(default=120.0, gt=0, description="Longest time to read one document.")
    parse_memory: int = Field(
        default=1024 * MIB, ge=128 * MIB, description="Most memory that reading a document may take."
    )
    ocr: Literal["auto", "off"] = Field(
        default="auto",
        description="Text recognition in pictures and scans: auto (where Tesseract is there) or off.",
    )
    ocr_languages: str = Field(
        default="rus+chi_sim+eng", description="Languages that Tesseract looks for, as far as they are installed."
    )
    libreoffice: Literal["auto", "off"] = Field(
        default="auto",
        description="Reading of DOC and PPT: auto (where LibreOffice is there) or off.",
    )
    parse_pages: int = Field(default=2000, gt=0, description="Most pages of one document.")

    retrieval: dict[str, Any] = Field(
        default_factory=dict,
        description='Retrieval settings as JSON, such as {"rerank_top_k": 5}; `opora ask --explain` names them all.',
    )
    answer_seconds: float = Field(default=7200.0, gt=0, description="Longest time that one answer may take.")
    stream_ttl: float = Field(
        default=3600.0, gt=0, description="Seconds that an answer's events are kept after the last one."
    )
    neo4j_enable: bool = Field(
        default=False,
        description="Keep graphs of entities in Neo4j and not in the database.",
        validation_alias="NEO4J_ENABLE",
    )
    neo4j_uri: str = Field(default="bolt://neo4j:7687", description="Where Neo4j is.", validation_alias="NEO4J_URI")
    neo4j_username: str = Field(default="", description="Its user.", validation_alias="NEO4J_USERNAME")
    neo4j_password: SecretStr | None = Field(
        default=None, description="The user's password.", validation_alias="NEO4J_PASSWORD"
    )
    neo4j_database: str = Field(
        default="", description="Database in Neo4j; empty is the server's own.", validation_alias="NEO4J_DATABASE"
    )

    stream_manager: Literal["memory", "redis"] = Field(
        default="memory",
        description="Where an answer's events are kept: memory, or redis, where other processes can follow them.",
        validation_alias="STREAM_MANAGER_TYPE",
    )
    redis_addr: str = Field(
        default="127.0.0.1:6379",
        description="Redis: host:port, or an address such as rediss://user@host:6379/0.",
        validation_alias="REDIS_ADDR",
    )
    redis_password: SecretStr | None = Field(
        default=None, description="Password of Redis.", validation_alias="REDIS_PASSWORD"
    )
    redis_db: int = Field(default=0, ge=0, description="Number of the Redis database.", validation_alias="REDIS_DB")
    redis_url: SecretStr | None = Field(
        default=None,
        description="Whole address of Redis, with its password, in place of the three above.",
        validation_alias="REDIS_URL",
    )
    redis_prefix: str = Field(
        default="",
        description="What the keys of events begin with; empty: stream:events.",
        validation_alias="REDIS_PREFIX",
    )
    otel_endpoint: str = Field(
        default="",
        description="Base address of an OpenTelemetry collector (OTLP over HTTP) that gets spans; empty: none.",
        validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT",
    )
    langfuse_public_key: str = Field(
        default="", description="Public key of Langfuse, which then gets spans.", validation_alias="LANGFUSE_PUBLIC_KEY"
    )
    langfuse_secret_key: SecretStr | None = Field(
        default=None, description="Secret key of Langfuse.", validation_alias="LANGFUSE_SECRET_KEY"
    )
    langfuse_host: str = Field(
        default="https://cloud.langfuse.com", description="Address of Langfuse.", validation_alias="LANGFUSE_HOST"
    )
    log_level: str = Field(default="INFO", description="DEBUG, INFO, WARNING or ERROR.")

    @field_validator("allowed_hosts", "model_hosts", "fetch_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("api_key", mode="before")
    @classmethod
    def _no_empty_key(cls, value: object) -> object:
        """A key of nothing is no key: it must not open the server to other machines."""
        return value or None

    @field_validator("data", mode="after")
    @classmethod
    def _no_empty_folder(cls, value: Path) -> Path:
        return default_data_folder() if value == Path() else value

    @field_validator("shared", mode="before")
    @classmethod
    def _no_empty_shared(cls, value: object) -> object:
        return value or None

    @property
    def shared_folder(self) -> Path:
        """Where the files and the key file are."""
        return self.shared or self.data

    @property
    def is_loopback(self) -> bool:
        return self.host in LOOPBACK_HOSTS

    @property
    def database(self) -> str:
        """The address of the relational database, as the store takes it."""
        url = self.database_url.get_secret_value() if self.database_url else ""
        return url or f"sqlite+aiosqlite:///{self.database_path}"

    @property
    def database_path(self) -> Path:
        return self.data / "opora.db"

    @property
    def index_path(self) -> Path:
        return self.data / "index.db"

    def check_bind(self) -> None:
        """Refuse to be reachable from other machines without a key."""
        if not self.is_loopback and self.api_key is None:
            raise InvalidInput.of(
                "host",
                f"Opora will not listen on {self.host} without an API key.",
                hint="Set OPORA_API_KEY, or leave OPORA_HOST at 127.0.0.1.",
            )
