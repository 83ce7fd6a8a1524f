"""What stands around every page of the server's own: head, name, ways to the other pages, languages."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.responses import HTMLResponse, Response

from opora.api.pages.html import Html, el, joined
from opora.api.pages.words import LANGUAGES, TAGS, Words

_HEADERS = {
    "Cache-Control": "no-store",
    # A form that is sent says where it comes from; without that it would be taken for one of another site.
    "Referrer-Policy": "same-origin",
}


def respond(page: Html, *, status: int = 200) -> Response:
    return HTMLResponse(f"<!DOCTYPE html>{page}".encode("utf-8", "replace"), status_code=status, headers=_HEADERS)


def whole(words: Words, *, title: str, path: str, query: Mapping[str, str], main: Html) -> Html:
    """``query`` is kept where the language is changed."""
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", f"{title} · Opora"),
        el("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        el("link", rel="stylesheet", href="/static/theme.css"),
        el("link", rel="stylesheet", href="/static/pages.css"),
        el("script", type="module", src="/static/pages.js"),
    )
    body = el(
        "body",
        el("a", words("skip"), class_="skip", href="#content"),
        _header(words, path, query),
        el("main", main, id="content", tabindex="-1"),
    )
    return el("html", head, body, lang=words.tag)


def _header(words: Words, path: str, query: Mapping[str, str]) -> Html:
    ways = (("/", "chat"), ("/search", "search"), ("/presentation", "how"))
    links = [
        el(
            "a",
            words(name),
            href=_address(to, {"lang": words.language} if to != "/" else {}),
            aria_current=_now(to, path),
        )
        for to, name in ways
    ]
    languages = [
        el(
            "a",
            label,
            href=_address(path, {**query, "lang": code}),
            lang=TAGS[code],
            hreflang=TAGS[code],
            aria_current="true" if code == words.language else None,
        )
        for code, label in LANGUAGES.items()
    ]
    return el(
        "header",
        el("a", el("img", src="/static/icon.svg", alt="", width="28", height="28"), "Opora", class_="brand", href="/"),
        el("nav", joined(*links), aria_label=words("pages")),
        el("nav", joined(*languages), class_="languages", aria_label=words("language")),
    )


def _now(to: str, path: str) -> str | None:
    return "page" if to == path else None


def _address(path: str, query: Mapping[str, str]) -> str:
    kept = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(kept, errors='replace')}" if kept else path
