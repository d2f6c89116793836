"""All pairs of systems in one pass of the bootstrap: the max-T of their family, and which systems may be the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.best_systems import BestSystems, PairResamples, largest_statistics, read_best
from rankstats.stats.complete_values import systems_of
from rankstats.stats.differences import Differences
from rankstats.stats.max_t import MaxTResult, read_family
from rankstats.stats.random_blocks import RNG, generator_from
from rankstats.stats.validation import check_alpha, check_count

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PairBootstrap:
    """Largest studentised deviations of all pairs of systems in joint resamples of whole queries.

    `bootstrap_max_t` and `best_systems` look at the same statistics of the same resamples. Made by
    `PairBootstrap.of`, this object gives the results of both, to the last bit, for the work of one.

    Attributes
    ----------
    source : PairResamples
        The pairs and their sums.
    members : ndarray of int
        Columns that are the family of the max-T.
    of_members : ndarray, shape (B,)
        Largest absolute statistic of the members in each resample, ascending; 0 where no member has a spread.
    left_out : ndarray of int, shape (pairs,)
        Resamples in which a pair had no spread.
    of_others : ndarray, shape (B, m)
        Largest statistic of (other − system) in each resample.

    Examples
    --------
    >>> from rankstats.stats import best_systems, bootstrap_max_t, pairwise_differences
    >>> values = np.random.default_rng(1).normal([0.0, 0.9, 1.0, 0.1], 0.5, size=(40, 4))
    >>> pairs = pairwise_differences(values)
    >>> once = PairBootstrap.of(pairs, resamples=999, rng=0)
    >>> bool(np.all(once.max_t(0.05).p_adjusted == bootstrap_max_t(pairs, resamples=999).p_adjusted))
    True
    >>> bool(np.all(once.best(0.05).p_value == best_systems(values, resamples=999).p_value))
    True
    """

    source: PairResamples
    members: NDArray[np.int64]
    of_members: Floats
    left_out: NDArray[np.int64]
    of_others: Floats

    @classmethod
    def of(
        cls,
        pairs: Differences,
        members: ArrayLike | None = None,
        *,
        resamples: int = 10_000,
        rng: RNG = 0,
        batch: int | None = None,
    ) -> PairBootstrap:
        """Draw the resamples.

        Parameters
        ----------
        pairs : Differences
            All pairs of m systems in the order of `all_pairs`, all on the same queries.
        members : array_like of bool, shape (pairs,), optional
            Pairs that are corrected together; by default all.
        resamples : int
            Number of resamples B.
        rng : int, SeedSequence, BitGenerator, Generator or None
            Seed or source of the random words.
        batch : int, optional
            Resamples held in memory at once; no number depends on it.

        Raises
        ------
        RankstatsError
            If the columns are not all pairs of some number of systems, or are not of the same queries.
        """
        systems_of(pairs.n_columns)
        if not np.all(pairs.present == pairs.present[:, :1]):
            raise RankstatsError("pairs: every pair needs the same queries; leave out those that a system is not on")
        inside = np.ones(pairs.n_columns, dtype=bool) if members is None else np.asarray(members, dtype=bool)
        if inside.shape != (pairs.n_columns,):
            raise RankstatsError(f"members have shape {inside.shape}; one for each of {pairs.n_columns} pairs")
        source = PairResamples.of(pairs, check_count("resamples", resamples))
        batch = None if batch is None else check_count("batch", batch)
        largest = largest_statistics(source, source.blocks(generator_from(rng), batch), inside)
        of_members = np.sort(np.maximum(largest.of_members, 0.0))
        return cls(source, np.flatnonzero(inside), of_members, largest.absent, largest.of_others)

    def max_t(self, alpha: float = 0.05) -> MaxTResult:
        """Return what `bootstrap_max_t` says of the members."""
        members = self.source.pairs.select(self.members)
        # a pair that cannot be studentised is no member whose resamples are counted
        left_out = np.where(np.isneginf(self.source.observed), 0, self.left_out)[self.members]
        return read_family(members, self.of_members, left_out, check_alpha(alpha))

    def best(self, alpha: float = 0.05) -> BestSystems:
        """Return what `best_systems` says of the systems."""
        return read_best(self.source, self.of_others, alpha=check_alpha(alpha), method="bootstrap")
