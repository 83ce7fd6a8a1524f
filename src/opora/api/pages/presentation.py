"""The page `/presentation`: how a document becomes pieces and a question finds them, on the reader's own data."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.responses import Response

from opora.api.pages import lists, pieces_view
from opora.api.pages.asking import Addressed, Asking, Sent, key_field, question_field, status_of, told
from opora.api.pages.example import Example, example
from opora.api.pages.html import Html, el, joined
from opora.api.pages.shell import respond, whole
from opora.api.principal import App, Opora
from opora.domain.errors import NotFound, OporaError

PATH = "/presentation"


def install(app: FastAPI) -> None:
    app.add_api_route(PATH, _by_address, methods=["GET"], include_in_schema=False)
    app.add_api_route(PATH, _by_form, methods=["POST"], include_in_schema=False)


async def _by_address(app: Opora, asking: Addressed) -> Response:
    return await _shown(app, asking)


async def _by_form(app: Opora, asking: Sent) -> Response:
    return await _shown(app, asking)


async def _shown(app: App, asking: Asking) -> Response:
    words = asking.words
    if asking.caller is None:
        notice = el("p", words("keyNeeded"), class_="notice", role="status")
        return _page(asking, joined(notice, _form(asking, None)), 401 if asking.query else 200)
    try:
        found = await example(app, asking.caller, document_id=asking.document_id, question=asking.query)
    except NotFound:
        return _page(asking, el("p", words("howGone"), class_="notice bad", role="alert"), 404)
    except OporaError as error:
        notice = el("p", told(error, words), class_="notice bad", role="alert")
        return _page(asking, joined(notice, _form(asking, None)), status_of(error))
    if found is None:
        way = el("p", el("a", words("chat"), href="/"))
        return _page(asking, joined(el("p", words("howNothing"), class_="notice", role="status"), way))
    sections = (
        pieces_view.cut(found, words),
        pieces_view.marked_by(found, words),
        lists.two(found, words),
        lists.fused(found, words) if found.vector else None,
        pieces_view.chain(found, words) if found.vector else None,
        pieces_view.given(found, words),
    )
    numbered = [
        el("section", el("p", words("step", n=number), class_="step"), section)
        for number, section in enumerate((one for one in sections if one), start=1)
    ]
    return _page(asking, joined(_form(asking, found), *numbered))


def _page(asking: Asking, below: Html, status: int = 200) -> Response:
    words = asking.words
    main = joined(el("h1", words("howTitle")), el("p", words("howIntro")), below)
    query = {} if asking.needs_key else {"q": asking.query, "document": asking.document_id}
    return respond(whole(words, title=words("how"), path=PATH, query=query, main=main), status=status)


def _form(asking: Asking, found: Example | None) -> Html:
    words = asking.words
    choices = None
    if found is not None:
        known = {one.document_id: one for one in (*found.choices, found.document)}
        options = [
            el("option", one.title, value=one.document_id, selected=one.document_id == found.document.document_id)
            for one in known.values()
        ]
        choices = joined(
            el("label", words("exampleDocument"), for_="document"),
            el("p", el("select", joined(*options), id="document", name="document"), class_="field"),
        )
    question = question_field(asking, found.question if found else asking.query)
    return el(
        "form", choices, question, key_field(asking), method=asking.method, action=PATH, aria_label=words("example")
    )
