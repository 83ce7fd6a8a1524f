"""Loads the prompt templates: YAML files of entries with an id and a text for each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from opora.domain.errors import NotFound

FOLDER = Path(__file__).with_name("templates")
LANGUAGES = ("ru", "en", "zh")
DEFAULT_LANGUAGE = "en"
LANGUAGE_NAMES: Mapping[str, str] = MappingProxyType({"ru": "русский", "en": "English", "zh": "中文"})

Overrides = Mapping[str, str]
"""A tenant's own texts by template id; they stand for every language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    template_id: str
    texts: Mapping[str, str]
    is_default: bool = False

    def text(self, language: str) -> str:
        return self.texts.get(language) or self.texts[DEFAULT_LANGUAGE]


@cache
def templates(name: str) -> tuple[Template, ...]:
    """The entries of a file (``system_prompt``, ``rewrite``, ...); raises `NotFound` for a file that is not there."""
    import yaml

    path = FOLDER / f"{name}.yaml"
    if name not in names():
        raise NotFound(f"There are no prompt templates '{name}'.", hint=f"There are {', '.join(names())}.")
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(
        Template(template_id=entry["id"], texts=dict(entry["i18n"]), is_default=bool(entry.get("default")))
        for entry in entries
    )


@cache
def names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def template_text(
    name: str, template_id: str = "", *, language: str = DEFAULT_LANGUAGE, overrides: Overrides | None = None
) -> str:
    """The text of one entry, or of the file's default entry; a tenant's own text comes first."""
    template = _entry(name, template_id)
    own = (overrides or {}).get(template.template_id, "")
    return own or template.text(language)


def _entry(name: str, template_id: str) -> Template:
    entries = templates(name)
    for entry in entries:
        if entry.template_id == template_id or (not template_id and entry.is_default):
            return entry
    raise NotFound(f"The templates '{name}' have no entry '{template_id or 'marked as default'}'.")
