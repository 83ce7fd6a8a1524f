"""The page `/search`: one field, three ways of searching, what was found with its source."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.responses import Response

from opora.api.pages.asking import Addressed, Asking, Sent, key_field, question_field, status_of, told
from opora.api.pages.html import Html, el, joined
from opora.api.pages.pieces import grouped, hit
from opora.api.pages.shell import respond, whole
from opora.api.principal import App, Opora
from opora.api.retriever import answered
from opora.domain.context import ContextAnswer, ContextQuery
from opora.domain.errors import OporaError
from opora.domain.search import SearchMode

PATH = "/search"
_ORDER = (SearchMode.HYBRID, SearchMode.SEMANTIC, SearchMode.FULLTEXT)


def install(app: FastAPI) -> None:
    """By address, and by a form where a key has to be sent with it."""
    app.add_api_route(PATH, _by_address, methods=["GET"], include_in_schema=False)
    app.add_api_route(PATH, _by_form, methods=["POST"], include_in_schema=False)


async def _by_address(app: Opora, asking: Addressed) -> Response:
    return await _shown(app, asking)


async def _by_form(app: Opora, asking: Sent) -> Response:
    return await _shown(app, asking)


async def _shown(app: App, asking: Asking) -> Response:
    if asking.caller is None:
        is_late = bool(asking.query)
        return _page(
            asking, el("p", asking.words("keyNeeded"), class_="notice", role="status"), 401 if is_late else 200
        )
    if not asking.query:
        return _page(asking, None)
    try:
        query = ContextQuery(question=asking.query, search_type=asking.mode)
        answer = await answered(app, asking.caller, query)
    except OporaError as error:
        return _page(asking, el("p", told(error, asking.words), class_="notice bad", role="alert"), status_of(error))
    return _page(asking, results(answer, asking))


def results(answer: ContextAnswer, asking: Asking) -> Html:
    words = asking.words
    groups = grouped(answer.results)
    notices = [el("p", warning, class_="notice", role="status") for warning in answer.warnings]
    if not groups:
        return joined(el("p", words("nothing"), class_="count", role="status"), *notices)
    hits = [
        hit(found, beside, number=number, question=answer.query, words=words, links=not asking.needs_key)
        for number, (found, beside) in enumerate(groups, start=1)
    ]
    count = words("count", found=len(groups), neighbours=len(answer.results) - len(groups))
    return joined(
        el("p", count, class_="count", role="status"),
        *notices,
        el("ol", joined(*hits), class_="hits", aria_label=words("results")),
    )


def _page(asking: Asking, below: Html | None, status: int = 200) -> Response:
    words = asking.words
    title = words("searchTitle")
    main = joined(el("h1", title), _form(asking), below)
    shown = f"{asking.query[:80]} · {words('search')}" if asking.query else title
    query = {} if asking.needs_key else {"q": asking.query, "search_type": asking.mode.value if asking.query else ""}
    return respond(whole(words, title=shown, path=PATH, query=query, main=main), status=status)


def _form(asking: Asking) -> Html:
    words = asking.words
    modes = [
        el(
            "label",
            el("input", type="radio", name="search_type", value=mode.value, checked=mode is asking.mode),
            el("span", words(mode.value)),
        )
        for mode in _ORDER
    ]
    return el(
        "form",
        question_field(asking, asking.query),
        el("fieldset", el("legend", words("modes")), joined(*modes)),
        key_field(asking),
        method=asking.method,
        action=PATH,
        role="search",
    )
