"""Shows the API as one plain page, made from its own description: nothing is loaded from elsewhere, nothing runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import FastAPI
from starlette.responses import HTMLResponse, PlainTextResponse, Response

_STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; }
article { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .75rem 0; }
h3 { font-size: 1rem; margin: 0; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
table { border-collapse: collapse; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .15rem 1rem .15rem 0; font-weight: normal; }
p { margin: .25rem 0; }
"""
_METHODS = ("get", "post", "put", "patch", "delete")


def install(app: FastAPI) -> None:
    async def page() -> Response:
        return HTMLResponse(render(app.openapi()))

    async def style() -> Response:
        return PlainTextResponse(_STYLE, media_type="text/css")

    app.add_api_route("/docs", page, methods=["GET"], include_in_schema=False)
    app.add_api_route("/docs.css", style, methods=["GET"], include_in_schema=False)


def render(document: Mapping[str, Any]) -> str:
    """The HTML page of an OpenAPI document."""
    info = document["info"]
    groups: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method in _METHODS:
            if method in operations:
                operation = operations[method]
                groups.setdefault(operation.get("tags", ["other"])[0], []).append(
                    _operation(document, method, path, operation)
                )
    body = "".join(f"<section><h2>{escape(tag)}</h2>{''.join(shown)}</section>" for tag, shown in groups.items())
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(info["title"])} API</title><link rel="stylesheet" href="/docs.css"></head><body>'
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info.get('summary', ''))}</p>"
        "<p>Keys go in <code>X-API-Key</code> or <code>Authorization: Bearer</code>. Answers are "
        "<code>{&quot;success&quot;: true, &quot;data&quot;: …}</code>. "
        'The machine-readable description is <a href="/openapi.json">openapi.json</a>.</p>'
        f"{body}</body></html>"
    )


def _operation(document: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> str:
    rows = [
        _row(parameter["name"], parameter["schema"], parameter["in"], required=parameter.get("required", False))
        for parameter in operation.get("parameters", [])
    ]
    rows.extend(_body_rows(document, operation))
    table = f"<table>{''.join(rows)}</table>" if rows else ""
    text = "".join(f"<p>{escape(part)}</p>" for part in operation.get("description", "").split("\n\n") if part)
    title = f"<h3><code>{method.upper()} {escape(path)}</code> {escape(operation.get('summary', ''))}</h3>"
    return f"<article>{title}{text}{table}</article>"


def _body_rows(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[str]:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        schema = _resolved(document, content["schema"])
        required = schema.get("required", [])
        for name, field in schema.get("properties", {}).items():
            yield _row(name, field, "body", required=name in required)


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    for option in (schema, *schema.get("anyOf", ())):
        if "$ref" in option:
            found: Mapping[str, Any] = document["components"]["schemas"][option["$ref"].rsplit("/", 1)[-1]]
            return found
    return schema


def _row(name: str, schema: Mapping[str, Any], place: str, *, required: bool) -> str:
    need = "required" if required else f"default {schema['default']!r}" if schema.get("default") is not None else ""
    cells = (
        f"<code>{escape(name)}</code>",
        escape(_kind(schema)),
        escape(place),
        escape(need),
        escape(schema.get("description", "")),
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _kind(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " or ".join(kind for option in schema["anyOf"] if (kind := _kind(option)) != "null")
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    kind = str(schema.get("type", "any"))
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{kind} {low} to {high}"
    return f"{kind}, at most {schema['maxLength']} characters" if "maxLength" in schema else kind
