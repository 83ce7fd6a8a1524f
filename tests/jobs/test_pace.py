"""The estimate follows the newest batches without jumping."""

from __future__ import annotations

import pytest

from opora.jobs.pace import NEWEST_SHARE, Pace


def test_nothing_is_known_at_first() -> None:
    pace = Pace()
    assert pace.seconds_for(10) is None
    pace.record(0, 5.0)
    assert pace.seconds_for(10) is None


def test_the_first_batch_is_taken_as_it_is_and_later_ones_by_their_share() -> None:
    pace = Pace()
    pace.record(10, 20.0)
    assert pace.seconds_for(3) == pytest.approx(6.0)
    pace.record(10, 40.0)
    assert pace.seconds_for(1) == pytest.approx(2.0 + NEWEST_SHARE * 2.0)
