"""Plugins of other packages: found by entry point, registered behind the own ones or beside one that they name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from opora.domain.errors import InvalidInput
from opora.pipeline.events import EventType
from opora.pipeline.manager import EventManager
from opora.pipeline.plugin import Plugin
from opora.pipeline.services import Services
from opora.pipeline.table import make_plugins, plugin_types

GROUP = "opora.plugins"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsidePlugin:
    """A plugin class with where it wants to stand: before or after a named one, else innermost."""

    kind: type[Any]
    before: str | None
    after: str | None
    package: str


def outside_plugins() -> list[OutsidePlugin]:
    """Those of all installed packages, in the order of their entry points' names.

    Raises `InvalidInput` for one that can't be loaded or is no plugin: a question must not travel without it unseen.
    """
    found = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    plugins = [_load(entry) for entry in found]
    taken = {kind.name for kind in plugin_types()}
    for plugin in plugins:
        if plugin.kind.name in taken:
            raise InvalidInput(f"The plugin '{plugin.kind.name}' of {plugin.package} has a name that is taken.")
        taken.add(plugin.kind.name)
    for plugin in plugins:
        for beside in (plugin.before, plugin.after):
            if beside is not None and beside not in taken:
                raise InvalidInput(f"The plugin '{plugin.kind.name}' of {plugin.package} wants to stand by '{beside}'.",
                                   hint=f"There are {', '.join(sorted(taken))}.")  # fmt: skip
    return plugins


def make_manager(services: Services) -> EventManager:
    """The own plugins in the order of the table, and those of other packages at their places."""
    manager = EventManager(make_plugins(services))
    for plugin in outside_plugins():
        manager.register(plugin.kind(services), before=plugin.before, after=plugin.after)
    return manager


def order(events: Iterable[EventType]) -> list[dict[str, Any]]:
    """The events, each with its plugins, outermost first; ``from`` names the packages of those that are not our own."""
    manager = EventManager()
    outside = outside_plugins()
    # A class has the name and the events of its plugins, and that is all that an order needs.
    for own in plugin_types():
        manager.register(cast(Plugin, own))
    for plugin in outside:
        manager.register(cast(Plugin, plugin.kind), before=plugin.before, after=plugin.after)
    packages = {plugin.kind.name: plugin.package for plugin in outside}
    steps = []
    for event in events:
        names = [plugin.name for plugin in manager.chain(event)]
        step: dict[str, Any] = {"event": event.value, "plugins": names}
        if strangers := {name: packages[name] for name in names if name in packages}:
            step["from"] = strangers
        steps.append(step)
    return steps


def _load(entry: EntryPoint) -> OutsidePlugin:
    package = entry.dist.name if entry.dist else entry.value
    try:
        kind = entry.load()
    except Exception as error:
        raise InvalidInput(
            f"The plugin '{entry.name}' of {package} can't be loaded: {error}",
            hint="Mend or uninstall that package.",
        ) from error
    events = getattr(kind, "events", None)
    is_plugin = isinstance(kind, type) and isinstance(getattr(kind, "name", None), str) and hasattr(kind, "on_event")
    if not is_plugin or not events or not all(isinstance(event, EventType) for event in events):
        raise InvalidInput(
            f"'{entry.value}' of {package} is no plugin.", hint="It needs `name`, `events` and `on_event`."
        )
    return OutsidePlugin(
        kind=kind, before=getattr(kind, "before", None), after=getattr(kind, "after", None), package=package
    )
