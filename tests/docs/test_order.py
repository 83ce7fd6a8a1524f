"""The order of travel, as the README, the package and the guide tell it, is the order of the `rag_stream` preset."""

from __future__ import annotations

import configparser
import inspect
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import opora
from opora.bootstrap import plugin_order
from opora.pipeline.builder import PRESETS
from opora.pipeline.events import EventType
from opora.pipeline.table import PLUGINS

EVENTS = [event.value for event in PRESETS["rag_stream"]]
_LINE = re.compile(r"^ *([a-z_]+) +(\S+)", re.MULTILINE)


def told(text: str) -> list[tuple[str, str]]:
    """Event and room of each line that begins with the name of an event."""
    names = {event.value for event in EventType}
    return [(event, room) for event, room in _LINE.findall(text) if event in names]


def house(blocks: Any) -> str:
    return str(next(block.text for block in blocks("README.md") if "load_history" in block.text))


def test_the_readme_tells_the_order(blocks: Any) -> None:
    assert [event for event, _ in told(house(blocks))] == EVENTS


def test_the_package_tells_the_order() -> None:
    assert opora.__doc__ is not None
    assert [event for event, _ in told(opora.__doc__)] == EVENTS


def test_the_guide_tells_the_order(blocks: Any) -> None:
    shown = next(block.text for block in blocks("docs/architecture.md") if block.text.startswith("load_history"))
    assert shown.split() == EVENTS


def test_the_room_beside_an_event_does_its_work(blocks: Any) -> None:
    """It is imported by the event's outermost plugin; an event without a plugin names no room."""
    plugins = {}
    for target in PLUGINS:
        module, _, name = target.partition(":")
        plugins[getattr(import_module(module), name).name] = import_module(module)
    outermost = {step["event"]: step["plugins"][0] if step["plugins"] else None for step in plugin_order()}
    assert opora.__doc__ is not None
    for event, room in (*told(house(blocks)), *told(opora.__doc__)):
        plugin = outermost[event]
        if plugin is None:
            assert room in ("-", "(no"), f"{event} has no plugin"
        else:
            assert f"from opora.{room}." in inspect.getsource(plugins[plugin]), f"{event} is not the work of {room}"


def test_the_guide_has_the_layers_of_the_contract(blocks: Any, rows: Any, text: Callable[[str], str]) -> None:
    contracts = configparser.ConfigParser()
    contracts.read_string(text(".importlinter"))
    layers = contracts["importlinter:contract:rooms"]["layers"].split("\n")
    shown = next(block.text for block in blocks("docs/architecture.md") if block.text.startswith("cli\n"))
    assert shown.splitlines() == [layer for layer in layers if layer]
    rooms = {room for layer in layers for room in layer.split(" | ") if room}
    assert {row[0].strip("`") for row in rows("docs/architecture.md", "room")} == rooms
