"""Who asks a page and what: the fields of its form, a key among them where the server wants one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Form, Query, Request

from opora.api.errors import STATUS_AND_NUMBER
from opora.api.pages.html import Html, el, joined
from opora.api.pages.words import Words, words_for
from opora.api.principal import Opora
from opora.domain.errors import InvalidInput, ModelError, OporaError, Unauthenticated
from opora.domain.scope import Principal
from opora.domain.search import MAX_QUERY_CHARS, SearchMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """``caller`` is None where a key is needed and none, or a wrong one, was given."""

    words: Words
    caller: Principal | None
    needs_key: bool
    query: str
    mode: SearchMode
    document_id: str

    @property
    def method(self) -> str:
        """A key stands in no address."""
        return "post" if self.needs_key else "get"


async def _by_address(
    app: Opora,
    request: Request,
    q: Annotated[str, Query()] = "",
    search_type: Annotated[str, Query()] = "",
    lang: Annotated[str, Query()] = "",
    document: Annotated[str, Query()] = "",
) -> Asking:
    return _asking(app, request, q, search_type, lang, document, "")


async def _by_form(
    app: Opora,
    request: Request,
    q: Annotated[str, Form()] = "",
    search_type: Annotated[str, Form()] = "",
    lang: Annotated[str, Form()] = "",
    document: Annotated[str, Form()] = "",
    key: Annotated[str, Form()] = "",
) -> Asking:
    return _asking(app, request, q, search_type, lang, document, key)


Addressed = Annotated[Asking, Depends(_by_address)]
Sent = Annotated[Asking, Depends(_by_form)]


def _asking(app: Opora, request: Request, q: str, search_type: str, lang: str, document: str, key: str) -> Asking:
    caller: Principal | None = None
    try:
        app.access.authenticate(None)
        needs_key = False
    except Unauthenticated:
        needs_key = True
    try:
        caller = app.access.authenticate(key.strip() or request.headers.get("x-api-key"))
    except Unauthenticated:
        caller = None
    known = search_type in [mode.value for mode in SearchMode]
    return Asking(
        words=words_for(lang, request.headers.get("accept-language", "")),
        caller=caller,
        needs_key=needs_key,
        query=q,
        mode=SearchMode(search_type) if known else SearchMode.HYBRID,
        document_id=document,
    )


def key_field(asking: Asking) -> Html | None:
    """Never filled in by the server: what was sent is not sent back."""
    if not asking.needs_key:
        return None
    return el(
        "p",
        el("label", asking.words("key"), for_="key"),
        el("input", id="key", name="key", type="password", autocomplete="current-password", required=True),
        class_="key",
    )


def question_field(asking: Asking, value: str) -> Html:
    """With the button that sends it."""
    words = asking.words
    return joined(
        el("input", type="hidden", name="lang", value=words.language),
        el("label", words("ask"), for_="q"),
        el(
            "p",
            el(
                "input",
                id="q",
                name="q",
                type="search",
                value=value,
                maxlength=str(MAX_QUERY_CHARS),
                autocomplete="off",
            ),
            el("button", words("find"), type="submit"),
            class_="field",
        ),
    )


def told(error: OporaError, words: Words) -> str:
    """The failure in the reader's language where it is one that readers meet."""
    if isinstance(error, InvalidInput) and error.details.get("field") == "query":
        return words("errorLong" if "characters" in error.message else "errorEmpty")
    if isinstance(error, ModelError):
        return words("errorModel")
    if error.code == "engine_unavailable":
        return words("errorEngine")
    return words("errorOther", message=error.message)


def status_of(error: OporaError) -> int:
    return STATUS_AND_NUMBER.get(error.code, (500, 0))[0]
