"""The gate on a small base in three languages, with the real local model: the samples' questions and foreign ones."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.domain.search import SearchRequest
from opora.domain.stream import ResponseType
from opora.models.local_e5 import CARD
from opora.retrieve.gate import OperatingPoint, nothing_found
from opora.settings import Settings

SAMPLES = Path(__file__).parents[2] / "samples"
NOWHERE = "nowhere"
FOREIGN = (
    "Какая погода будет завтра в Томске?",
    "Who won the 2018 world cup?",
    "как приготовить борщ",
    "Сколько планет в Солнечной системе?",
    "How do I train a neural network?",
    "什么是量子力学？",
)


def questions() -> dict[str, bool]:
    """Those of the samples' README, and whether the answer stands somewhere."""
    text = (SAMPLES / "README.md").read_text("utf-8").partition("## Questions to try")[2]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", text, re.M)[1:]
    return {question: not where.startswith(NOWHERE) for question, where in rows}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[str, bool]]:
    """How each question ends, asked by itself of a base with all samples, and whether the gate alone lets it pass."""
    return asyncio.run(ask_all(tmp_path_factory.mktemp("samples"), (*questions(), *FOREIGN)))


async def ask_all(folder: Path, asked: tuple[str, ...]) -> dict[str, tuple[str, bool]]:
    app = await App.open(Settings(data=folder, embedding="local"))
    try:
        tenant = await app.access.tenant(LOCAL_PRINCIPAL)
        base = await app.bases.create(tenant, name="Samples")
        scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
        added = [
            await app.documents.add_file(scope, base.base_id, file_name=path.name, data=path.read_bytes())
            for path in sorted((SAMPLES / "documents").iterdir())
        ]
        await app.documents.wait(scope, [document.document_id for document in added], timeout=120)
        point = OperatingPoint(model_floor=CARD.vector_threshold)
        found = {}
        for question in asked:
            session = await app.sessions.create(scope)
            run = await app.chat.ask(scope, session.session_id, question)
            events = app.chat.follow(scope, session.session_id, run.assistant_message_id)
            (end,) = [event async for _, event in events if event.response_type is ResponseType.COMPLETE]
            stage = await app.search.search(scope, SearchRequest(query=question))
            passes = not nothing_found(question, stage.results, point).nothing_found
            found[question] = (end.data["finish"], passes)
        return found
    finally:
        await app.close()


def test_the_readme_asks_what_is_answered_and_what_is_not() -> None:
    asked = questions()
    assert len(asked) >= 14
    assert list(asked.values()).count(False) == 1


@pytest.mark.parametrize("question", [question for question, answered in questions().items() if answered])
def test_what_stands_in_the_samples_is_answered(outcomes: Mapping[str, tuple[str, bool]], question: str) -> None:
    assert outcomes[question] == ("complete", True)


@pytest.mark.parametrize("question", [*(q for q, answered in questions().items() if not answered), *FOREIGN])
def test_what_stands_nowhere_is_not(outcomes: Mapping[str, tuple[str, bool]], question: str) -> None:
    """The gate must say so by itself: with a chat model nobody comes after it who would."""
    assert outcomes[question] == ("nothing_found", False)
