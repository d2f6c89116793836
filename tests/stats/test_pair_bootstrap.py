from __future__ import annotations

import numpy as np
import pytest

from rankstats.errors import RankstatsError
from rankstats.stats import PairBootstrap, best_systems, bootstrap_max_t, pairwise_differences
from tests.stats.several import assert_same, made


@pytest.mark.parametrize(("n", "m"), [(12, 4), (26, 15), (40, 20)])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_one_pass_gives_what_two_give(n: int, m: int, share: float) -> None:
    values = np.round(made(n, m), 1)
    # identical systems, and one that differs on one query: resamples without spread
    values[:, 1] = values[:, 2] = values[:, 0]
    values[0, 2] += 0.5
    pairs = pairwise_differences(values)
    members = np.random.default_rng(1).random(pairs.n_columns) < share
    once = PairBootstrap.of(pairs, members, resamples=300, rng=5)
    family = bootstrap_max_t(pairs.select(np.flatnonzero(members)), alpha=0.1, resamples=300, rng=5)
    assert_same(once.max_t(0.1), family)
    assert_same(once.best(0.1), best_systems(values, alpha=0.1, resamples=300, rng=5))
    assert_same(once.max_t(0.1), PairBootstrap.of(pairs, members, resamples=300, rng=5, batch=7).max_t(0.1))


def test_bad_input() -> None:
    values = made(10, 3)
    with pytest.raises(RankstatsError, match="2 pairs"):
        PairBootstrap.of(pairwise_differences(values).select([0, 1]))
    with pytest.raises(RankstatsError, match="one for each of 3 pairs"):
        PairBootstrap.of(pairwise_differences(values), [True])
    values[0, 0] = np.nan
    with pytest.raises(RankstatsError, match="same queries"):
        PairBootstrap.of(pairwise_differences(values))
