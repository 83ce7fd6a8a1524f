"""The commands that the README and the guides show are run, or say why not; their settings are taken."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from opora.bootstrap.models import make_models
from opora.settings import Settings

ROOT = Path(__file__).parents[2]
GUIDES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md") if path.name != "cli.md")]
ENVIRONMENT = {
    str(field.validation_alias or f"OPORA_{name}".upper()): name for name, field in Settings.model_fields.items()
}


@pytest.mark.parametrize("document", GUIDES)
async def test_the_commands_of_a_guide_run(document: str, blocks: Any, app: Any, shell: Any) -> None:
    """One after the other, in one folder, as a reader would type them who has come here by the README."""
    if document != "README.md":
        await shell.run("opora ingest my-documents")
    for block in blocks(document):
        if block.language != "sh" or block.comment.startswith(("not run: ", "settings: ")):
            continue
        printed = None
        for command in block.commands:
            printed = await shell.run(command)
            assert printed, f"{document}:{block.line}: nothing came of {command}"
        if block.comment.startswith("keep "):
            _, name, path = block.comment.split()
            shell.keep(name, path, printed)
        await app.jobs.idle()


@pytest.mark.parametrize("document", GUIDES)
async def test_settings_that_a_guide_shows_are_taken(
    document: str, blocks: Any, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for block in blocks(document):
        if block.language != "sh" or not block.comment.startswith("settings: "):
            continue
        *exports, last = block.commands
        assert last == "opora serve", f"{document}:{block.line}"
        with monkeypatch.context() as environment:
            environment.setenv("OPORA_DATA", str(place / "data"))
            names = []
            for export in exports:
                keyword, assignment = shlex.split(export)
                name, _, value = assignment.partition("=")
                assert keyword == "export"
                environment.setenv(name, value)
                names.append(name)
            settings = Settings()
        assert set(names) <= set(ENVIRONMENT), f"{document}:{block.line}"
        assert settings.model_fields_set >= {ENVIRONMENT[name] for name in names}
        settings.check_bind()
        if settings.embedding != "openai":
            # An embeddings endpoint is asked for the size of its vectors at once; there is none here.
            async with AsyncExitStack() as stack:
                models = await make_models(settings.model_copy(update={"embedding": "none"}), stack)
                assert (models.chat is not None) == bool(settings.chat_url)


@pytest.mark.parametrize("document", GUIDES)
def test_what_is_not_run_says_why(document: str, blocks: Any) -> None:
    for block in blocks(document):
        if block.comment.startswith("not run:"):
            assert len(block.comment.removeprefix("not run:").strip()) > 10
        if block.language == "":
            raise AssertionError(f"{document}:{block.line}: a block without a language is neither run nor passed over")


def test_the_two_commands_are_targets_of_the_makefile(blocks: Any, text: Callable[[str], str]) -> None:
    shown = {command for block in blocks("README.md") for command in block.commands if command.startswith("make ")}
    assert shown == {"make run", "make test"}
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))
    used = set(re.findall(r"`make ([a-z]+)`", text("README.md") + text("CONTRIBUTING.md")))
    assert {"run", "test"} <= targets
    assert used <= targets


def test_the_answer_that_the_readme_shows_stands_in_the_samples(blocks: Any, text: Callable[[str], str]) -> None:
    shown = next(block.text for block in blocks("README.md") if "Question:" in block.text)
    source = " ".join(re.sub(r"[#*_>]", " ", text("samples/sources/travel-rules.md")).split())
    quotes = [line for line in shown.splitlines() if line.startswith("> ")]
    assert quotes
    for line in quotes:
        assert line.removeprefix("> ").rpartition("[")[0].strip() in source
    question = re.search(r"Question: (.*)", shown)
    assert question is not None
    assert question[1] in text("samples/README.md")
    assert question[1] in text("src/opora/cli/demo.py")


def test_hooks_run_tools_of_the_environment_and_fetch_nothing(text: Callable[[str], str]) -> None:
    hooks = yaml.safe_load(text(".pre-commit-config.yaml"))
    assert [repository["repo"] for repository in hooks["repos"]] == ["local"]
    for hook in hooks["repos"][0]["hooks"]:
        assert hook["language"] == "system"
        tool = hook["entry"].split()[0]
        assert tool in {".venv/bin/ruff", ".venv/bin/mypy", ".venv/bin/lint-imports"}
        assert tool.replace(".venv/bin/", "$(BIN)/") in text("Makefile")
