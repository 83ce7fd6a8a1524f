"""The benchmarks in the order in which they run, and the aims that their figures are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A module of this package with ``run(**arguments) -> dict``.

    ``folders`` names the argument that takes the folders of evaluation data; without data the module is left out.
    """

    name: str
    full: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    folders: str = ""

    def arguments(self, *, quick: bool, data: Sequence[Path]) -> dict[str, Any]:
        chosen = dict(self.quick if quick else self.full)
        return chosen | {self.folders: list(data)} if self.folders else chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a figure should be. ``path`` leads to it in the results of its benchmark."""

    what: str
    benchmark: str
    path: Sequence[str]
    most: float | None = None
    least: float | None = None
    unit: str = ""

    def is_met(self, value: float) -> bool:
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)

    def wanted(self) -> str:
        limit = f"≤ {self.most:g}" if self.most is not None else f"≥ {self.least:g}"
        return f"{limit} {self.unit}".strip()


BENCHMARKS: tuple[Benchmark, ...] = (
    Benchmark(name="startup", full={"with_clone": True}, quick={"only_version": True}),
    Benchmark(name="edits", full={"files": []}, quick={"files": [], "documents": 2, "edits": 4}),
    Benchmark(name="ingest_speed", quick={"sizes": [2, 4], "large_bytes": 0, "model_documents": 0}),
    Benchmark(name="faq_speed", quick={"sizes": [20], "model": False}),
    Benchmark(name="search_speed", full={"sizes": [10_000, 100_000]}, quick={"sizes": [1_000]}),
    Benchmark(name="search_overhead", quick={"sizes": [1_000], "queries": 5}),
    Benchmark(name="pipeline_speed", quick={"rounds": 50, "real_rounds": 5}),
    Benchmark(name="chat_speed", quick={"chunks": 100, "questions": 6}),
    Benchmark(name="retriever_doors", quick={"chunks": 100, "questions": 10}),
    Benchmark(name="other_doors", quick={"chunks": 100, "questions": 5}),
    Benchmark(name="worker_speed", quick={"workers": [1], "documents": 2}),
    Benchmark(name="pure_speed"),
    Benchmark(name="stream_speed", quick={"followers": 20, "events": 40}),
    Benchmark(name="stream_load", quick={"answers": 10, "words": 5, "replayed": 1_000}),
    Benchmark(name="keyword_quality", folders="folders"),
    Benchmark(name="retrieval_quality", folders="folders"),
)

AIMS: tuple[Aim, ...] = (
    Aim(
        what="from a clone to the first cited answer, without the download",
        benchmark="startup",
        path=["clone_to_answer_without_install_s"],
        most=120,
        unit="s",
    ),
    Aim(what="`opora --version`", benchmark="startup", path=["version_ms"], most=300, unit="ms"),
    Aim(what="a cold `opora search`", benchmark="startup", path=["cold_search_s"], most=2.5, unit="s"),
    Aim(
        what="idle memory of the server with its model",
        benchmark="startup",
        path=["serve_with_model_mib"],
        most=400,
        unit="MiB",
    ),
    *(
        Aim(
            what=f"chunks embedded again after a one-sentence edit, p95 ({language})",
            benchmark="edits",
            path=[f"made-up {language}, content-defined", "p95"],
            most=3,
        )
        for language in ("ru", "en", "zh")
    ),
    Aim(
        what="chunks a second at the largest size by those at the smallest",
        benchmark="ingest_speed",
        path=["linearity", "chunks_s ratio"],
        least=0.8,
    ),
    *(
        Aim(
            what=f"peak memory of {whose} over a 50 MB text file",
            benchmark="ingest_speed",
            path=["large file", figure],
            most=1024,
            unit="MiB",
        )
        for whose, figure in (("the service", "peak_mib"), ("the parser's process", "parser_peak_mib"))
    ),
    Aim(
        what="texts a second through a whole ingest by those of the model itself",
        benchmark="ingest_speed",
        path=["local model", "share"],
        least=0.9,
    ),
    Aim(
        what="FAQ entries a second through a whole import by the model's own texts a second",
        benchmark="faq_speed",
        path=["local model", "share"],
        least=0.9,
    ),
    Aim(
        what="an edited FAQ question until it is found, the slowest",
        benchmark="faq_speed",
        path=["local model", "edit_found_s"],
        most=1,
        unit="s",
    ),
    *(
        aim
        for rows in ("10000", "100000")
        for aim in (
            Aim(
                what=f"Opora's addition to its engine, {rows} chunks, p50",
                benchmark="search_overhead",
                path=[f"{rows} chunks", "own_addition_p50_ms"],
                most=3,
                unit="ms",
            ),
            Aim(
                what=f"Opora's addition on a 2% base beside {rows} chunks, p50",
                benchmark="search_overhead",
                path=[f"2% base beside {rows}", "own_addition_p50_ms"],
                most=3,
                unit="ms",
            ),
            Aim(
                what=f"recall@10 through the whole search, {rows} chunks",
                benchmark="search_overhead",
                path=[f"{rows} chunks", "recall_at_10"],
                least=0.999,
            ),
            Aim(
                what=f"the engine beside an exact NumPy scan, {rows} chunks",
                benchmark="search_speed",
                path=[rows, "whole_ratio"],
                most=2,
                unit="times",
            ),
            Aim(
                what=f"the engine on a 2% base beside {rows} chunks, p50",
                benchmark="search_speed",
                path=[rows, "small_ms"],
                most=3,
                unit="ms",
            ),
        )
    ),
    Aim(
        what="the pipeline's nine events with null plugins, p50",
        benchmark="pipeline_speed",
        path=["null plugins", "p50_ms"],
        most=0.3,
        unit="ms",
    ),
    Aim(
        what="a whole chat question beyond the query's embedding, p50",
        benchmark="chat_speed",
        path=["first in its session", "p50_ms"],
        most=8,
        unit="ms",
    ),
    *(
        Aim(
            what=f"what HTTP adds to a search of the retriever, {mode}, p50",
            benchmark="retriever_doors",
            path=[mode, "http_adds_p50_ms"],
            most=1.5,
            unit="ms",
        )
        for mode in ("semantic", "fulltext", "hybrid")
    ),
    *(
        Aim(
            what=f"what {name.upper()} adds to a search of the retriever, {mode}, p50",
            benchmark="other_doors",
            path=[mode, f"{name}_adds_p50_ms"],
            most=most,
            unit="ms",
        )
        for name, most in (("nats", 1.5), ("mcp", 4.0))
        for mode in ("semantic", "fulltext", "hybrid")
    ),
    *(
        Aim(
            what=f"a word of one of 500 answers at once, from the model to its reader, {name}",
            benchmark="stream_load",
            path=["whole", f"delay_{name}_ms"],
            most=most,
            unit="ms",
        )
        for name, most in (("p50", 2), ("p99", 10))
    ),
    Aim(
        what="a log of 10,000 events read again, p50",
        benchmark="stream_load",
        path=["replay", "replay_p50_ms"],
        most=100,
        unit="ms",
    ),
    Aim(
        what="the vector arm less an exact search, nDCG@10, worst set",
        benchmark="retrieval_quality",
        path=["worst", "vector_less_exact"],
        least=-0.5,
    ),
    *(
        Aim(
            what=f"the profile `{profile}` less the better arm, nDCG@10, worst set",
            benchmark="retrieval_quality",
            path=["worst", f"{arm}_less_better_arm"],
            least=0,
        )
        for arm, profile in (("hybrid", "described"), ("convex", "convex"))
    ),
    *(
        Aim(
            what=f"keyword search on {name} beside stemmed BM25, nDCG@10",
            benchmark="retrieval_quality",
            path=[name, "keyword_ndcg10"],
            least=least,
        )
        for name, least in (("xquad-ru", 95.2), ("fastapi-ru", 48.7))
    ),
    Aim(
        what="answerable questions that the gate refuses, worst set",
        benchmark="retrieval_quality",
        path=["worst", "gate_missed"],
        most=5,
        unit="%",
    ),
    Aim(
        what="off-topic questions that pass the gate, worst set",
        benchmark="retrieval_quality",
        path=["worst", "gate_false"],
        most=10,
        unit="%",
    ),
)
