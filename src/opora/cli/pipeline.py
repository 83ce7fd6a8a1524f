"""``opora pipeline``: the order in which a question travels, as it is registered."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def pipeline(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print the events of a question and the plugins of each, outermost first."""
    from opora.bootstrap import plugin_order
    from opora.cli.session import print_json
    from opora.cli.words import say

    order: list[dict[str, Any]] = plugin_order()
    if as_json:
        print_json({"events": order})
        return
    for number, step in enumerate(order, start=1):
        packages = step.get("from", {})
        names = [f"{name} ({packages[name]})" if name in packages else name for name in step["plugins"]]
        say(f"{number:2}. {step['event']:<24} {' -> '.join(names) or '(no plugin)'}")
