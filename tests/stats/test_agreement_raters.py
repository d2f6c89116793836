"""κ, α and confusion of raters, against programs, plain definitions and real assessors."""

from __future__ import annotations

import csv
import gzip
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from rankstats.errors import RankstatsError
from rankstats.stats import cohen_kappa, fleiss_kappa, grade_confusion, krippendorff_alpha
from rankstats.stats.table_bootstrap import bootstrap_tables
from tests.shared import shared
from tests.stats.cases import golden
from tests.stats.golden.leaves import assert_every_leaf, within

GOLDEN = golden("raters")
LEVELS = ("nominal", "ordinal", "interval", "ratio")


def test_every_reference_number() -> None:
    first, second = GOLDEN["cohen"]["r1"], GOLDEN["cohen"]["r2"]
    cohen = cohen_kappa(first, second)
    kappa = dict(zip(("none", "linear", "quadratic"), cohen.kappa.tolist(), strict=True))
    error = float(cohen.standard_error[0])
    ratings = np.array(GOLDEN["krippendorff"]["data_observers_by_units"], dtype=float).T
    alpha = krippendorff_alpha(ratings, levels=LEVELS)
    ours = {
        "cohen": {
            "unweighted": kappa["none"],
            "linear": kappa["linear"],
            "quadratic": kappa["quadratic"],
            "var_unweighted": error**2,
            "vcd_unweighted": kappa["none"],
            "vcd_ase_unweighted": error,
            "vcd_quadratic": kappa["quadratic"],
            "sklearn": kappa,
            "statsmodels": {
                "kappa": kappa["none"],
                "std": error,
                "ci": [kappa["none"] + z * error for z in (-1.959963984540054, 1.959963984540054)],
            },
            "percent_agreement": cohen.agreement,
        },
        "fleiss": dict.fromkeys(("statsmodels", "own"), fleiss_kappa(GOLDEN["fleiss"]["table"])),
        "krippendorff": {"alpha": dict(zip(LEVELS, alpha.reliability.tolist(), strict=True))},
    }
    left_out = {
        "provenance/*": "text",
        "agreement/*": "how the programs agreed among themselves",
        "icc/*": "for measurements, not for grades",
        "krippendorff/published": "text; rounded",
        "*/r[12]/*": "input",
        "fleiss/table/*": "input",
        "krippendorff/data_observers_by_units/*": "input",
    }
    assert_every_leaf(GOLDEN, ours, {"*": within(1e-9)}, left_out)
    assert (alpha.n, alpha.ratings, alpha.raters) == (11, 40, 4)


grades = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40)


@settings(deadline=None, max_examples=60)
@given(grades)
def test_cohen_equals_sklearn_and_statsmodels(pairs: list[tuple[int, int]]) -> None:
    first, second = (list(side) for side in zip(*pairs, strict=True))
    result = cohen_kappa(first, second)
    confusion = grade_confusion(first, second)
    assert result.agreement == pytest.approx(np.mean(np.equal(first, second)))
    if len(set(first) | set(second)) == 1:
        assert np.isnan(result.kappa).all()
        return
    assert_array_equal(confusion.counts, confusion_matrix(first, second))
    for weighting, kappa, error in zip(result.weighting, result.kappa, result.standard_error, strict=True):
        name = None if weighting == "none" else str(weighting)
        assert kappa == pytest.approx(cohen_kappa_score(first, second, weights=name), abs=1e-12)
        with np.errstate(all="ignore"):
            theirs = cohens_kappa(confusion.counts, wt=name)
        assert kappa == pytest.approx(theirs.kappa, abs=1e-12)
        assert error**2 == pytest.approx(theirs.var_kappa, abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 20), st.integers(2, 6), st.integers(2, 4), st.integers(0, 10**6))
def test_fleiss_equals_statsmodels(items: int, raters: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.multinomial(raters, np.full(size, 1 / size), items)
    if np.count_nonzero(table.sum(axis=0)) < 2:
        assert np.isnan(fleiss_kappa(table))
    else:
        assert fleiss_kappa(table) == pytest.approx(statsmodels_fleiss(table), abs=1e-12)


def alpha_by_pairs(ratings: np.ndarray, level: str) -> float:
    """α from its definition: the mean disagreement of pairs within items over that of all pairs of ratings."""
    units = [row[~np.isnan(row)] for row in ratings]
    units = [unit for unit in units if len(unit) > 1]
    everything = np.concatenate(units) if units else np.zeros(0)
    count = {grade: int(np.sum(everything == grade)) for grade in everything.tolist()}

    def distance(a: float, b: float) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "ordinal":
            low, high = sorted((a, b))
            return (sum(n for g, n in count.items() if low <= g <= high) - (count[a] + count[b]) / 2) ** 2
        return (a - b) ** 2 if level == "interval" else ((a - b) / (a + b)) ** 2 if a + b else 0.0

    within = sum(sum(distance(a, b) for a in unit for b in unit) / (len(unit) - 1) for unit in units)
    total = sum(distance(a, b) for a in everything for b in everything)
    n = len(everything)
    return 1 - (within / n) / (total / (n * (n - 1))) if total else np.nan


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 12), st.integers(2, 5), st.sampled_from(LEVELS), st.integers(0, 10**6))
def test_alpha_equals_its_definition(items: int, raters: int, level: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ratings = rng.choice([0.0, 1.0, 2.5, 10.0], (items, raters))
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    result = krippendorff_alpha(ratings, levels=[level])
    assert_allclose(result.reliability[0], alpha_by_pairs(ratings, level), atol=1e-9)
    assert result.n == np.sum(np.sum(~np.isnan(ratings), axis=1) > 1)
    order = rng.permutation(items)
    again = krippendorff_alpha(ratings[order][:, rng.permutation(raters)], levels=[level])
    assert_array_equal(again.reliability, result.reliability)


def chorus() -> tuple[np.ndarray, list[str]]:
    path = shared("data/annotators/chorus/Broad_Query_Set_individual_ratings.csv.gz")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = [f"agent_{i}_rating" for i in (1, 2, 3)]
    return np.array([[float(row[name]) for name in names] for row in rows]), [row["query"] for row in rows]


def test_three_assessors_of_a_shop() -> None:
    ratings, queries = chorus()
    assert len(ratings) == 3188
    for (a, b), published in zip(combinations(range(3), 2), (0.68, 0.65, 0.60), strict=True):
        result = cohen_kappa(ratings[:, a], ratings[:, b], weightings=["none"])
        assert round(float(result.kappa[0]), 2) == published
    single = krippendorff_alpha(ratings, levels=["ordinal"], resamples=999)
    clustered = krippendorff_alpha(ratings, levels=["ordinal"], resamples=999, clusters=queries)
    assert single.low[0] < single.reliability[0] < single.high[0]
    # items of one query are alike, so that the queries say less than the items seem to
    assert clustered.high[0] - clustered.low[0] > 1.5 * (single.high[0] - single.low[0])


def test_intervals_are_those_of_all_resamples() -> None:
    first, second = np.array([0.0, 1, 2, 1]), np.array([0.0, 2, 2, 0])
    every = [
        cohen_kappa(first[list(rows)], second[list(rows)], grades=[0, 1, 2]).kappa
        for rows in product(range(4), repeat=4)
    ]
    result = cohen_kappa(first, second, grades=[0, 1, 2], resamples=20_000, alpha=0.3)
    low, high = np.nanquantile(every, [0.15, 0.85], axis=0)
    assert_allclose(result.low, low, atol=0.05)
    assert_allclose(result.high, high, atol=0.05)
    spread = bootstrap_tables(np.arange(5.0)[:, None], lambda sums: sums.T, resamples=20_000).std()
    assert spread == pytest.approx(np.sqrt(5 * 2), rel=0.03)


def test_a_cluster_of_copies_is_one_item() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 3, (2, 30)).astype(float)
    label = np.repeat(np.arange(30), 4)
    for function in (
        lambda a, b, **more: cohen_kappa(a, b, resamples=299, **more),
        lambda a, b, **more: krippendorff_alpha(np.column_stack([a, b]), levels=["nominal"], resamples=299, **more),
    ):
        one, four = function(first, second), function(np.repeat(first, 4), np.repeat(second, 4), clusters=label)
        order = rng.permutation(120)
        again = function(np.repeat(first, 4)[order], np.repeat(second, 4)[order], clusters=label[order])
        assert_array_equal([four.low, four.high], [again.low, again.high])
        assert_array_equal(one.low < one.high, True)
        if hasattr(one, "kappa"):
            assert_allclose([one.low, one.high], [four.low, four.high], atol=1e-12)


def test_missing_grades_are_left_out() -> None:
    result = cohen_kappa([0, 1, np.nan, 1], [0, 1, 1, np.nan])
    assert (result.n, result.agreement) == (2, 1.0)
    assert result.kappa.tolist() == [1, 1, 1]
    assert np.isnan([result.low, result.high]).all()
    confusion = grade_confusion([0, 3, np.nan], [0, 1, 1], grades=[0, 1, 2, 3])
    assert confusion.n == 2
    assert confusion.counts[3, 1] == 1
    assert confusion.to_dicts()[2] == {"grade": 2.0, "counts": [0, 0, 0, 0], "specific_agreement": None, "n": 2}


def test_a_scale_with_unused_grades_moves_the_weights() -> None:
    first, second = [0, 1, 3, 3], [0, 3, 3, 1]
    whole = cohen_kappa(first, second, grades=[0, 1, 2, 3]).kappa
    assert whole[2] == pytest.approx(cohen_kappa_score(first, second, labels=[0, 1, 2, 3], weights="quadratic"))
    assert whole[2] != pytest.approx(cohen_kappa(first, second).kappa[2])


def test_nothing_rated() -> None:
    for first, second in (([], []), ([np.nan], [1.0])):
        result = cohen_kappa(first, second, resamples=99)
        assert result.n == 0
        assert np.isnan([*result.kappa, *result.low, result.agreement]).all()
        alpha = krippendorff_alpha(np.column_stack([first, second]), resamples=99)
        assert (alpha.n, alpha.ratings, alpha.raters) == (0, 0, 0)
        assert np.isnan([alpha.reliability, alpha.low]).all()
    assert np.isnan(fleiss_kappa(np.zeros((0, 3))))


def test_messages() -> None:
    with pytest.raises(RankstatsError, match="two of one length"):
        cohen_kappa([1, 2], [1])
    with pytest.raises(RankstatsError, match="grade 4 is not one of the grades given"):
        grade_confusion([1, 4], [1, 1], grades=[1, 2, 3])
    with pytest.raises(RankstatsError, match="weightings = 'cubic' is unknown"):
        cohen_kappa([1], [1], weightings=["cubic"])
    with pytest.raises(RankstatsError, match=r"levels = 'ordnal' is unknown; .* did you mean 'ordinal'"):
        krippendorff_alpha([[1, 2]], levels=["ordnal"])
    with pytest.raises(RankstatsError, match="grade -1 is below 0"):
        krippendorff_alpha([[-1, 2]], levels=["ratio"])
    with pytest.raises(RankstatsError, match="items, raters"):
        krippendorff_alpha([1, 2])
    with pytest.raises(RankstatsError, match="rated 2 to 3 times"):
        fleiss_kappa([[2, 0], [2, 1]])
    with pytest.raises(RankstatsError, match="whole numbers"):
        fleiss_kappa([[0.5, 1.5]])
    with pytest.raises(RankstatsError, match="one label for each of the 2"):
        cohen_kappa([1, 2], [1, 2], clusters=["a"], resamples=9)
    with pytest.raises(RankstatsError, match="20,000 different grades of 20,000 items"):
        krippendorff_alpha(np.column_stack([np.arange(20_000.0)] * 2))
