"""The templates: ids, languages, placeholders."""

from __future__ import annotations

import re

import pytest

from opora.domain.errors import NotFound
from opora.domain.question import Intent
from opora.prompt.fixed import fixed_text
from opora.prompt.library import LANGUAGES, names, template_text, templates

KNOWN = {"query", "rewritten_query", "contexts", "conversation", "language", "current_time", "items", "text"}
KNOWN |= {"content", "title", "name", "count", "tags", "new_tags"}
REQUIRED = {
    ("system_prompt", ""): set(),
    ("context_template", ""): {"query", "contexts", "language"},
    ("rewrite", "rewrite_user"): {"conversation", "query", "language"},
    ("generate_session_title", ""): {"query", "language"},
    ("keywords_extraction", "keywords_user"): {"query"},
    ("memory", ""): {"items"},
    ("generate_questions", ""): {"content", "count", "language"},
    ("generate_summary", ""): {"content", "language"},
    ("generate_table_summary", ""): {"content", "language"},
    ("generate_kb_description", ""): {"content", "language"},
    ("beside", "quoted_context"): {"text"},
    ("beside", "attachments"): {"text"},
}


def test_the_described_files_are_there() -> None:
    assert set(names()) == {
        "system_prompt",
        "context_template",
        "rewrite",
        "intent_prompts",
        "fallback",
        "generate_session_title",
        "keywords_extraction",
        "generate_questions",
        "generate_summary",
        "generate_table_summary",
        "generate_tags",
        "graph_extraction",
        "generate_kb_description",
        "memory",
        "beside",
    }


@pytest.mark.parametrize("name", names())
def test_every_entry_speaks_every_language_and_names_known_placeholders_only(name: str) -> None:
    ids = [entry.template_id for entry in templates(name)]
    assert len(ids) == len(set(ids))
    assert sum(entry.is_default for entry in templates(name)) <= 1
    for entry in templates(name):
        assert set(entry.texts) == set(LANGUAGES)
        for text in entry.texts.values():
            assert text.strip()
            assert set(re.findall(r"\{([a-z_]+)\}", text)) <= KNOWN


@pytest.mark.parametrize(("template", "needed"), REQUIRED.items())
@pytest.mark.parametrize("language", LANGUAGES)
def test_templates_use_what_they_are_for(template: tuple[str, str], needed: set[str], language: str) -> None:
    text = template_text(*template, language=language)
    assert needed <= set(re.findall(r"\{([a-z_]+)\}", text))


def test_intent_prompts_are_named_by_their_intents() -> None:
    searched = {Intent.KB_SEARCH, Intent.CLARIFICATION, Intent.SUMMARIZE, Intent.UNKNOWN}
    assert {Intent(entry.template_id) for entry in templates("intent_prompts")} == set(Intent) - searched


def test_a_tenants_own_text_comes_first_and_an_unknown_language_is_english() -> None:
    assert template_text("fallback", language="ru", overrides={"fallback_response": "Наш текст"}) == "Наш текст"
    assert fixed_text("truncated_hint", "fr") == fixed_text("truncated_hint", "en")
    assert fixed_text("fallback_response", "ru") != fixed_text("fallback_response", "en")


def test_what_is_not_there_is_an_error() -> None:
    for wrong in (("no_such_file", ""), ("../secrets", ""), ("fallback", "no_such_entry")):
        with pytest.raises(NotFound):
            template_text(*wrong)
