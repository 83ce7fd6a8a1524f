"""How many chunks a one-sentence edit re-embeds, greedy packing beside ours: ``python -m benchmarks.edits [FILE ...]``.

A sentence is inserted, deleted or replaced at a random place; chunks whose ids were not there before are counted.
Texts are made up in Russian, English and Chinese; files (.txt, .md, or .jsonl with a ``text`` field) are added as
they are. The same seed gives the same figures.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from opora.domain.knowledge import (
    CHUNK_OVERLAP,
    CHUNK_SIZE,
    Block,
    BlockKind,
    Chunk,
    ChunkingConfig,
    Document,
    ParsedDocument,
)
from opora.ingest.split import StructureSplitter
from opora.text.sentences import sentence_spans

SEED = 20260101
DOCUMENTS = 12
EDITS = 40
PARAGRAPHS = 30
FILE_CHARS = 30_000
Prose = list[list[str]]
Ids = Counter[str]

# A paragraph is heading, when it begins so; headings are not edited.
_HEADING = "#"
_LANGUAGES = {
    "ru": ("о", "срок отчёт приказ расход директор отдел проезд билет договор сумма аванс остаток работник", " ", "."),
    "en": ("the", "term report order cost manager office trip ticket contract amount advance balance staff", " ", "."),
    "zh": ("的", "期限 报告 命令 费用 主管 部门 差旅 票据 合同 金额 预付款 余额 员工", "", "。"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    chunks: int
    fill: float
    p50: int
    p95: int
    p99: int
    most: int
    above_three: float


def made_up(language: str, chance: random.Random, paragraphs: int = PARAGRAPHS) -> Prose:
    """Paragraphs of 1 to 9 sentences, sentences of 4 to 22 words."""
    return [[_sentence(language, chance) for _ in range(chance.randint(1, 9))] for _ in range(paragraphs)]


def _sentence(language: str, chance: random.Random) -> str:
    small, nouns, blank, stop = _LANGUAGES[language]
    words = [chance.choice(nouns.split()) for _ in range(chance.randint(4, 22))]
    words[2:2] = [small]
    return f"{blank.join(words).capitalize()}{blank}{chance.randint(1, 999)}{stop}"


def from_file(path: Path, chance: random.Random) -> Iterator[Prose]:
    """Stretches of a file, each from a random paragraph on."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        text = "\n\n".join(json.loads(line)["text"] for line in text.splitlines() if line)
    paragraphs = [part.strip() for part in text.split("\n\n") if part.strip()]
    while True:
        first = chance.randrange(max(1, len(paragraphs) - 30))
        prose: Prose = []
        taken = 0
        for paragraph in paragraphs[first:]:
            spans = [(0, len(paragraph))] if paragraph.startswith(_HEADING) else sentence_spans(paragraph)
            prose.append([paragraph[begin:end] for begin, end in spans])
            taken += len(paragraph)
            if taken > FILE_CHARS:
                break
        yield prose


def edited(prose: Prose, pool: list[str], chance: random.Random) -> Prose:
    copy = [list(paragraph) for paragraph in prose]
    paragraph = chance.choice([part for part in copy if not part[0].startswith(_HEADING)])
    place = chance.randrange(len(paragraph))
    kind = chance.choice(("insert", "delete", "replace"))
    if kind == "insert":
        paragraph.insert(place, chance.choice(pool))
    elif kind == "delete":
        del paragraph[place]
    else:
        paragraph[place] = chance.choice(pool)
    return [part for part in copy if part]


def ours(prose: Prose) -> list[Chunk]:
    blocks = []
    for paragraph in prose:
        blank = "" if paragraph[0][-1] in "。！？；" else " "
        is_heading = paragraph[0].startswith(_HEADING)
        level = len(paragraph[0]) - len(paragraph[0].lstrip(_HEADING)) if is_heading else 0
        kind = BlockKind.HEADING if is_heading else BlockKind.PARAGRAPH
        blocks.append(Block(kind=kind, level=level, text=blank.join(paragraph)))
    parsed = ParsedDocument(blocks=tuple(blocks), file_type="md")
    return StructureSplitter().split(parsed, ChunkingConfig(), owner=_OWNER)


def our_ids(prose: Prose) -> tuple[Ids, list[int]]:
    chunks = ours(prose)
    return Counter(chunk.chunk_id for chunk in chunks), [len(chunk.content) for chunk in chunks]


def greedy_ids(prose: Prose) -> tuple[Ids, list[int]]:
    """Sentences packed from the left as long as they fit, the last ones that fit the overlap repeated."""
    chunks: list[str] = []
    held: list[str] = []
    fresh = False
    for sentence in (sentence for paragraph in prose for sentence in paragraph):
        if fresh and sum(map(len, held)) + len(held) + len(sentence) > CHUNK_SIZE:
            chunks.append(" ".join(held))
            while held and sum(map(len, held)) + len(held) - 1 > CHUNK_OVERLAP:
                held = held[1:]
        held = [*held, sentence]
        fresh = True
    chunks.append(" ".join(held))
    return Counter(chunks), [len(chunk) for chunk in chunks]


def measure(
    texts: Iterator[Prose], split: Callable[[Prose], tuple[Ids, list[int]]], *, documents: int, edits: int
) -> Figures:
    chance = random.Random(SEED)
    changed: list[int] = []
    lengths: list[int] = []
    for _ in range(documents):
        prose = next(texts)
        pool = [sentence for paragraph in next(texts) for sentence in paragraph if not sentence.startswith(_HEADING)]
        before, found = split(prose)
        lengths += found
        for _ in range(edits):
            after, _ = split(edited(prose, pool, chance))
            changed.append((after - before).total())
    changed.sort()
    return Figures(
        chunks=len(lengths),
        fill=sum(lengths) / len(lengths) / CHUNK_SIZE,
        p50=changed[len(changed) // 2],
        p95=changed[int(len(changed) * 0.95)],
        p99=changed[int(len(changed) * 0.99)],
        most=changed[-1],
        above_three=sum(number > 3 for number in changed) / len(changed),
    )


def run(files: list[Path], *, documents: int = DOCUMENTS, edits: int = EDITS) -> dict[str, dict[str, float]]:
    """Figures by text and way of cutting; a pair of the same name is measured over the same edits."""
    results: dict[str, dict[str, float]] = {}
    for name, source in _sources(files).items():
        for way, split in (("greedy", greedy_ids), ("content-defined", our_ids)):
            figures = measure(source(random.Random(SEED)), split, documents=documents, edits=edits)
            results[f"{name}, {way}"] = {field: getattr(figures, field) for field in Figures.__slots__}
    return results


def _sources(files: list[Path]) -> dict[str, Callable[[random.Random], Iterator[Prose]]]:
    def endless(language: str) -> Callable[[random.Random], Iterator[Prose]]:
        return lambda chance: iter(lambda: made_up(language, chance), None)

    sources = {f"made-up {language}": endless(language) for language in _LANGUAGES}
    for path in files:
        sources[f"{path.parent.name}/{path.name}"] = lambda chance, path=path: from_file(path, chance)  # type: ignore[misc]
    return sources


_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_OWNER = Document(
    document_id="document",
    base_id="base",
    tenant_id="tenant",
    title="",
    file_name="",
    file_type="md",
    file_size=0,
    file_hash="",
    created_at=_NOW,
    updated_at=_NOW,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="texts to measure on, beside the made-up ones")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="documents of each text")
    parser.add_argument("--edits", type=int, default=EDITS, help="edits of each document")
    arguments = parser.parse_args()
    results = run(arguments.files, documents=arguments.documents, edits=arguments.edits)
    print(f"| text | {' | '.join(Figures.__slots__)} |\n|{'---|' * (len(Figures.__slots__) + 1)}")
    for name, figures in results.items():
        print(f"| {name} | {' | '.join(f'{value:.3g}' for value in figures.values())} |")
    print(json.dumps(results, ensure_ascii=False))


if __name__ == "__main__":
    main()
