"""Which templates people may write themselves, what must stand in each, and how a text would look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from opora.domain.errors import InvalidInput, NotFound
from opora.prompt.library import Template, templates
from opora.prompt.placeholders import placeholders, render
from opora.text.fold import clean

MAX_CHARS = 20_000
CHANGEABLE = ("system_prompt", "context_template", "rewrite", "intent_prompts", "fallback")
"""Files whose entries a tenant or an agent may replace."""
SHOWN = ("generate_session_title", "keywords_extraction", "generate_questions", "generate_summary", "graph_extraction")
"""Files that are shown beside them, and not changed."""
REQUIRED: Mapping[str, frozenset[str]] = MappingProxyType(
    {"passages": frozenset({"query", "contexts"}), "rewrite_user": frozenset({"query"})}
)
"""Placeholders without which a template could not do its work, by its id."""
SAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "query": "When are travel costs paid back?",
        "rewritten_query": "When are the costs of a business trip paid back?",
        "contexts": '<context id="c1" title="Travel rules">\nCosts are paid back after the trip.\n</context>',
        "conversation": "user: Hello\nassistant: Hello! What would you like to know?",
        "language": "English",
        "current_time": "2026-01-02 03:04 UTC",
    }
)
"""What a preview is filled with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A template with the file that it stands in."""

    group: str
    template: Template
    can_change: bool


def entries() -> list[Entry]:
    """All templates that are shown, in the order of their files."""
    return [
        Entry(group=name, template=template, can_change=name in CHANGEABLE)
        for name in (*CHANGEABLE, *SHOWN)
        for template in templates(name)
    ]


def entry(template_id: str) -> Entry:
    """Raises `NotFound` for an id that no template has."""
    for one in entries():
        if one.template.template_id == template_id:
            return one
    raise NotFound("There is no such prompt template.", details={"template_id": template_id})


def checked_text(template_id: str, text: str) -> str:
    """The text as it may replace a template. Raises `InvalidInput` that says what is missing."""
    one = entry(template_id)
    if not one.can_change:
        raise InvalidInput.of("template_id", f"The template '{template_id}' is shown, and not changed.")
    cleaned = clean(text).strip()
    if not cleaned:
        raise InvalidInput.of("text", "A template needs a text.", hint="Delete your own text to use the built-in one.")
    if len(cleaned) > MAX_CHARS:
        raise InvalidInput.of("text", f"A template has at most {MAX_CHARS:,} characters.")
    missing = sorted(REQUIRED.get(template_id, frozenset()) - placeholders(cleaned))
    if missing:
        names = ", ".join(f"{{{name}}}" for name in missing)
        raise InvalidInput.of(
            "text", f"The template '{template_id}' must hold {names}.", hint="Put it where it belongs."
        )
    unknown = sorted(placeholders(cleaned) - SAMPLES.keys())
    if unknown:
        raise InvalidInput.of(
            "text",
            f"Nothing is known to put in the place of {', '.join(f'{{{name}}}' for name in unknown)}.",
            hint=f"Known are: {', '.join(f'{{{name}}}' for name in SAMPLES)}. Other braces stay as they are.",
        )
    return cleaned


def checked_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """Several of them, by template id."""
    return {template_id: checked_text(template_id, text) for template_id, text in texts.items()}


def preview(text: str, values: Mapping[str, str] | None = None) -> str:
    """The text filled with samples, or with ``values`` in their place."""
    return render(text, {**SAMPLES, **(values or {})})
