"""Memory over HTTP."""

from __future__ import annotations

import httpx2
import pytest

BASE = "/api/v1/memory"


async def test_items_and_the_switch(http: httpx2.AsyncClient) -> None:
    assert (await http.get(f"{BASE}/settings")).json()["data"] == {"enabled": True}
    added = await http.post(f"{BASE}/items", json={"content": " Я из Казани. "})
    assert added.status_code == 201
    item = added.json()["data"]
    assert (item["content"], item["always"]) == ("Я из Казани.", False)
    changed = await http.put(f"{BASE}/items/{item['id']}", json={"always": True})
    assert changed.json()["data"]["content"] == "Я из Казани."
    listed = (await http.get(f"{BASE}/items")).json()
    assert (listed["total"], listed["data"][0]["always"]) == (1, True)
    assert (await http.put(f"{BASE}/settings", json={"enabled": False})).json()["data"] == {"enabled": False}
    assert (await http.get(f"{BASE}/settings")).json()["data"] == {"enabled": False}
    assert (await http.delete(f"{BASE}/items/{item['id']}")).json()["data"] == {"id": item["id"]}
    assert (await http.delete(f"{BASE}/items/{item['id']}")).status_code == 404
    await http.post(f"{BASE}/items", json={"content": "ещё"})
    assert (await http.delete(f"{BASE}/items")).json()["data"] == {"deleted": 1}


@pytest.mark.parametrize("body", [{}, {"content": ""}, {"content": "x" * 601}, {"content": None}])
async def test_what_can_not_be_remembered(http: httpx2.AsyncClient, body: dict[str, object]) -> None:
    response = await http.post(f"{BASE}/items", json=body)
    assert response.status_code == 422
    assert response.json()["error"]["details"]["field"] == "content"
