"""Whether two runs over the same questions differ by more than chance: the paired randomisation test, seeded.

Under the hypothesis that the runs are alike, the sign of each question's difference is a coin toss (Smucker, Allan
and Carterette 2007). The bootstrap gives the interval in which the mean difference lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SAMPLES = 10_000
SEED = 20_240_229
LEVEL = 0.05
_STEP = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """``mean`` is new less old; ``p`` two-sided; ``low`` and ``high`` bound 95% of the bootstrap."""

    mean: float
    p: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        return self.p < LEVEL


def compare(new: Sequence[float], old: Sequence[float], *, samples: int = SAMPLES, seed: int = SEED) -> Difference:
    """Scores of the same questions in the same order. The same scores and seed give the same figures."""
    if len(new) != len(old):
        raise ValueError(f"{len(new)} scores can't be paired with {len(old)}.")
    gaps = np.asarray(new, np.float64) - np.asarray(old, np.float64)
    if not gaps.any():
        return Difference(mean=0.0, p=1.0, low=0.0, high=0.0)
    random = np.random.default_rng(seed)
    observed = float(gaps.mean())
    as_far, resampled = 0, []
    for start in range(0, samples, _STEP):
        rows = min(_STEP, samples - start)
        signs = random.integers(0, 2, (rows, gaps.size), np.int8) * 2.0 - 1.0
        flipped = np.abs(signs @ gaps) / gaps.size
        # The slack keeps a sum in another order from counting as less far.
        as_far += int((flipped >= abs(observed) - 1e-12).sum())
        resampled.append(gaps[random.integers(0, gaps.size, (rows, gaps.size))].mean(axis=1))
    low, high = np.quantile(np.concatenate(resampled), [0.025, 0.975])
    return Difference(mean=observed, p=(as_far + 1) / (samples + 1), low=float(low), high=float(high))
