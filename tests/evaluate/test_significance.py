"""The paired randomisation test: seeded, symmetric, and right where the exact answer is known."""

from __future__ import annotations

import pytest

from opora.evaluate.significance import LEVEL, compare


def test_equal_runs_do_not_differ() -> None:
    same = compare([0.5, 1.0], [0.5, 1.0])
    assert (same.mean, same.p, same.low, same.high, same.is_significant) == (0.0, 1.0, 0.0, 0.0, False)


def test_the_exact_value_of_a_few_questions() -> None:
    # All four up: of 16 sign patterns two are as far from 0, so p is 1/8.
    found = compare([1.0] * 4, [0.0] * 4)
    assert found.mean == 1.0
    assert found.p == pytest.approx(1 / 8, abs=0.01)
    assert not found.is_significant


def test_many_small_gains_are_significant_and_few_are_not() -> None:
    old = [0.5] * 200
    many = compare([0.5 + 0.05 * (n % 3 > 0) for n in range(200)], old)
    assert many.is_significant
    assert many.low > 0
    one = compare([0.55, *old[1:]], old)
    assert not one.is_significant
    assert one.p > LEVEL


def test_the_order_of_the_runs_turns_the_sign_alone() -> None:
    new, old = [0.2, 0.9, 0.4, 1.0, 0.0], [0.1, 0.7, 0.6, 0.5, 0.0]
    one, other = compare(new, old), compare(old, new)
    assert one.mean == pytest.approx(-other.mean)
    assert one.p == other.p
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=0.05)


def test_the_seed_decides() -> None:
    new, old = [0.2, 0.9, 0.4, 1.0, 0.3], [0.1, 0.7, 0.6, 0.5, 0.1]
    assert compare(new, old) == compare(new, old)
    assert compare(new, old, samples=200, seed=1) != compare(new, old, samples=200, seed=2)


def test_runs_of_different_length_are_a_fault_of_the_caller() -> None:
    with pytest.raises(ValueError, match="paired"):
        compare([1.0], [])
