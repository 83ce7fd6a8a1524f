"""A server lets what it loaded be, and collects less often."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from opora.bootstrap.collector import THRESHOLDS, settle_collector


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def test_what_is_loaded_is_looked_through_no_more() -> None:
    settle_collector()
    assert gc.get_freeze_count() > 10_000
    assert gc.get_threshold() == THRESHOLDS
    assert gc.isenabled(), "cycles that come later are still found"
