"""The one way to HTML: elements of text that is escaped, unless it is an element itself."""

from __future__ import annotations

from html import escape

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})


class Html(str):
    """Markup; everything that is not of this class is text."""

    __slots__ = ()


Part = str | None
"""None is left out."""


def joined(*parts: Part, by: str = "") -> Html:
    """The parts as markup, text among them escaped."""
    return Html(escape(by).join(_shown(part) for part in parts if part is not None))


def el(tag: str, /, *children: Part, **attributes: str | bool | None) -> Html:
    """An element. ``class_`` and ``for_`` stand for those names, ``aria_label`` for aria-label; an attribute that is
    None or False is left out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value not in (None, False))
    if tag in _VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{joined(*children)}</{tag}>")


def _shown(part: str) -> str:
    return part if isinstance(part, Html) else escape(part)


def _attribute(key: str, value: str | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
