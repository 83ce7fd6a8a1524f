"""Reads the rewriting model's reply, whatever it is wrapped in, and takes nothing from it that it does not clearly say.

Tried in order: JSON objects in the text after thinking is cut away, objects in Python's spelling, and single fields of
an object that is broken or cut short. A field's value counts only when its end is plain to see.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opora.domain.question import Intent
from opora.domain.search import MAX_QUERY_CHARS
from opora.text.json_reply import json_objects
from opora.text.thinking import reply_alone
from opora.understand.intents import normalise_intent

QUERY_FIELDS = ("rewrite_query", "rewritten_query", "rewritequery", "rewrittenquery", "rewrite", "query")
INTENT_FIELDS = ("intent", "query_intent", "queryintent", "intention")
IMAGE_FIELDS = ("image_description", "imagedescription", "image_caption")
OCR_FIELDS = ("ocr_text", "image_text", "ocr")
MAX_REPLY_CHARS = 100_000
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_NAMES = "|".join((*QUERY_FIELDS, *INTENT_FIELDS, *IMAGE_FIELDS, *OCR_FIELDS))
_FIELD = re.compile(rf"[\"'](?P<name>{_NAMES})[\"']\s*:\s*(?P<quote>[\"'])", re.IGNORECASE)
_FIELD_END = rf"(?=\s*,\s*[\"'](?:(?:{_NAMES})[\"']\s*:|[a-z_]{{2,}}\Z)|\s*,?\s*\}})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """``query`` is '' where the reply gives none that can be used: then the user's own words are searched."""

    query: str = ""
    intent: Intent = Intent.UNKNOWN
    image_description: str = ""


def read_reply(raw: str) -> Reply:
    """Never raises: what can't be read is left empty."""
    text = reply_alone(raw[:MAX_REPLY_CHARS].lstrip("\ufeff"))
    for fields in (_last_object(text), _literal_object(text), _fields(text)):
        if fields:
            return _reply(fields)
    return Reply()


def _last_object(text: str) -> Mapping[str, Any]:
    """The last JSON object that has one of our fields: what comes before it is talk or an example."""
    found: Mapping[str, Any] = {}
    for candidate in json_objects(text):
        fields = _known(candidate)
        if fields:
            found = fields
    return found


def _literal_object(text: str) -> Mapping[str, Any]:
    """An object in Python's spelling: single quotes, a comma at the end."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return {}
    try:
        value = ast.literal_eval(text[start : end + 1].strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return {}
    return _known(value) if isinstance(value, dict) else {}


def _fields(text: str) -> Mapping[str, Any]:
    """Single fields of a broken object. Of those that were cut off, only an image's description is kept."""
    found: dict[str, Any] = {}
    for match in _FIELD.finditer(text):
        name = match["name"].lower()
        rest = text[match.end() :]
        after = "" if name in INTENT_FIELDS else _FIELD_END
        end = re.search(re.escape(match["quote"]) + after, rest, re.IGNORECASE)
        if end is not None:
            found.setdefault(name, _unescaped(rest[: end.start()]))
        elif name in (*IMAGE_FIELDS, *OCR_FIELDS):
            found.setdefault(name, _unescaped(rest.rstrip("\\")))
    return found


def _known(fields: Mapping[Any, Any]) -> dict[str, Any]:
    lowered = {key.strip().lower(): value for key, value in fields.items() if isinstance(key, str)}
    names = (*QUERY_FIELDS, *INTENT_FIELDS, *IMAGE_FIELDS, *OCR_FIELDS)
    return {name: lowered[name] for name in names if name in lowered}


def _reply(fields: Mapping[str, Any]) -> Reply:
    query = _first_text(fields, QUERY_FIELDS)
    described = [_first_text(fields, IMAGE_FIELDS), _first_text(fields, OCR_FIELDS)]
    return Reply(
        query=query if len(query) <= MAX_QUERY_CHARS else "",
        intent=normalise_intent(next((fields[name] for name in INTENT_FIELDS if name in fields), None)),
        image_description="\n".join(dict.fromkeys(text for text in described if text)),
    )


def _first_text(fields: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str):
            text = _UNSAFE.sub("", value).strip()
            if text:
                return text
    return ""


def _unescaped(text: str) -> str:
    """A JSON string's inside as text; quotes inside that nobody escaped stay."""
    try:
        return str(json.loads('"' + re.sub(r'(?<!\\)"', r"\"", text).replace("\n", "\\n") + '"'))
    except ValueError:
        return text
