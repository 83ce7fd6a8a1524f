"""Every name of the tables leads to a class, and an unknown one to a sentence that lists the known ones."""

import pytest

from opora.domain.errors import InvalidInput
from opora.models.table import CHAT_MODELS, EMBEDDERS, RERANKERS, load


@pytest.mark.parametrize(("table", "name"), [(t, n) for t in (EMBEDDERS, CHAT_MODELS, RERANKERS) for n in t])
def test_each_name_loads(table: dict[str, str], name: str) -> None:
    assert isinstance(load(table, name), type)


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(InvalidInput) as caught:
        load(EMBEDDERS, "toy")
    assert "local" in caught.value.hint
