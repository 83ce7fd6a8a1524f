"""Reads what an assistant gives a tool: values as the schema wants them, or as strings that say the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    TEXT = "string"
    COUNT = "integer"
    NUMBER = "number"
    TEXTS = "array"


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """``is_required`` is what the schema says; a value that is left out all the same is ``default``, where there is
    one."""

    name: str
    kind: Kind
    about: str
    is_required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None

    def schema(self) -> dict[str, Any]:
        """As JSON Schema."""
        schema: dict[str, Any] = {"type": self.kind.value, "description": self.about}
        if self.kind is Kind.TEXTS:
            schema["items"] = {"type": "string"}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.kind is Kind.TEXT and self.most is not None:
            schema["maxLength"] = int(self.most)
        elif self.most is not None:
            schema["maximum"] = self.most
        if self.least is not None and self.kind is not Kind.TEXT:
            schema["minimum"] = self.least
        if self.default is not None and not self.is_required:
            schema["default"] = self.default
        return schema


class Misread(Exception):
    """An argument does not fit; the message is for the assistant, which can mend it."""


def input_schema(arguments: Sequence[Argument]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {argument.name: argument.schema() for argument in arguments},
        "required": [argument.name for argument in arguments if argument.is_required],
        "additionalProperties": False,
    }


def read_arguments(arguments: Sequence[Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every argument by name, defaults filled in. Raises `Misread` naming the first that does not fit."""
    known = {argument.name for argument in arguments}
    for name in given:
        if name not in known:
            raise Misread(f"There is no argument '{name}'. There are: {', '.join(sorted(known))}.")
    return {argument.name: _read(argument, given.get(argument.name)) for argument in arguments}


def _read(argument: Argument, value: Any) -> Any:
    if value is None or (isinstance(value, str) and not value.strip() and argument.kind is not Kind.TEXT):
        value = argument.default
        if value is None and argument.is_required:
            raise Misread(f"'{argument.name}' is missing: {argument.about}")
        return value
    return _READERS[argument.kind](argument, value)


def _text(argument: Argument, value: Any) -> str:
    if not isinstance(value, str):
        raise Misread(f"'{argument.name}' must be a text.")
    text = value.strip()
    if argument.choices and text.lower() not in argument.choices:
        raise Misread(f"'{argument.name}' is one of: {', '.join(argument.choices)}.")
    if argument.is_required and not text:
        raise Misread(f"'{argument.name}' is empty: {argument.about}")
    if argument.most is not None and len(text) > argument.most:
        raise Misread(f"'{argument.name}' has at most {int(argument.most):,} characters.")
    return text.lower() if argument.choices else text


def _number(argument: Argument, value: Any) -> float:
    try:
        number = float(value.strip().replace(",", ".")) if isinstance(value, str) else float(value)
        if isinstance(value, bool) or number != number:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise Misread(f"'{argument.name}' must be a number.") from None
    low, high = argument.least, argument.most
    if (low is not None and number < low) or (high is not None and number > high):
        raise Misread(f"'{argument.name}' is from {low:g} to {high:g}.")
    return number


def _count(argument: Argument, value: Any) -> int:
    number = _number(argument, value)
    if number != int(number):
        raise Misread(f"'{argument.name}' must be a whole number.")
    return int(number)


def _texts(argument: Argument, value: Any) -> list[str]:
    """A list, a list written as JSON, or one text that stands for a list of itself."""
    if isinstance(value, str):
        try:
            read = json.loads(value) if value.lstrip().startswith("[") else [value]
        except (ValueError, RecursionError):
            read = [value]
        value = read
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Misread(f"'{argument.name}' must be a list of texts.")
    return [item.strip() for item in value if item.strip()]


_READERS = {Kind.TEXT: _text, Kind.COUNT: _count, Kind.NUMBER: _number, Kind.TEXTS: _texts}
