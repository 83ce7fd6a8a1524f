"""Turns what the rows of an import say of tags into tags of the base: by id or by name, new names among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opora.domain.errors import InvalidInput
from opora.domain.faq_entry import MAX_TAGS
from opora.domain.faq_import import RowProblem
from opora.domain.scope import Scope
from opora.index.faq_import import Row
from opora.knowledge.tags import checked_name
from opora.ports import Repositories
from opora.text.fold import fold


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """``rows`` have ids only, but for names of ``new_tags``, by their folded names, which the base has not got yet."""

    rows: tuple[Row, ...]
    problems: tuple[RowProblem, ...]
    new_tags: dict[str, str]


async def resolved(stored: Repositories, scope: Scope, base_id: str, rows: Sequence[Row]) -> Resolved:
    """A tag that is named and not there is to be made; an id that the base has no tag for refuses its row."""
    there = [one.tag for one in await stored.tags.browse(scope, base_id)]
    ids, by_name = {tag.tag_id for tag in there}, {fold(tag.name): tag.tag_id for tag in there}
    good: list[Row] = []
    problems: list[RowProblem] = []
    new: dict[str, str] = {}
    for row in rows:
        try:
            names = {fold(name): name for name in map(checked_name, row.tag_names)}
            _check(row, ids, len(names))
        except InvalidInput as error:
            problems.append(RowProblem(row=row.number, field=str(error.details["field"]), message=error.message))
            continue
        known = tuple(by_name[name] for name in names if name in by_name)
        fresh = tuple(shown for name, shown in names.items() if name not in by_name)
        new.update({fold(name): new.get(fold(name), name) for name in fresh})
        good.append(_tagged(row, known, fresh))
    return Resolved(rows=tuple(good), problems=tuple(problems), new_tags=new)


def with_new(rows: Sequence[Row], made: dict[str, str]) -> list[Row]:
    """The rows with the ids of tags that were made for them, by folded name."""
    return [_tagged(row, tuple(made[fold(name)] for name in row.tag_names), ()) for row in rows]


def _tagged(row: Row, tag_ids: tuple[str, ...], names: tuple[str, ...]) -> Row:
    ids = tuple(dict.fromkeys((*row.draft.tag_ids, *tag_ids)))
    return replace(row, draft=replace(row.draft, tag_ids=ids), tag_names=names)


def _check(row: Row, ids: set[str], named: int) -> None:
    gone = next((tag_id for tag_id in row.draft.tag_ids if tag_id not in ids), None)
    if gone is not None:
        raise InvalidInput.of("tag_ids", f"The base has no tag with the id '{gone}'. Name tags in the column 'tags'.")
    if len(row.draft.tag_ids) + named > MAX_TAGS:
        raise InvalidInput.of("tags", f"An entry has at most {MAX_TAGS} tags.")
