"""The engine over Qdrant: a collection for each size of vectors, and one for rows that have none yet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx
import numpy as np
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException

from opora.domain.errors import EngineError, Forbidden, InvalidInput
from opora.domain.scope import Scope
from opora.domain.search import Capability, EngineHit, IndexRow, ScoreKind
from opora.engines.qdrant import points
from opora.engines.qdrant.ranking import by_words
from opora.engines.vectors import unit_bytes, unit_query
from opora.ports import NewId, Vectors
from opora.text.terms import query_terms

PREFIX = "opora_embeddings"
WRITE_STEP = 256
SCROLL_STEP = 1_000
MAX_MATCHES = 10_000
"""Rows with a word of a question that are looked at; a word that more rows have says little."""
TIES = 64
"""Asked for beyond what is wanted, so that equals are cut in the order of their ids."""
DIGITS = 6
CLOSE = 10.0**-DIGITS
"""What sums of single precision can't tell apart: cosines are rounded to it, and reach a threshold within it."""
_META = "meta"
_WORDS = "words"
_META_POINT = "00000000-0000-0000-0000-000000000001"


class QdrantEngine:
    """A `SearchEngine` on a Qdrant server, or on the client's own storage for trying out."""

    name = "qdrant"
    capabilities = frozenset(
        {
            Capability.VECTOR,
            Capability.KEYWORD,
            Capability.NEGATIVE_COSINE,
            Capability.STEMMING,
            Capability.STORED_VECTORS,
        }
    )

    def __init__(
        self, connect: Callable[[], AsyncQdrantClient], *, prefix: str = PREFIX, new_id: NewId = lambda: uuid4().hex
    ) -> None:
        self._connect = connect
        self._prefix = prefix
        self._new_id = new_id
        self._opened: AsyncQdrantClient | None = None
        self._closed = False
        self._making = asyncio.Lock()
        self._known: set[str] = set()

    async def write(self, scope: Scope, rows: Sequence[IndexRow]) -> None:
        """Raises before anything is written when one row does not fit; the rows of one size are written together."""
        last: dict[tuple[str, str, str], tuple[IndexRow, bytes | None]] = {}
        for row in rows:
            if scope.owner_of(row.base_id) != row.tenant_id:
                raise Forbidden("This knowledge base is not available.", details={"base_id": row.base_id})
            last[row.tenant_id, row.base_id, row.chunk_id] = (row, unit_bytes(row))
        sized: dict[int, list[models.PointStruct]] = {}
        bare: dict[str, IndexRow] = {}
        for key, (row, vector) in last.items():
            if vector is None:
                bare[points.point_id(*key)] = row
            else:
                numbers = np.frombuffer(vector, np.float32).tolist()
                point = models.PointStruct(id=points.point_id(*key), vector=numbers, payload=points.payload_of(row))
                sized.setdefault(row.dimension, []).append(point)
        with _wrapped():
            if bare:
                kept = await self._keep_vectors(bare)
                fresh = [
                    models.PointStruct(id=one, vector={}, payload=points.payload_of(row))
                    for one, row in bare.items()
                    if one not in kept
                ]
                await self._put(await self._collection(0), fresh)
            for dimension, made in sized.items():
                await self._put(await self._collection(dimension), made)

    async def search_vector(self, scope: Scope, vector: Vectors, *, top_k: int, threshold: float) -> list[EngineHit]:
        query = unit_query(vector)
        _check_top_k(top_k)
        name = f"{self._prefix}_{query.size}"
        with _wrapped():
            if not scope.bases or name not in await self._collections():
                return []
            found = await self._client.query_points(
                name,
                query=query.tolist(),
                query_filter=points.in_scope(scope),
                limit=top_k + TIES,
                score_threshold=threshold - CLOSE if threshold else None,
                with_payload=["chunk_id", "base_id", "document_id"],
                search_params=models.SearchParams(exact=False),
            )
        hits = [_hit(point.payload or {}, round(point.score, DIGITS), ScoreKind.COSINE) for point in found.points]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:top_k]

    async def search_keyword(self, scope: Scope, query: str, *, top_k: int) -> list[EngineHit]:
        _check_top_k(top_k)
        terms = list(dict.fromkeys(query_terms(query)))
        if not terms or not scope.bases:
            return []
        where = points.in_scope(scope, points.has_any(terms))
        found: dict[str, Mapping[str, Any]] = {}
        with _wrapped():
            async for point in self._everywhere(where, fields=["chunk_id", "base_id", "document_id", "terms"]):
                found[str(point.id)] = point.payload or {}
                if len(found) >= MAX_MATCHES:
                    break
        return [_hit(payload, 0.0, ScoreKind.NONE) for payload in by_words(found.values(), terms)[:top_k]]

    async def delete_chunks(self, scope: Scope, base_id: str, chunk_ids: Collection[str]) -> None:
        await self._delete(points.of_base(scope.owner_of(base_id), base_id, chunk_id=chunk_ids))

    async def delete_documents(self, scope: Scope, base_id: str, document_ids: Collection[str]) -> None:
        await self._delete(points.of_base(scope.owner_of(base_id), base_id, document_id=document_ids))

    async def delete_base(self, scope: Scope, base_id: str) -> None:
        await self._delete(points.of_base(scope.owner_of(base_id), base_id))

    async def set_enabled(self, scope: Scope, base_id: str, enabled: Mapping[str, bool]) -> None:
        owner = scope.owner_of(base_id)
        for state in (True, False):
            chunk_ids = [chunk_id for chunk_id, one in enabled.items() if one is state]
            await self._set(points.of_base(owner, base_id, chunk_id=chunk_ids), {"enabled": state}, bool(chunk_ids))

    async def set_tags(self, scope: Scope, base_id: str, tags: Mapping[str, Sequence[str]]) -> None:
        owner = scope.owner_of(base_id)
        together: dict[tuple[str, ...], list[str]] = {}
        for chunk_id, tag_ids in tags.items():
            together.setdefault(tuple(tag_ids), []).append(chunk_id)
        for tag_ids, chunk_ids in together.items():
            await self._set(points.of_base(owner, base_id, chunk_id=chunk_ids), {"tag_ids": list(tag_ids)}, True)

    async def copy_base(
        self,
        scope: Scope,
        source_id: str,
        target_id: str,
        chunk_ids: Mapping[str, str],
        *,
        document_ids: Mapping[str, str] | None = None,
    ) -> None:
        source, target = scope.owner_of(source_id), scope.owner_of(target_id)
        where = points.of_base(source, source_id, chunk_id=chunk_ids.keys())
        with _wrapped():
            for name in sorted(await self._rows()):
                made: list[models.PointStruct] = []
                async for point in self._scroll(name, where, with_vectors=True):
                    old = point.payload or {}
                    chunk_id = chunk_ids[old["chunk_id"]]
                    document_id = (document_ids or {}).get(old["document_id"], old["document_id"])
                    place = {"place": points.place_of(target, target_id), "base_id": target_id}
                    payload = {**old, **place, "chunk_id": chunk_id, "document_id": document_id}
                    vector: Any = point.vector if point.vector is not None else {}
                    new = points.point_id(target, target_id, chunk_id)
                    made.append(models.PointStruct(id=new, vector=vector, payload=payload))
                await self._put(name, made)

    async def chunk_ids(self, scope: Scope, base_id: str, *, with_vector: bool = False) -> set[str]:
        where = points.of_base(scope.owner_of(base_id), base_id)
        with _wrapped():
            names = await self._rows()
            if with_vector:
                names -= {f"{self._prefix}_{_WORDS}"}
            found: set[str] = set()
            for name in names:
                async for point in self._scroll(name, where, fields=["chunk_id"]):
                    found.add(str((point.payload or {})["chunk_id"]))
        return found

    async def vectors(self, scope: Scope, base_id: str, chunk_ids: Collection[str]) -> dict[str, Vectors]:
        where = points.of_base(scope.owner_of(base_id), base_id, chunk_id=chunk_ids)
        found: dict[str, Vectors] = {}
        with _wrapped():
            for name in await self._rows() - {f"{self._prefix}_{_WORDS}"}:
                async for point in self._scroll(name, where, fields=["chunk_id"], with_vectors=True):
                    found[str((point.payload or {})["chunk_id"])] = np.asarray(point.vector, np.float32)
        return found

    async def storage_bytes(self, scope: Scope, base_id: str) -> int:
        """Vectors with their graph, texts and terms, without the server's own overhead."""
        where = points.of_base(scope.owner_of(base_id), base_id)
        taken = 0
        with _wrapped():
            for name in await self._rows():
                size = name.rpartition("_")[2]
                vector = int(size) * 4 + 16 * 2 * 4 if size.isdigit() else 0
                async for point in self._scroll(name, where, fields=["text", "terms"]):
                    payload = point.payload or {}
                    words = sum(len(term.encode()) for term in payload.get("terms", ()))
                    taken += vector + words + len(points.text_of(payload).encode())
        return taken

    async def generation(self) -> str:
        name = f"{self._prefix}_{_META}"
        with _wrapped():
            if name not in await self._collections():
                await self._make(name, 0)
            found = await self._client.retrieve(name, [_META_POINT])
            if not found:
                payload = {"generation": self._new_id()}
                await self._put(name, [models.PointStruct(id=_META_POINT, vector={}, payload=payload)], alone=True)
                found = await self._client.retrieve(name, [_META_POINT])
        return str((found[0].payload or {})["generation"])

    async def close(self) -> None:
        self._closed = True
        if self._opened is not None:
            await self._opened.close()
            self._opened = None

    @property
    def _client(self) -> AsyncQdrantClient:
        if self._closed:
            raise EngineError("The search engine is closed.")
        if self._opened is None:
            self._opened = self._connect()
        return self._opened

    async def _collections(self) -> set[str]:
        found = await self._client.get_collections()
        return {one.name for one in found.collections if one.name.startswith(f"{self._prefix}_")}

    async def _rows(self) -> set[str]:
        """Collections that hold rows."""
        return await self._collections() - {f"{self._prefix}_{_META}"}

    async def _collection(self, dimension: int) -> str:
        """That of a size, made when the size first appears; 0 is the one without vectors."""
        name = f"{self._prefix}_{dimension or _WORDS}"
        if name not in self._known:
            async with self._making:
                if name not in await self._collections():
                    await self._make(name, dimension)
                self._known.add(name)
        return name

    async def _make(self, name: str, dimension: int) -> None:
        vectors: Any = models.VectorParams(size=dimension, distance=models.Distance.COSINE) if dimension else {}
        await self._client.create_collection(name, vectors_config=vectors)
        for field in points.KEYWORDS:
            await self._client.create_payload_index(name, field, models.PayloadSchemaType.KEYWORD)
        await self._client.create_payload_index(name, "enabled", models.PayloadSchemaType.BOOL)

    async def _keep_vectors(self, bare: Mapping[str, IndexRow]) -> set[str]:
        """Rows that have a vector of the same text keep it, and take the rest of the new row; others lose theirs."""
        kept: set[str] = set()
        for name in await self._rows() - {f"{self._prefix}_{_WORDS}"}:
            for point in await self._client.retrieve(name, list(bare), with_payload=True):
                payload = points.payload_of(bare[str(point.id)])
                if points.text_of(point.payload) == payload["text"]:
                    await self._client.overwrite_payload(name, payload, points=[point.id], wait=True)
                    kept.add(str(point.id))
        return kept

    async def _put(self, name: str, made: Sequence[models.PointStruct], *, alone: bool = False) -> None:
        """Each row stands in one collection: what it had in another goes once it is here."""
        for start in range(0, len(made), WRITE_STEP):
            step = list(made[start : start + WRITE_STEP])
            await self._client.upsert(name, step, wait=True)
            if not alone:
                gone = models.PointIdsList(points=[point.id for point in step])
                for other in await self._rows() - {name}:
                    await self._client.delete(other, gone, wait=True)

    async def _delete(self, where: models.Filter) -> None:
        with _wrapped():
            for name in await self._rows():
                await self._client.delete(name, models.FilterSelector(filter=where), wait=True)

    async def _set(self, where: models.Filter, payload: dict[str, Any], is_wanted: bool) -> None:
        with _wrapped():
            for name in await self._rows() if is_wanted else ():
                await self._client.set_payload(name, payload, points=where, wait=True)

    async def _everywhere(self, where: models.Filter, *, fields: list[str]) -> AsyncIterator[models.Record]:
        for name in sorted(await self._rows()):
            async for point in self._scroll(name, where, fields=fields):
                yield point

    async def _scroll(
        self, name: str, where: models.Filter, *, fields: list[str] | None = None, with_vectors: bool = False
    ) -> AsyncIterator[models.Record]:
        offset: Any = None
        while True:
            found, offset = await self._client.scroll(
                name,
                scroll_filter=where,
                limit=SCROLL_STEP,
                offset=offset,
                with_payload=True if fields is None else fields,
                with_vectors=with_vectors,
            )
            for point in found:
                yield point
            if offset is None:
                return


def _hit(payload: Mapping[str, Any], score: float, kind: ScoreKind) -> EngineHit:
    return EngineHit(
        chunk_id=str(payload["chunk_id"]),
        base_id=str(payload["base_id"]),
        document_id=str(payload["document_id"]),
        score=float(score),
        kind=kind,
    )


def _check_top_k(top_k: int) -> None:
    if top_k < 1:
        raise InvalidInput.of("top_k", "A search asks for at least one result.")


@contextmanager
def _wrapped() -> Iterator[None]:
    """An outage is an error with words of ours, and never an empty result."""
    import grpc

    try:
        yield
    except (ApiException, QdrantException, httpx.HTTPError, grpc.RpcError, OSError, ValueError, RuntimeError) as error:
        if isinstance(error, InvalidInput | EngineError):
            raise
        raise EngineError(
            f"Qdrant can't be searched or written: {error or type(error).__name__}",
            hint="Look whether the server runs, and at QDRANT_HOST, QDRANT_PORT and QDRANT_API_KEY.",
        ) from error
