"""The embedder without a model is deterministic and says what it is."""

import numpy as np

from opora.models.null import NullEmbedder


async def test_equal_texts_have_equal_unit_vectors() -> None:
    embedder = NullEmbedder(64)
    rows = await embedder.embed_passages(["а", "б", "а", "", "\ud800"])
    assert rows.shape == (5, 64)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert np.array_equal(rows[0], rows[2])
    assert np.array_equal(await embedder.embed_query("а"), rows[0])
    assert abs(float(rows[0] @ rows[1])) < 0.6
    assert (await embedder.embed_passages([])).shape == (0, 64)


def test_the_card_names_it() -> None:
    card = NullEmbedder(7).card
    assert (card.identity, card.dimension, card.vector_threshold) == ("null-7", 7, 0.0)
