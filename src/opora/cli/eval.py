"""``opora eval``: how well retrieval ranks on a dataset with known answers, and whether a change made it worse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from opora.evaluate.dataset import Dataset
    from opora.evaluate.evaluation import Evaluation
    from opora.settings import Settings

GATE_FAILED = 6
"""The exit code when a figure misses a limit of ``--gate``; all other failures have the codes of `opora.cli.exits`."""

app = typer.Typer(name="eval", help="Measure retrieval on questions with known answers.", no_args_is_help=True)

DatasetOption = Annotated[
    Path, typer.Option("--dataset", help="Folder with passages.jsonl, queries.jsonl and qrels.tsv, or BEIR's names.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def run(
    dataset: DatasetOption,
    gate: Annotated[Path | None, typer.Option(help="YAML or JSON of figures to keep; exit code 6 if not.")] = None,
    compare: Annotated[Path | None, typer.Option(help="An earlier run, written with --out.")] = None,
    off_topic: Annotated[
        list[Path] | None, typer.Option(help="Folder whose questions these passages do not answer; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the hybrid arm as a TREC run, the others beside it.")] = None,
    work: Annotated[Path | None, typer.Option(help="Folder that keeps vectors between runs.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask every question of a dataset by each arm, in a data folder that is thrown away."""
    import asyncio

    from opora.cli.failures import log_for_people, reported
    from opora.cli.session import load_settings, print_json
    from opora.cli.words import say
    from opora.domain.errors import InvalidInput
    from opora.evaluate.dataset import read_dataset, read_queries
    from opora.evaluate.limits import failures, read_limits
    from opora.evaluate.report import as_dict, table
    from opora.evaluate.runs import path_of, write_run

    settings = load_settings()
    log_for_people(settings)
    with reported(settings, interrupted="Vectors made so far are kept: the next run takes them up."):
        limits = read_limits(gate) if gate else None
        if limits and limits.max_drop and not compare:
            raise InvalidInput.of("compare", "'max_drop' needs an earlier run.", hint="Give one with --compare.")
        data = read_dataset(dataset)
        foreign = {folder.resolve().name: tuple(read_queries(folder).values()) for folder in off_topic or ()}
        seen = asyncio.run(_evaluate(settings, data, compare, foreign if off_topic else None, work))
        if out:
            for arm, ranked in seen.rankings.items():
                write_run(path_of(out, arm), ranked, f"opora-{arm}")
        missed = failures(limits, seen) if limits else None
    if as_json:
        print_json(as_dict(seen, missed))
    else:
        for line in table(seen):
            say(line)
    for sentence in missed or ():
        say(sentence, to_people=True)
    if missed:
        raise typer.Exit(GATE_FAILED)


@app.command(name="compare")
def compare_runs(
    new: Annotated[Path, typer.Argument(help="The run to judge.")],
    old: Annotated[Path, typer.Argument(help="The run to compare it with.")],
    dataset: DatasetOption,
    as_json: JsonOption = False,
) -> None:
    """Compare two TREC runs over one dataset, whoever made them, without searching anything."""
    from opora.cli.failures import reported
    from opora.cli.session import load_settings, print_json
    from opora.cli.words import say
    from opora.evaluate.dataset import read_dataset
    from opora.evaluate.evaluation import changes
    from opora.evaluate.measures import by_query, means
    from opora.evaluate.report import changes_dict, changes_table, figures_table
    from opora.evaluate.runs import read_run

    with reported(load_settings()):
        data = read_dataset(dataset)
        runs = {"new": read_run(new), "old": read_run(old)}
        figures = {name: means(by_query(ranked, data.relevant)) for name, ranked in runs.items()}
        found = changes({"new": runs["new"]}, {"new": runs["old"]}, data.relevant)
    if as_json:
        shown: dict[str, Any] = {"dataset": data.name, "runs": figures, "changes": changes_dict(found)["new"]}
        print_json(shown)
        return
    for line in (*figures_table(figures), "", *changes_table(found)):
        say(line)


async def _evaluate(
    settings: Settings,
    data: Dataset,
    earlier: Path | None,
    off_topic: dict[str, tuple[str, ...]] | None,
    work: Path | None,
) -> Evaluation:
    from opora.bootstrap.bench import open_bench
    from opora.cli.words import say
    from opora.evaluate.evaluation import evaluate
    from opora.evaluate.runs import read_arms

    async with open_bench(settings, work) as bench:
        say(f"Embedding and indexing {len(data.passages):,} passages", to_people=True)
        async with bench.arms(data.passages) as arms:
            before = read_arms(earlier, arms.names) if earlier else None
            return await evaluate(
                data,
                arms,
                earlier=before,
                off_topic=off_topic,
                progress=lambda what: say(f"Asking {len(data.queries):,} questions: {what}", to_people=True),
            )
