"""An agent is chosen for the questions to come; the choice is kept, and shown only where there is one to make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page, expect

if TYPE_CHECKING:
    from conftest import FakeApi

pytestmark = pytest.mark.browser

DONE = [{"response_type": "answer", "done": True}, {"response_type": "complete", "data": {"finish": "complete"}}]
HOSTILE = "<img src=x onerror=alert(1)> \u202e" + "я" * 200


def agent(agent_id: str, name: str) -> dict[str, Any]:
    return {"id": agent_id, "name": name, "description": "", "is_builtin": False}


def ask(page: Page, api: FakeApi) -> dict[str, Any]:
    api.script = [{"response_type": "answer", "content": "Да."}, *DONE]
    page.fill("#question", "Какой срок?")
    page.press("#question", "Enter")
    expect(page.locator(".answer").last).to_have_attribute("aria-busy", "false")
    return dict(api.calls_to("POST", "knowledge-chat")[-1])


def test_without_agents_of_ones_own_there_is_nothing_to_choose(page: Page, api: FakeApi) -> None:
    page.goto("/")
    expect(page.locator("#base")).to_be_visible()
    expect(page.get_by_label("Агент")).to_be_hidden()
    assert "agent_id" not in ask(page, api)


def test_the_chosen_agent_is_asked_and_kept_over_a_reload(page: Page, api: FakeApi) -> None:
    api.agents = [agent("a-1", "Юрист"), agent("a-2", HOSTILE)]
    page.goto("/")
    choice = page.get_by_label("Агент")
    expect(choice).to_be_visible()
    assert choice.locator("option").all_text_contents()[:2] == ["Быстрый ответ", "Юрист"]
    assert "agent_id" not in ask(page, api)
    choice.select_option("a-1")
    assert ask(page, api)["agent_id"] == "a-1"
    page.reload()
    expect(choice).to_have_value("a-1")
    choice.select_option("a-2")
    assert page.locator("#agents img").count() == 0
    assert ask(page, api)["agent_id"] == "a-2"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_agent_that_is_gone_is_chosen_no_more(page: Page, api: FakeApi) -> None:
    api.agents = [agent("a-1", "Юрист"), agent("a-2", "Кадры")]
    page.goto("/")
    page.get_by_label("Агент").select_option("a-1")
    api.agents = [agent("a-2", "Кадры")]
    page.reload()
    expect(page.get_by_label("Агент")).to_have_value("")
    assert "agent_id" not in ask(page, api)
