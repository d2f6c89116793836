"""Whole clusters (sessions, users, paraphrase groups) in the place of queries, for every test of mean differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.differences import Differences
from rankstats.stats.effects import RelativeDifference, difference_and_level, relative_of
from rankstats.stats.exact_sums import to_grid
from rankstats.stats.joined_columns import join_columns
from rankstats.stats.random_blocks import RNG, generator_from, replayed
from rankstats.stats.ratios import cluster_totals
from rankstats.stats.resampling import label_codes
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_family_size

Floats = NDArray[np.float64]
Result = TypeVar("Result", bound=ColumnResult)


def cluster_sums(differences: Differences, clusters: ArrayLike) -> Differences:
    """Return differences whose rows are clusters: weighted cluster means that keep the mean over all queries.

    1. A cluster's numerator is the sum of its queries' weighted differences, its weight the sum of their weights; both
       are whole numbers already, so their sums stay exact. A sum that rounding of the members could explain is 0.
    2. The row of a cluster is its weighted mean with that weight. The mean of the rows is therefore the mean over all
       queries, `sign_flip_test` flips whole clusters (and enumerates up to 16 of them), `paired_bootstrap` and
       `bootstrap_max_t` resample whole clusters with the ratio estimator, and `paired_t` is the cluster-robust t test:
       standard error √(G/(G − 1) Σ(Σw(d − m))²) / Σw over G clusters, G − 1 degrees of freedom.
    3. Where all clusters have the same weight (equal sizes, no weights) this is the plain test of the cluster means;
       clusters of one query each give the plain test itself.

    Rows are in the order of the labels, so the order of the queries plays no part. n counts clusters.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    clusters : array_like, shape (n,)
        Label of each query's cluster.

    Returns
    -------
    Differences

    Raises
    ------
    RankstatsError
        If the labels do not fit, or a cluster has different weights in different columns because some of its queries
        are absent from some of them; `on_clusters` handles that.

    References
    ----------
    Cameron & Miller 2015 (cluster-robust standard errors); Davison & Hinkley 1997, section 3.8 (resampling clusters).

    Examples
    --------
    >>> from rankstats.stats import paired_differences, sign_flip_test
    >>> d = cluster_sums(paired_differences([0.0] * 5, [0.1, 0.3, 0.2, 0.2, 0.4]), ["u", "u", "v", "w", "w"])
    >>> d.n.tolist(), d.mean.round(9).tolist(), sign_flip_test(d).p_value.tolist()
    ([3], [0.24], [0.25])
    """
    codes = label_codes(clusters, differences.n_rows, "clusters")
    weights = _weights_of_clusters(differences, codes)
    shared = weights.max(axis=1, initial=0.0)
    if np.any((weights > 0) & (weights != shared[:, None])):
        raise RankstatsError(
            "clusters: some queries of a cluster are absent from some columns only, so that its weight differs between"
            " columns; use on_clusters, or leave these queries out of all columns"
        )
    return _reduced(differences, codes, shared, weights > 0)


def _weights_of_clusters(differences: Differences, codes: NDArray[np.int64]) -> Floats:
    return cluster_totals(differences.weight_integers[:, None] * differences.present, codes)


def _reduced(
    differences: Differences, codes: NDArray[np.int64], weights: Floats, present: NDArray[np.bool_]
) -> Differences:
    members = cluster_totals(differences.present.astype(np.float64), codes)
    numerators = cluster_totals(differences.numerators, codes)
    numerators = np.where((members > 1) & (np.abs(numerators) <= members), 0.0, numerators)
    counted = weights[weights > 0]
    if not len(counted) or np.all(counted == counted[0]):
        each = counted[0] if len(counted) else 1.0
        unit = differences.numerator_unit / (each * differences.weight_unit)
        ones = np.ones(len(weights))
        return Differences(numerators, unit, present, ones, False, numerators, unit, ones, 1.0, differences.rounding)
    integers, unit = _means(differences, numerators, weights, present)
    return replace(
        differences,
        integers=integers,
        unit=unit,
        present=present,
        weights=weights * differences.weight_unit,
        weighted=True,
        numerators=numerators,
        weight_integers=weights,
    )


def _means(
    differences: Differences, numerators: Floats, weights: Floats, present: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return cluster means on a grid; where all differences are equal, all means are that difference exactly."""
    scale = differences.numerator_unit / differences.weight_unit
    means = numerators / np.where(weights > 0, weights, 1.0)[:, None] * scale
    integers, unit = to_grid(means, len(weights))
    common = np.where(differences.present, differences.integers, -np.inf).max(axis=0, initial=-np.inf)
    common = np.where(np.isfinite(common), common, 0.0)
    constant = differences.constant
    integers = np.where(present, np.where(constant, common, integers), 0.0)
    return integers, np.where(constant, differences.unit, unit)


def on_clusters(
    test: Callable[..., Result],
    differences: Differences,
    clusters: ArrayLike,
    *,
    rng: RNG = None,
    family_size: ArrayLike | None = None,
    **arguments: Any,
) -> Result:
    """Run a test on whole clusters, also where clusters are partly absent from some columns.

    Columns in which all clusters have the same weights are tested together, the others apart, with the same random
    numbers for all. The numbers of a column do not depend on the other columns.

    Parameters
    ----------
    test : callable
        A test that treats its columns separately: `sign_flip_test`, `paired_bootstrap`, `paired_t`.
    differences : Differences
        n queries, c columns.
    clusters : array_like, shape (n,)
        Label of each query's cluster.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Passed on when given.
    family_size : int or array_like of int, shape (c,), optional
        Passed on when given.
    **arguments
        Passed on.

    Returns
    -------
    ColumnResult
        What `test` returns, with all columns in their order.

    Raises
    ------
    RankstatsError
        If the labels or an argument do not fit.

    Examples
    --------
    >>> from rankstats.stats import paired_differences, paired_t
    >>> d = paired_differences([0.0] * 4, [[0.1, 0.1], [0.3, 0.2], [0.2, float("nan")], [0.4, 0.4]])
    >>> on_clusters(paired_t, d, [1, 1, 2, 2]).df.tolist()
    [1, 1]
    """
    codes = label_codes(clusters, differences.n_rows, "clusters")
    weights = _weights_of_clusters(differences, codes)
    groups = _columns_of_equal_weights(weights)
    generator = None if rng is None else generator_from(rng)
    sizes = None if family_size is None else check_family_size(family_size, differences.n_columns)
    parts = []
    for number, columns in enumerate(groups):
        if generator is not None:
            arguments["rng"] = generator if number == len(groups) - 1 else replayed(generator)
        if sizes is not None:
            arguments["family_size"] = sizes[columns]
        shared = weights[:, columns].max(axis=1, initial=0.0)
        chosen = _reduced(differences.select(columns), codes, shared, weights[:, columns] > 0)
        parts.append(test(chosen, **arguments))
    return join_columns(parts, np.concatenate(groups))


def clustered_relative_difference(
    baseline: ArrayLike,
    system: ArrayLike,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    alpha: float = 0.05,
) -> RelativeDifference:
    """Return the relative difference with Fieller's interval from variances between clusters; n counts clusters.

    Parameters
    ----------
    baseline, system : array_like, shape (n,) or (n, c)
        Values per query; NaN in either makes the query absent.
    clusters : array_like, shape (n,)
        Label of each query's cluster.
    weights : array_like, shape (n,), optional
        Weights of the queries, 0 or more.
    alpha : float
        1 − level.

    Returns
    -------
    RelativeDifference

    Raises
    ------
    RankstatsError
        If shapes, labels, weights or alpha are out of range.

    Examples
    --------
    >>> result = clustered_relative_difference([0.4, 0.6, 0.5, 0.5], [0.5, 0.7, 0.6, 0.4], list("uvwx"))
    >>> result.estimate.round(9).tolist(), result.n.tolist()
    ([0.1], [4])
    """
    difference, level = difference_and_level(baseline, system, weights)
    codes = label_codes(clusters, difference.n_rows, "clusters")
    of_clusters = _weights_of_clusters(difference, codes)
    groups = _columns_of_equal_weights(of_clusters)
    parts = []
    for columns in groups:
        inside = of_clusters[:, columns]
        shared, present = inside.max(axis=1, initial=0.0), inside > 0
        pair = (_reduced(part.select(columns), codes, shared, present) for part in (difference, level))
        parts.append(relative_of(*pair, alpha=alpha))
    return join_columns(parts, np.concatenate(groups))


def _columns_of_equal_weights(weights: Floats) -> list[NDArray[np.int64]]:
    if not weights.shape[1]:
        return [np.arange(0)]
    _, group = np.unique(weights, axis=1, return_inverse=True)
    return [np.flatnonzero(group.ravel() == number) for number in range(int(group.max()) + 1)]


def strata_of_clusters(strata: ArrayLike, clusters: ArrayLike) -> NDArray[np.int64]:
    """Return the stratum of each cluster as a number, in the order of the clusters' labels.

    Raises
    ------
    RankstatsError
        If the labels do not fit, or a cluster lies in several strata.

    Examples
    --------
    >>> strata_of_clusters(["x", "x", "y"], ["u", "u", "v"]).tolist()
    [0, 1]
    """
    n = len(np.asarray(strata))
    of_rows, codes = label_codes(strata, n, "strata"), label_codes(clusters, n, "clusters")
    _, first = np.unique(codes, return_index=True)
    of_clusters = of_rows[first]
    split = np.flatnonzero(of_clusters[codes] != of_rows)
    if len(split):
        label = np.asarray(clusters)[split[0]]
        raise RankstatsError(f"cluster {label!s} lies in several strata; clusters are resampled whole, within strata")
    return of_clusters
