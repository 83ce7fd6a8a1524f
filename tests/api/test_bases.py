"""Knowledge bases are made with their settings, renamed, pinned and deleted."""

import httpx2

PATH = "/api/v1/knowledge-bases"


async def test_made_with_defaults(http: httpx2.AsyncClient) -> None:
    response = await http.post(PATH, json={"name": "  Правила  "})
    assert response.status_code == 201
    base = response.json()["data"]
    assert (base["name"], base["type"], base["is_pinned"]) == ("Правила", "document", False)
    assert base["chunking_config"] == {
        "chunk_size": 512,
        "chunk_overlap": 80,
        "enable_parent_child": False,
        "parent_chunk_size": 4096,
        "child_chunk_size": 384,
    }
    assert base["indexing_strategy"] == {"vector": True, "keyword": True, "wiki": False, "graph": False}
    assert (await http.get(f"{PATH}/{base['id']}")).json()["data"] == base


async def test_listed_renamed_pinned_and_deleted(http: httpx2.AsyncClient) -> None:
    ids = [(await http.post(PATH, json={"name": name})).json()["data"]["id"] for name in ("Один", "Два")]
    listed = (await http.get(PATH)).json()
    assert {base["id"] for base in listed["data"]} == set(ids)
    assert (listed["total"], listed["page"], listed["page_size"]) == (2, 1, 20)
    assert [base["id"] for base in (await http.get(PATH, params={"name": "Два"})).json()["data"]] == [ids[1]]
    renamed = (await http.put(f"{PATH}/{ids[0]}", json={"name": "Три", "description": "о"})).json()["data"]
    assert (renamed["name"], renamed["description"]) == ("Три", "о")
    assert (await http.put(f"{PATH}/{ids[0]}", json={"description": ""})).json()["data"]["name"] == "Три"
    assert (await http.post(f"{PATH}/{ids[0]}/pin")).json()["data"]["is_pinned"] is True
    assert (await http.delete(f"{PATH}/{ids[0]}/pin")).json()["data"]["is_pinned"] is False
    assert (await http.delete(f"{PATH}/{ids[0]}")).json() == {"success": True, "data": {"id": ids[0]}}
    assert (await http.get(f"{PATH}/{ids[0]}")).status_code == 404
    assert (await http.get(PATH)).json()["total"] == 1


REFUSED: list[tuple[dict[str, object], str]] = [
    ({}, "name"),
    ({"name": ""}, "name"),
    ({"name": " \n"}, "name"),
    ({"name": "x" * 256}, "name"),
    ({"name": None}, "name"),
    ({"name": "a", "type": "other"}, "type"),
    ({"name": "a", "chunking_config": {"chunk_size": 0}}, "chunking_config.chunk_size"),
    ({"name": "a", "chunking_config": {"chunk_size": 100, "chunk_overlap": 100}}, "chunking_config"),
    ({"name": "a", "indexing_strategy": {"vector": "perhaps"}}, "indexing_strategy.vector"),
]


async def test_what_does_not_fit_is_refused_by_name(http: httpx2.AsyncClient) -> None:
    for body, field in REFUSED:
        response = await http.post(PATH, json=body)
        assert response.status_code == 422, body
        assert response.json()["error"]["details"]["field"] == field, body
    assert (await http.get(PATH)).json()["total"] == 0


async def test_bodies_that_are_no_object(http: httpx2.AsyncClient) -> None:
    for content in ("{", "[]", "", "nul\0", '{"name": "a", }', '"\ud800"'):
        content_type = {"Content-Type": "application/json"}
        response = await http.post(PATH, content=content.encode("utf-8", "surrogatepass"), headers=content_type)
        assert response.status_code in (400, 422), content
        assert response.json()["success"] is False


async def test_what_can_not_be_an_id_is_not_found(http: httpx2.AsyncClient) -> None:
    for strange in ("%00", "a%0Ab", "x" * 300, "%E2%80%AE", "..", "%2e%2e"):
        response = await http.get(f"/api/v1/chunks/by-id/{strange}")
        assert response.status_code == 404, strange
