"""The one suite that every engine passes: tests are collected here by `test_conformance`, for each engine in turn.

An engine's capability set decides what applies to it, never its type.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from opora.domain.errors import DimensionMismatch, EngineError, Forbidden, InvalidInput
from opora.domain.scope import BaseRef, Principal, Scope
from opora.domain.search import Capability, EngineHit, IndexRow, ScoreKind
from opora.ports import FulltextEngine, SearchEngine, VectorReader

CASES = Path(__file__).parents[1] / "cases" / "files" / "engines"
TENANT = "acme"
CLOSE = 1e-3
"""How far an engine's cosine may be from NumPy's."""


def scope(
    *base_ids: str,
    tenant: str = TENANT,
    documents: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    include_disabled: bool = False,
) -> Scope:
    return Scope(
        principal=Principal(tenant_id=tenant, user_id="u"),
        bases=tuple(BaseRef(base_id=base_id, tenant_id=tenant) for base_id in base_ids),
        document_ids=None if documents is None else frozenset(documents),
        tag_ids=None if tags is None else frozenset(tags),
        include_disabled=include_disabled,
    )


def row(
    chunk_id: str,
    text: str = "",
    vector: Sequence[float] | None = None,
    *,
    base: str = "base",
    tenant: str = TENANT,
    document: str = "doc",
    enabled: bool = True,
    tags: tuple[str, ...] = (),
) -> IndexRow:
    return IndexRow(
        chunk_id=chunk_id,
        base_id=base,
        tenant_id=tenant,
        document_id=document,
        text=text or f"text of {chunk_id}",
        vector=None if vector is None else np.array(vector, np.float32).tobytes(),
        dimension=0 if vector is None else len(vector),
        enabled=enabled,
        tag_ids=tags,
    )


def ids(hits: Sequence[EngineHit]) -> list[str]:
    return [hit.chunk_id for hit in hits]


async def by_vector(
    engine: SearchEngine, where: Scope, vector: Sequence[float], *, top_k: int = 10, threshold: float = 0.0
) -> list[EngineHit]:
    return await engine.search_vector(where, np.array(vector, np.float32), top_k=top_k, threshold=threshold)


async def by_words(engine: SearchEngine, where: Scope, query: str, *, top_k: int = 10) -> list[EngineHit]:
    return await engine.search_keyword(where, query, top_k=top_k)


def needs(engine: SearchEngine, *capabilities: Capability) -> bool:
    return engine.capabilities.issuperset(capabilities)


class Conformance:
    """Subclasses give the fixture ``engine``: an open, empty engine."""

    # --- writing ----------------------------------------------------------------------------------------------

    async def test_writing_twice_is_writing_once(self, engine: SearchEngine) -> None:
        rows = [row("a", "alpha", [1, 0]), row("b", "beta", [0, 1])]
        await engine.write(scope("base"), rows)
        await engine.write(scope("base"), rows)
        assert await engine.chunk_ids(scope("base"), "base") == {"a", "b"}
        assert ids(await by_vector(engine, scope("base"), [1, 0])) == ["a", "b"]
        assert ids(await by_words(engine, scope("base"), "alpha")) == ["a"]

    async def test_a_row_is_replaced_whole(self, engine: SearchEngine) -> None:
        await engine.write(scope("base"), [row("a", "alpha", [1, 0], document="d1", tags=("t",))])
        await engine.write(scope("base"), [row("a", "gamma", [0, 1], document="d2")])
        assert await by_words(engine, scope("base"), "alpha") == []
        assert ids(await by_words(engine, scope("base", documents=["d2"]), "gamma")) == ["a"]
        assert await by_words(engine, scope("base", tags=["t"]), "gamma") == []
        (hit,) = await by_vector(engine, scope("base"), [0, 1])
        assert hit.score == pytest.approx(1.0, abs=CLOSE)

    async def test_the_last_of_two_rows_with_one_id_stays(self, engine: SearchEngine) -> None:
        await engine.write(scope("base"), [row("a", "alpha", [1, 0]), row("a", "beta", [0, 1])])
        assert await by_words(engine, scope("base"), "alpha") == []
        assert ids(await by_words(engine, scope("base"), "beta")) == ["a"]

    async def test_a_row_without_a_vector_keeps_the_one_of_the_same_text(self, engine: SearchEngine) -> None:
        await engine.write(scope("base"), [row("a", "alpha", [1, 0]), row("b", "beta", [1, 0])])
        await engine.write(scope("base"), [row("a", "alpha"), row("b", "changed")])
        assert await engine.chunk_ids(scope("base"), "base", with_vector=True) == {"a"}
        assert ids(await by_vector(engine, scope("base"), [1, 0])) == ["a"]

    async def test_a_vector_may_come_after_the_words(self, engine: SearchEngine) -> None:
        await engine.write(scope("base"), [row("a", "alpha")])
        assert ids(await by_words(engine, scope("base"), "alpha")) == ["a"]
        assert await by_vector(engine, scope("base"), [1, 0]) == []
        await engine.write(scope("base"), [row("a", "alpha", [1, 0])])
        assert ids(await by_words(engine, scope("base"), "alpha")) == ["a"]
        assert ids(await by_vector(engine, scope("base"), [1, 0])) == ["a"]

    async def test_a_replacement_by_a_shorter_document_leaves_nothing_behind(self, engine: SearchEngine) -> None:
        where = scope("base")
        old = [row("c1", "ALPHA-OLD", [1, 0]), row("c2", "BETA-OLD", [0, 1]), row("x", "OTHER", [1, 1], document="x")]
        await engine.write(where, old)
        await engine.write(where, [row("c1", "GAMMA-NEW", [1, 0])])
        await engine.delete_chunks(where, "base", ["c2"])
        for marker in ("ALPHA-OLD", "BETA-OLD", "old"):
            assert await by_words(engine, where, marker) == []
        assert ids(await by_words(engine, where, "GAMMA-NEW")) == ["c1"]
        assert ids(await by_vector(engine, where, [1, 0])) == ["c1", "x"]
        await engine.write(where, [row("c1", "GAMMA-NEW", [1, 0])])
        assert ids(await by_words(engine, where, "GAMMA-NEW")) == ["c1"]
        await engine.delete_documents(where, "base", ["doc"])
        assert await engine.chunk_ids(where, "base") == {"x"}
        assert ids(await by_vector(engine, where, [1, 0])) == ["x"]

    async def test_nothing_is_written_when_one_row_does_not_fit(self, engine: SearchEngine) -> None:
        with pytest.raises(InvalidInput):
            await engine.write(scope("base"), [row("a", "alpha", [1, 0]), row("b", "beta", [float("nan"), 0])])
        assert await engine.chunk_ids(scope("base"), "base") == set()

    @pytest.mark.parametrize(
        "vector", [[float("nan"), 1.0], [float("inf"), 1.0], [0.0, 0.0], []], ids=["nan", "inf", "zero", "empty"]
    )
    async def test_vectors_that_are_none_are_refused(self, engine: SearchEngine, vector: list[float]) -> None:
        with pytest.raises(InvalidInput):
            await engine.write(scope("base"), [row("a", "alpha", vector)])
        with pytest.raises(InvalidInput):
            await by_vector(engine, scope("base"), vector)

    async def test_a_vector_of_another_length_than_stated_is_refused(self, engine: SearchEngine) -> None:
        wrong = IndexRow(
            chunk_id="a",
            base_id="base",
            tenant_id=TENANT,
            document_id="d",
            text="t",
            vector=np.ones(3, np.float32).tobytes(),
            dimension=4,
        )
        with pytest.raises(DimensionMismatch) as refused:
            await engine.write(scope("base"), [wrong])
        assert (refused.value.details["expected"], refused.value.details["actual"]) == (4, 3)

    async def test_text_is_cleaned_of_what_no_store_takes(self, engine: SearchEngine) -> None:
        await engine.write(scope("base"), [row("a", "нулевой\0билет \ud800 хвост \udfff", [1, 0])])
        for query in ("билет", "хвост", "нулевой", "\0билет\ud800"):
            assert ids(await by_words(engine, scope("base"), query)) == ["a"]

    # --- deleting ---------------------------------------------------------------------------------------------

    async def test_deleting_before_the_first_write_is_no_error(self, engine: SearchEngine) -> None:
        where = scope("base")
        await engine.delete_chunks(where, "base", ["a"])
        await engine.delete_documents(where, "base", ["d"])
        await engine.delete_base(where, "base")
        await engine.set_enabled(where, "base", {"a": False})
        await engine.set_tags(where, "base", {"a": ["t"]})
        assert await engine.storage_bytes(where, "base") == 0
        await engine.write(where, [row("a", "alpha", [1, 0])])
        assert ids(await by_words(engine, where, "alpha")) == ["a"]

    async def test_deletes_hide_at_once(self, engine: SearchEngine) -> None:
        where = scope("base", "other")
        await engine.write(where, [row(f"c{i}", "alpha", [1, i], document=f"d{i}") for i in range(4)])
        await engine.write(where, [row("o", "alpha", [1, 9], base="other")])
        assert len(await by_vector(engine, where, [1, 0])) == 5
        await engine.delete_chunks(where, "base", ["c0", "absent"])
        assert ids(await by_vector(engine, where, [1, 0])) == ["c1", "c2", "c3", "o"]
        await engine.delete_documents(where, "base", ["d1", "absent"])
        assert ids(await by_vector(engine, where, [1, 0])) == ["c2", "c3", "o"]
        assert sorted(ids(await by_words(engine, where, "alpha"))) == ["c2", "c3", "o"]
        await engine.delete_base(where, "base")
        assert ids(await by_vector(engine, where, [1, 0])) == ["o"]
        assert ids(await by_words(engine, where, "alpha")) == ["o"]
        assert await engine.chunk_ids(where, "base") == set()
        await engine.write(where, [row("c9", "alpha", [1, 0])])
        assert ids(await by_vector(engine, where, [1, 0])) == ["c9", "o"]

    # --- filters ----------------------------------------------------------------------------------------------

    async def test_filters_come_before_the_cut(self, engine: SearchEngine) -> None:
        far = [row(f"x{i:02}", "alpha", [1, 0.001 * i, 0, 0], base="X", tenant="B") for i in range(60)]
        near = [row(f"y{i}", "alpha", [0.6, 0.8, 0, 0.01 * i], base="Y") for i in range(3)]
        hidden = [row(f"z{i}", "alpha", [1, 0, 0, 0], base="Y", enabled=False) for i in range(2)]
        await engine.write(scope("X", tenant="B"), far)
        await engine.write(scope("Y"), near + hidden)
        for _ in range(2):
            for threshold, wanted in ((0.0, ["y0", "y1", "y2"]), (0.5, ["y0", "y1", "y2"]), (0.7, [])):
                hits = await by_vector(engine, scope("Y"), [1, 0, 0, 0], top_k=5, threshold=threshold)
                assert ids(hits) == wanted
                assert [hit.score for hit in hits] == pytest.approx([0.6] * len(wanted), abs=CLOSE)
            assert ids(await by_words(engine, scope("Y"), "alpha", top_k=5)) == ["y0", "y1", "y2"]
            await engine.write(
                scope("X", tenant="B"),
                [row(f"xx{i:02}", "alpha", [1, 0.001 * i, 0, 0], base="X", tenant="B") for i in range(60)],
            )

    async def test_a_tenant_of_one_in_a_hundred_among_ten_thousand_rows(self, engine: SearchEngine) -> None:
        rng = np.random.default_rng(3)
        vectors = rng.standard_normal((10_000, 8)).astype(np.float32)
        mine = [i for i in range(10_000) if i % 100 == 7]
        rows = [
            row(
                f"c{i:05}",
                f"слово{i % 10} общее",
                vectors[i].tolist(),
                tenant="small" if i % 100 == 7 else "large",
                document=f"d{i % 300}",
            )
            for i in range(10_000)
        ]
        for tenant in ("small", "large"):
            await engine.write(scope("base", tenant=tenant), [r for r in rows if r.tenant_id == tenant])
        query = rng.standard_normal(8).astype(np.float32)
        cosine = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
        wanted = [f"c{i:05}" for i in sorted(mine, key=lambda i: -cosine[i])[:10]]
        hits = await engine.search_vector(scope("base", tenant="small"), query, top_k=10, threshold=0.0)
        assert ids(hits) == wanted
        words = await by_words(engine, scope("base", tenant="small"), "общее", top_k=200)
        assert set(ids(words)) == {f"c{i:05}" for i in mine}
        documents = [f"d{i % 300}" for i in mine[:2]]
        inside = {f"c{i:05}" for i in mine if f"d{i % 300}" in documents}
        narrow = scope("base", tenant="small", documents=documents)
        assert set(ids(await engine.search_vector(narrow, query, top_k=100, threshold=0.0))) == inside
        assert set(ids(await by_words(engine, narrow, "общее", top_k=100))) == inside

    async def test_document_and_tag_filters(self, engine: SearchEngine) -> None:
        rows = [
            row("a", "alpha", [1, 0.0], document="d1", tags=("red", "big")),
            row("b", "alpha", [1, 0.1], document="d1", tags=("blue",)),
            row("c", "alpha", [1, 0.2], document="d2", tags=("red",)),
            row("d", "alpha", [1, 0.3], document="d3"),
        ]
        await engine.write(scope("base"), rows)
        table: list[tuple[list[str] | None, list[str] | None, list[str]]] = [
            (None, None, ["a", "b", "c", "d"]),
            (["d1"], None, ["a", "b"]),
            (None, ["red"], ["a", "c"]),
            (None, ["red", "blue"], ["a", "b", "c"]),
            (["d2", "d3"], ["red"], ["c"]),
            ([], None, []),
            (None, [], []),
            (["absent"], None, []),
        ]
        for documents, tags, wanted in table:
            where = scope("base", documents=documents, tags=tags)
            assert ids(await by_vector(engine, where, [1, 0])) == wanted
            assert sorted(ids(await by_words(engine, where, "alpha"))) == wanted
        await engine.set_tags(scope("base"), "base", {"d": ["red"], "a": [], "absent": ["red"]})
        assert ids(await by_vector(engine, scope("base", tags=["red"]), [1, 0])) == ["c", "d"]

    async def test_disabled_chunks_return_after_enabling(self, engine: SearchEngine) -> None:
        where, all_of_it = scope("base"), scope("base", include_disabled=True)
        await engine.write(where, [row("a", "alpha", [1, 0]), row("b", "alpha", [1, 1])])
        await engine.set_enabled(where, "base", {"a": False, "absent": False})
        assert ids(await by_vector(engine, where, [1, 0])) == ["b"]
        assert ids(await by_words(engine, where, "alpha")) == ["b"]
        assert ids(await by_vector(engine, all_of_it, [1, 0])) == ["a", "b"]
        assert sorted(ids(await by_words(engine, all_of_it, "alpha"))) == ["a", "b"]
        await engine.set_enabled(where, "base", {"a": True})
        assert ids(await by_vector(engine, where, [1, 0])) == ["a", "b"]
        assert sorted(ids(await by_words(engine, where, "alpha"))) == ["a", "b"]

    async def test_a_base_is_its_owners_alone(self, engine: SearchEngine) -> None:
        await engine.write(scope("base"), [row("a", "alpha", [1, 0])])
        stranger = scope("base", tenant="stranger")
        assert await by_vector(engine, stranger, [1, 0]) == []
        assert await by_words(engine, stranger, "alpha") == []
        await engine.delete_base(stranger, "base")
        with pytest.raises(Forbidden):
            await engine.write(stranger, [row("a", "alpha", [1, 0])])
        with pytest.raises(Forbidden):
            await engine.delete_chunks(scope("other"), "base", ["a"])
        with pytest.raises(Forbidden):
            await engine.chunk_ids(scope("other"), "base")
        assert ids(await by_vector(engine, scope("base"), [1, 0])) == ["a"]
        assert await by_vector(engine, scope(), [1, 0]) == []

    # --- scores -----------------------------------------------------------------------------------------------

    async def test_cosine_is_numpys(self, engine: SearchEngine) -> None:
        rng = np.random.default_rng(5)
        vectors = (rng.standard_normal((40, 16)) * rng.uniform(0.01, 100, (40, 1))).astype(np.float32)
        await engine.write(scope("base"), [row(f"c{i:02}", vector=v.tolist()) for i, v in enumerate(vectors)])
        query = rng.standard_normal(16).astype(np.float32) * 3
        cosine = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
        if not needs(engine, Capability.NEGATIVE_COSINE):
            cosine = np.maximum(cosine, 0)
        hits = await engine.search_vector(scope("base"), query, top_k=40, threshold=0.0)
        assert len(hits) == 40, "a threshold of 0 filters nothing, negatives included"
        assert {hit.kind for hit in hits} == {ScoreKind.COSINE}
        assert [hit.score for hit in hits] == pytest.approx(
            [float(cosine[int(h.chunk_id[1:])]) for h in hits], abs=CLOSE
        )
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    @pytest.mark.parametrize(
        ("threshold", "wanted"), [(0.0, 4), (-0.5, 3), (0.5, 2), (0.6, 2), (0.61, 1), (1.0, 1), (1.01, 0), (2.0, 0)]
    )
    async def test_thresholds(self, engine: SearchEngine, threshold: float, wanted: int) -> None:
        if not needs(engine, Capability.NEGATIVE_COSINE):
            wanted = wanted if threshold > 0 else 4
        vectors = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]]
        await engine.write(scope("base"), [row(f"c{i}", vector=v) for i, v in enumerate(vectors)])
        assert len(await by_vector(engine, scope("base"), [1, 0], threshold=threshold)) == wanted

    async def test_ties_are_in_order_of_chunk_id(self, engine: SearchEngine) -> None:
        names = ["m", "b", "z", "a", "k", "c"]
        await engine.write(scope("base"), [row(name, "alpha", [1, 2]) for name in names])
        await engine.write(scope("base"), [row("worse", "beta", [1, 0])])
        for top_k in (1, 3, 6):
            assert ids(await by_vector(engine, scope("base"), [1, 2], top_k=top_k)) == sorted(names)[:top_k]
            assert ids(await by_words(engine, scope("base"), "alpha", top_k=top_k)) == sorted(names)[:top_k]

    async def test_two_sizes_of_vectors_live_side_by_side(self, engine: SearchEngine) -> None:
        await engine.write(scope("base"), [row("two", "alpha", [1, 0]), row("three", "alpha", [1, 0, 0])])
        assert ids(await by_vector(engine, scope("base"), [1, 0])) == ["two"]
        assert ids(await by_vector(engine, scope("base"), [1, 0, 0])) == ["three"]
        assert await by_vector(engine, scope("base"), [1, 0, 0, 0]) == [], "a size never seen finds nothing"
        assert len(await by_words(engine, scope("base"), "alpha")) == 2
        await engine.write(scope("base"), [row("two", "alpha", [0, 0, 1])])
        assert await by_vector(engine, scope("base"), [1, 0]) == []
        assert ids(await by_vector(engine, scope("base"), [1, 0, 0])) == ["three", "two"]

    async def test_several_bases_are_one_list(self, engine: SearchEngine) -> None:
        where = scope("A", "B")
        await engine.write(
            where, [row(f"a{i}", "редкое слово" if i == 0 else "слово", [1, i], base="A") for i in range(5)]
        )
        await engine.write(where, [row("b0", "слово", [1, 0.5], base="B"), row("b1", "прочее", [1, 9], base="B")])
        assert ids(await by_vector(engine, where, [1, 0], top_k=3)) == ["a0", "b0", "a1"]
        found = await by_words(engine, where, "редкое слово")
        assert ids(found)[0] == "a0"
        assert set(ids(found)) == {"a0", "a1", "a2", "a3", "a4", "b0"}
        assert {hit.base_id for hit in found} == {"A", "B"}
        if needs(engine, Capability.KEYWORD_SCORES):
            same = {hit.score for hit in found if hit.chunk_id != "a0"}
            assert max(same) - min(same) < 1e-6, "equal texts score alike in whichever base they are"

    async def test_less_than_one_result_is_refused(self, engine: SearchEngine) -> None:
        with pytest.raises(InvalidInput):
            await by_vector(engine, scope("base"), [1, 0], top_k=0)
        with pytest.raises(InvalidInput):
            await by_words(engine, scope("base"), "alpha", top_k=0)

    # --- words ------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("query", "wanted"),
        [
            ("налоговых ставок", "ru"),
            ("СЧЕТ за полёт", "yo"),
            ("самолет", "yo"),
            ("satellites orbiting", "en"),
            ("增值税发票", "zh"),
            ("票", "zh"),
            ("KB-1234", "code"),
            ("kb 1234", "code"),
            ("efficient", "ligature"),
            ("документирования", "ligature"),
            ("Санкт-Петербурге", "hyphen"),
            ("петербург", "hyphen"),
            ("response", "camel"),
        ],
    )
    async def test_words_are_found_in_other_forms(self, engine: SearchEngine, query: str, wanted: str) -> None:
        texts = {
            "ru": "Налоговая ставка повышена.",
            "yo": "Самолёт улетел; счёт оплачен.",
            "en": "The satellite orbits a planet.",
            "zh": "请开具增值税专用发票。",
            "code": "Ошибка KB-1234 устранена.",
            "ligature": "e\ufb03cient доку\u00adмен\u00adтирование",
            "hyphen": "Встреча в Санкт\u2011Петербурге.",
            "camel": "Верните FileResponse напрямую.",
        }
        await engine.write(scope("base"), [row(name, text) for name, text in texts.items()])
        hits = await by_words(engine, scope("base"), query)
        assert ids(hits)[:1] == [wanted]
        if needs(engine, Capability.KEYWORD_SCORES):
            assert {hit.kind for hit in hits} == {ScoreKind.BM25}
            assert hits[0].score > 0

    async def test_hostile_queries_are_data(self, engine: SearchEngine) -> None:
        case = json.loads((CASES / "hostile_queries.json").read_text(encoding="utf-8"))
        await engine.write(scope("base"), [row(name, text, [1, 0]) for name, text in case["chunks"].items()])
        more = {
            "билет\nAND\nчек": ["k1"],
            "билет' UNION SELECT * FROM base": ["k1", "k5"],
            "NEAR/2": ["k4"],
            "\ud800": [],
        }
        for query, wanted in {**case["queries"], **more}.items():
            found = ids(await by_words(engine, scope("base"), query))
            if wanted == "no error":
                continue
            assert set(found) >= set(wanted), query
            assert (found[0] in wanted) if wanted else (found == []), query
        assert len(await engine.chunk_ids(scope("base"), "base")) == 6

    async def test_a_very_long_query_is_answered(self, engine: SearchEngine) -> None:
        await engine.write(scope("base"), [row("a", "alpha")])
        words = " ".join(f"alpha{i}" for i in range(2000))
        assert ids(await by_words(engine, scope("base"), f"alpha {words}")) == ["a"]
        assert await by_words(engine, scope("base"), "") == []

    # --- laws -------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("seed", range(6))
    async def test_any_sequence_of_writes_and_deletes_is_what_a_dictionary_holds(
        self, engine: SearchEngine, seed: int
    ) -> None:
        rng = random.Random(seed)
        held: dict[str, IndexRow] = {}
        where = scope("base")
        words = ["alpha", "beta", "gamma", "налог", "ставка"]
        for _ in range(25):
            names = [f"c{rng.randrange(12):02}" for _ in range(rng.randint(1, 4))]
            match rng.randrange(5):
                case 0 | 1:
                    rows = [
                        row(
                            name,
                            " ".join(rng.choices(words, k=3)),
                            [rng.choice([-1.0, 0.5, 2.0]) for _ in range(3)],
                            document=f"d{rng.randrange(3)}",
                            enabled=rng.random() > 0.2,
                            tags=tuple(rng.sample(["t1", "t2"], rng.randrange(3))),
                        )
                        for name in names
                    ]
                    await engine.write(where, rows)
                    held.update({r.chunk_id: r for r in rows})
                case 2:
                    await engine.delete_chunks(where, "base", names)
                    held = {name: r for name, r in held.items() if name not in names}
                case 3:
                    await engine.delete_documents(where, "base", [document := f"d{rng.randrange(3)}"])
                    held = {name: r for name, r in held.items() if r.document_id != document}
                case _:
                    on = rng.random() > 0.5
                    await engine.set_enabled(where, "base", dict.fromkeys(names, on))
                    held.update({name: replace(held[name], enabled=on) for name in names if name in held})
            await self._same_as(engine, held, rng.choice(words), [rng.gauss(0, 1) for _ in range(3)], rng)

    async def _same_as(
        self, engine: SearchEngine, held: dict[str, IndexRow], word: str, query: list[float], rng: random.Random
    ) -> None:
        documents = rng.choice([None, ["d1"], ["d0", "d2"]])
        tags = rng.choice([None, ["t1"]])
        where = scope("base", documents=documents, tags=tags)
        seen = [
            r
            for r in held.values()
            if r.enabled
            and (documents is None or r.document_id in documents)
            and (tags is None or not set(tags).isdisjoint(r.tag_ids))
        ]
        assert await engine.chunk_ids(where, "base") == set(held)
        asked = np.array(query, np.float32)
        cosine = {}
        for r in seen:
            vector = np.frombuffer(r.vector or b"", np.float32)
            cosine[r.chunk_id] = float(vector @ asked / np.linalg.norm(vector) / np.linalg.norm(asked))
        hits = await engine.search_vector(where, asked, top_k=5, threshold=0.0)
        best = sorted(cosine.values(), reverse=True)[:5]
        if needs(engine, Capability.NEGATIVE_COSINE):
            assert [hit.score for hit in hits] == pytest.approx(best, abs=CLOSE)
            assert [cosine[hit.chunk_id] for hit in hits] == pytest.approx(best, abs=CLOSE)
        found = await engine.search_keyword(where, word, top_k=20)
        assert set(ids(found)) == {r.chunk_id for r in seen if word in r.text.split()}

    async def test_the_same_search_gives_the_same_order(self, engine: SearchEngine) -> None:
        rng = np.random.default_rng(11)
        rows = [row(f"c{i:03}", "общее слово", rng.standard_normal(32).tolist()) for i in range(200)]
        await engine.write(scope("one"), [replace(r, base_id="one") for r in rows])
        await engine.write(scope("two"), [replace(r, base_id="two") for r in reversed(rows)])
        query = rng.standard_normal(32).tolist()
        first = await by_vector(engine, scope("one"), query, top_k=50)
        for base in ("one", "two"):
            again = await by_vector(engine, scope(base), query, top_k=50)
            assert [(h.chunk_id, h.score) for h in again] == [(h.chunk_id, h.score) for h in first]
        assert ids(await by_words(engine, scope("two"), "слово")) == [f"c{i:03}" for i in range(10)]

    # --- the rest ---------------------------------------------------------------------------------------------

    async def test_a_base_is_copied_under_new_ids(self, engine: SearchEngine) -> None:
        where = scope("source", "target")
        rows = [
            row("a", "alpha", [1, 0], base="source", document="d1", tags=("t",)),
            row("b", "alpha", [1, 1], base="source", document="d2", enabled=False),
            row("c", "alpha", base="source"),
        ]
        await engine.write(where, rows)
        for _ in range(2):
            await engine.copy_base(
                where, "source", "target", {"a": "a2", "b": "b2", "absent": "x"}, document_ids={"d1": "e1"}
            )
        assert await engine.chunk_ids(where, "target") == {"a2", "b2"}
        assert await engine.chunk_ids(where, "source") == {"a", "b", "c"}
        (hit,) = await by_vector(engine, scope("target", tags=["t"]), [1, 0])
        assert (hit.chunk_id, hit.base_id, hit.document_id) == ("a2", "target", "e1")
        assert ids(await by_words(engine, scope("target", include_disabled=True, documents=["d2"]), "alpha")) == ["b2"]
        await engine.delete_base(where, "source")
        assert ids(await by_vector(engine, where, [1, 0])) == ["a2"]

    async def test_what_a_base_takes_grows_with_it(self, engine: SearchEngine) -> None:
        await engine.write(scope("base"), [row("a", "alpha", [1.0] * 64)])
        one = await engine.storage_bytes(scope("base"), "base")
        assert one >= 64 * 4
        await engine.write(scope("base"), [row(f"c{i}", "alpha", [1.0] * 64) for i in range(50)])
        assert await engine.storage_bytes(scope("base"), "base") >= 50 * 64 * 4

    async def test_the_generation_stays(self, engine: SearchEngine) -> None:
        generation = await engine.generation()
        await engine.write(scope("base"), [row("a")])
        assert generation
        assert await engine.generation() == generation

    async def test_an_engine_that_is_down_raises(self, engine: SearchEngine) -> None:
        await engine.write(scope("base"), [row("a", "alpha", [1, 0])])
        await engine.close()
        with pytest.raises(EngineError):
            await by_vector(engine, scope("base"), [1, 0])
        with pytest.raises(EngineError):
            await by_words(engine, scope("base"), "alpha")
        with pytest.raises(EngineError):
            await engine.write(scope("base"), [row("b", "beta", [1, 0])])
        with pytest.raises(EngineError):
            await engine.generation()
        await engine.close()

    # --- vectors that are read back -----------------------------------------------------------------------------

    async def test_vectors_come_back_as_they_were_written(self, engine: SearchEngine) -> None:
        if not needs(engine, Capability.STORED_VECTORS):
            pytest.skip("gives no vectors back")
        reader = cast(VectorReader, engine)
        where = scope("base", "other")
        await engine.write(
            where,
            [
                row("a", vector=[3, 4]),
                row("b", vector=[0, 2], enabled=False),
                row("c", "words only"),
                row("d", vector=[1, 2, 2]),
                row("a", vector=[1, 0], base="other"),
            ],
        )
        found = await reader.vectors(where, "base", ["a", "b", "c", "d", "never"])
        assert set(found) == {"a", "b", "d"}
        for chunk_id, numbers in {"a": [0.6, 0.8], "b": [0, 1], "d": [1 / 3, 2 / 3, 2 / 3]}.items():
            assert found[chunk_id] == pytest.approx(np.array(numbers, np.float32), abs=CLOSE)
            assert np.linalg.norm(found[chunk_id]) == pytest.approx(1.0, abs=1e-5)
        assert await reader.vectors(where, "base", []) == {}
        await engine.delete_chunks(where, "base", ["a"])
        assert set(await reader.vectors(where, "base", ["a", "b"])) == {"b"}
        assert set(await reader.vectors(where, "other", ["a"])) == {"a"}

    async def test_vectors_of_a_base_that_is_not_in_scope_are_refused(self, engine: SearchEngine) -> None:
        if not needs(engine, Capability.STORED_VECTORS):
            pytest.skip("gives no vectors back")
        reader = cast(VectorReader, engine)
        await engine.write(scope("base"), [row("a", vector=[1, 0])])
        with pytest.raises(Forbidden):
            await reader.vectors(scope("other"), "base", ["a"])
        assert await reader.vectors(scope("other"), "other", ["a"]) == {}
        assert await reader.vectors(scope("base", tenant="stranger"), "base", ["a"]) == {}

    # --- full text of the engine's own --------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("query", "wanted"),
        [
            ("возмещают ли проезд", ["travel"]),
            ("ПРОЕЗДА", ["travel"]),
            ("еще о расчете", ["yo"]),
            ("employee", ["english"]),
            ("手册", ["chinese"]),
            ("工", ["chinese"]),
            ("проезд или handbook", ["english", "travel"]),
            ("и в на", []),
            ("самолёт", []),
        ],
    )
    async def test_full_text_finds_any_word_in_any_form(
        self, engine: SearchEngine, query: str, wanted: list[str]
    ) -> None:
        if not needs(engine, Capability.FULLTEXT):
            pytest.skip("has no full text search of its own")
        texts = {
            "travel": "Расходы на «Проезд» возмещают после возвращения.",
            "yo": "Ещё раз о расчёте отпускных.",
            "english": "The handbook is for all employees.",
            "chinese": "员工手册：报销制度",
        }
        await engine.write(scope("base"), [row(name, text) for name, text in texts.items()])
        hits = await cast(FulltextEngine, engine).search_fulltext(scope("base"), query, top_k=10)
        assert sorted(ids(hits)) == wanted
        assert all(hit.score > 0 and hit.document_id == "doc" for hit in hits)

    async def test_full_text_is_filtered_before_the_cut(self, engine: SearchEngine) -> None:
        if not needs(engine, Capability.FULLTEXT):
            pytest.skip("has no full text search of its own")
        reader = cast(FulltextEngine, engine)
        theirs = scope("base", tenant="b")
        await engine.write(theirs, [row(f"x{n}", "билет билет билет", tenant="b") for n in range(60)])
        await engine.write(
            scope("base", "other"),
            [
                row("on", "билет и чек", document="d1", tags=("t",)),
                row("off", "билет билет", enabled=False, document="d1"),
                row("elsewhere", "билет", document="d2"),
                row("on", "билет", base="other"),
            ],
        )

        async def found(where: Scope, top_k: int = 5) -> list[str]:
            return sorted(ids(await reader.search_fulltext(where, "билеты", top_k=top_k)))

        assert await found(scope("base")) == ["elsewhere", "on"]
        assert await found(scope("base", documents=["d1"])) == ["on"]
        assert await found(scope("base", tags=["t"])) == ["on"]
        assert await found(scope("base", documents=[])) == []
        assert await found(scope("base", include_disabled=True)) == ["elsewhere", "off", "on"]
        assert await found(scope("other")) == ["on"]
        assert await found(scope("never written")) == []
        await engine.set_enabled(scope("base"), "base", {"off": True})
        assert await found(scope("base")) == ["elsewhere", "off", "on"]
        await engine.write(scope("base"), [row("on", "чек", document="d1")])
        assert await found(scope("base")) == ["elsewhere", "off"]
        await engine.delete_documents(scope("base"), "base", ["d2"])
        assert await found(scope("base")) == ["off"]
        await engine.copy_base(scope("base", "copy"), "base", "copy", {"off": "copied"})
        assert await found(scope("copy")) == ["copied"]

    async def test_full_text_has_a_total_order(self, engine: SearchEngine) -> None:
        if not needs(engine, Capability.FULLTEXT):
            pytest.skip("has no full text search of its own")
        names = [f"c{n:02}" for n in range(30)]
        shuffled = random.Random(5).sample(names, len(names))
        await engine.write(scope("base"), [row(name, "билет") for name in shuffled])
        hits = await cast(FulltextEngine, engine).search_fulltext(scope("base"), "билет", top_k=7)
        assert ids(hits) == names[:7]

    async def test_hostile_queries_of_full_text_are_data(self, engine: SearchEngine) -> None:
        """Other parsers see other words in them; none fails, and what names a plain word finds it."""
        if not needs(engine, Capability.FULLTEXT):
            pytest.skip("has no full text search of its own")
        case = json.loads((CASES / "hostile_queries.json").read_text(encoding="utf-8"))
        await engine.write(scope("base"), [row(name, text, [1, 0]) for name, text in case["chunks"].items()])
        reader = cast(FulltextEngine, engine)
        for query in [*case["queries"], "билет' | '", "\ud800", "\\'", "a <-> b", "билет:*", "!билет & чек"]:
            found = ids(await reader.search_fulltext(scope("base"), query, top_k=10))
            if "билет" in query:
                assert {"k1", "k5"} <= set(found), query
        long = " ".join(f"билет{n}" for n in range(2000))
        assert ids(await reader.search_fulltext(scope("base"), f"税 {long}", top_k=10)) == ["k3"]
        assert await reader.search_fulltext(scope("base"), "", top_k=10) == []
        assert len(await engine.chunk_ids(scope("base"), "base")) == 6
