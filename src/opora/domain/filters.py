"""Typed filters over what is known of documents: read from JSON, checked once, asked of each document. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from opora.domain.errors import InvalidInput

MAX_DEPTH = 5
MAX_CONDITIONS = 50
MAX_VALUES = 500
MAX_FIELD_CHARS = 200
FIELD = "metadata_filter"
OWN_FIELDS = ("@title", "@file_name", "@file_type", "@source", "@folder", "@origin", "@created_at", "@updated_at")
"""What Opora knows of every document; all other names are those of its metadata."""
BOUNDS = ("gt", "gte", "lt", "lte")

Facts = Mapping[str, Any]
"""One document: its metadata, and its own fields under `OWN_FIELDS`."""
Test = Callable[[Facts], bool]
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents are let through; ``own_fields`` are those of `OWN_FIELDS` that it looks at."""

    test: Test
    own_fields: frozenset[str]

    def __call__(self, facts: Facts) -> bool:
        return self.test(facts)


@dataclass(frozen=True, slots=True)
class _Bound:
    """One end of a range: a number, or a moment; ``day`` where only its day was given, which counts whole."""

    name: str
    number: float | None = None
    moment: datetime | None = None
    day: bool = False


def read_filter(given: Any) -> Filter:
    """The filter that a JSON value describes. Raises `InvalidInput` saying where it does not fit.

    ``{"and": [...]}``, ``{"or": [...]}``, ``{"not": {...}}`` join conditions; a condition names a ``field`` and one of
    ``equals``, ``in``, ``range`` (``gt``, ``gte``, ``lt``, ``lte``) and ``exists``.
    """
    seen: list[str] = []
    test = _read(given, "", 1, seen)
    return Filter(test, frozenset(seen) & frozenset(OWN_FIELDS))


def _read(given: Any, at: str, depth: int, seen: list[str]) -> Test:
    """``seen`` gathers what each condition is about, '' for those that join others."""
    if not isinstance(given, Mapping):
        raise _wrong(at, "must be an object")
    if depth > MAX_DEPTH:
        raise _wrong(at, f"conditions nest at most {MAX_DEPTH} levels deep")
    names = set(given)
    seen.append(str(given.get("field", "")))
    if len(seen) > MAX_CONDITIONS:
        raise _wrong(at, f"a filter has at most {MAX_CONDITIONS} conditions")
    if names == {"not"}:
        inner = _read(given["not"], f"{at}.not", depth + 1, seen)
        return lambda facts: not inner(facts)
    for word, join in (("and", all), ("or", any)):
        if names == {word}:
            parts = [
                _read(one, f"{at}.{word}[{number}]", depth + 1, seen)
                for number, one in enumerate(_list(given[word], f"{at}.{word}"))
            ]
            return _joined(join, parts)
    if "field" not in names:
        raise _wrong(at, "has one of and, or, not, or a field with a condition")
    return _condition(given, at)


def _joined(join: Callable[[Iterator[bool]], bool], parts: Sequence[Test]) -> Test:
    return lambda facts: join(part(facts) for part in parts)


def _condition(given: Mapping[str, Any], at: str) -> Test:
    field = given["field"]
    if not isinstance(field, str) or not 0 < len(field) <= MAX_FIELD_CHARS:
        raise _wrong(f"{at}.field", f"must be a text of at most {MAX_FIELD_CHARS} characters")
    if field.startswith("@") and field not in OWN_FIELDS:
        raise _wrong(f"{at}.field", f"there is no {field}; there are {', '.join(OWN_FIELDS)}")
    asked = [name for name in given if name != "field"]
    if len(asked) != 1 or asked[0] not in _TESTS:
        raise _wrong(at, "a field is asked by exactly one of equals, in, range, exists")
    (name,) = asked
    fits = _TESTS[name](given[name], f"{at}.{name}")
    return lambda facts: fits(value_of(facts, field))


def value_of(facts: Facts, field: str) -> Any:
    """The value under a name, or along a path of names with dots; a mark of its own where there is none."""
    if field in facts:
        return facts[field]
    value: Any = facts
    for name in field.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return _ABSENT
        value = value[name]
    return value


def _equals(given: Any, at: str) -> Callable[[Any], bool]:
    wanted = _key(_plain(given, at))
    return lambda value: wanted in _keys(value)


def _one_of(given: Any, at: str) -> Callable[[Any], bool]:
    wanted = {_key(_plain(one, f"{at}[{number}]")) for number, one in enumerate(_list(given, at))}
    return lambda value: not wanted.isdisjoint(_keys(value))


def _exists(given: Any, at: str) -> Callable[[Any], bool]:
    if not isinstance(given, bool):
        raise _wrong(at, "must be true or false")
    return lambda value: (value is not _ABSENT and value is not None) is given


def _range(given: Any, at: str) -> Callable[[Any], bool]:
    if not isinstance(given, Mapping) or not given or set(given) - set(BOUNDS):
        raise _wrong(at, f"must be an object with some of {', '.join(BOUNDS)}")
    bounds = [_bound(name, value, f"{at}.{name}") for name, value in given.items()]
    if len({bound.number is None for bound in bounds}) > 1:
        raise _wrong(at, "both ends must be numbers, or both must be dates")
    return lambda value: any(all(_is_inside(one, bound) for bound in bounds) for one in _each(value))


_TESTS: Mapping[str, Callable[[Any, str], Callable[[Any], bool]]] = {
    "equals": _equals,
    "in": _one_of,
    "range": _range,
    "exists": _exists,
}


def _bound(name: str, given: Any, at: str) -> _Bound:
    number = _number(given)
    if number is not None:
        return _Bound(name, number=number)
    moment, is_day = read_moment(given)
    if moment is None:
        raise _wrong(at, "must be a number, or a date such as 2026-01-31 or 2026-01-31T08:00:00Z")
    return _Bound(name, moment=moment, day=is_day)


def _is_inside(value: Any, bound: _Bound) -> bool:
    if bound.moment is None:
        number = _number(value)
        assert bound.number is not None
        return number is not None and _COMPARE[bound.name](number, bound.number)
    moment, _ = read_moment(value)
    if moment is None:
        return False
    end = bound.moment
    if bound.day and bound.name in ("lte", "gt"):
        # The whole day is meant: up to its end, or behind it.
        return moment < _next_day(end) if bound.name == "lte" else moment >= _next_day(end)
    return _COMPARE[bound.name](moment, end)


_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": lambda value, end: value > end,
    "gte": lambda value, end: value >= end,
    "lt": lambda value, end: value < end,
    "lte": lambda value, end: value <= end,
}


def _next_day(moment: datetime) -> datetime:
    return moment + timedelta(days=1) if moment.date() < date.max else datetime.max.replace(tzinfo=UTC)


def read_moment(value: Any) -> tuple[datetime | None, bool]:
    """A date or a time in ISO form as a moment, in UTC where it names no zone; and whether it is a whole day."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)), False
    if not isinstance(value, str) or not 10 <= len(value) <= 40:
        return None, False
    try:
        if len(value) == 10:
            return datetime.combine(date.fromisoformat(value), time(), UTC), True
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None, False
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)), False


def _number(value: Any) -> float | int | None:
    """True and false are no numbers, and neither is NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if not isinstance(value, float) or math.isfinite(value) else None


def _each(value: Any) -> Sequence[Any]:
    """A list fits where one of its values does."""
    return value if isinstance(value, list | tuple) else (value,)


def _keys(value: Any) -> set[tuple[str, Any]]:
    return {_key(one) for one in _each(value) if one is None or isinstance(one, str | int | float | datetime)}


def _key(value: Any) -> tuple[str, Any]:
    """Values are equal within their kind: 1 and 1.0 are, 1 and true, or 1 and '1', are not."""
    if isinstance(value, bool):
        return "flag", value
    if isinstance(value, datetime):
        return "text", value.isoformat()
    return ("number" if isinstance(value, int | float) else "text" if isinstance(value, str) else "nothing"), value


def _plain(given: Any, at: str) -> Any:
    if given is not None and not isinstance(given, str | int | float):
        raise _wrong(at, "must be a text, a number, true, false or null")
    return given


def _list(given: Any, at: str) -> Sequence[Any]:
    if not isinstance(given, list) or not 0 < len(given) <= MAX_VALUES:
        raise _wrong(at, f"must be a list of 1 to {MAX_VALUES}")
    return given


def _wrong(at: str, why: str) -> InvalidInput:
    return InvalidInput.of(f"{FIELD}{at}", f"{FIELD}{at}: {why}.", hint="The guide tells how filters are written.")
