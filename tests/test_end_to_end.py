"""Whole comparisons of the shared collections against values computed by other programs."""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from rankstats.cli.main import main
from rankstats.comparison import Evidence, collect, compare, compare_evidence
from rankstats.comparison.result import Difference
from rankstats.conventions import Policies
from rankstats.plan import Columns, Plan
from rankstats.stats import bootstrap_intervals, paired_differences, signed_rank_test
from tests.shared import shared

pytestmark = pytest.mark.shared

TREC_EVAL = Policies.from_preset("trec_eval")
COLLECTIONS = (
    "ir/trec-covid-r5",
    "ir/dl-hard-passage",
    "ir/dl-hard-doc",
    "ir/trec-web-2012",
    "recsys/ml-latest-small-2016",
)
FLOAT32 = {("udel_fang_nir", "5"), ("udel_fang_nir", "10"), ("udel_fang_nir", "49"), ("r5.fusion2", "2")}


def runs_of(folder: Path) -> list[Path]:
    return sorted(path for name in ("runs", "runs_generated", "runs_small") for path in folder.glob(f"{name}/*"))


def qrels_of(folder: Path) -> Path:
    (qrels,) = folder.glob("qrels*")
    return qrels


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream, delimiter="\t")


def name_of(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".run")


def evaluated(folder: Path, measures: dict[str, str], tmp_path: Path, *extra: str) -> dict[tuple[str, str, str], float]:
    """Run the command line and return its values by run, query and the file's measure name."""
    out = tmp_path / "values.tsv"
    arguments = ["evaluate", "--qrels", str(qrels_of(folder)), *map(str, runs_of(folder)), "--quiet"]
    arguments += ["--conventions", "trec_eval", "--per-query", "--format", "tsv", "--output", str(out)]
    arguments += [f"--measures={','.join(measures.values())}", *extra]
    assert main(arguments) == 0
    back = {ours: theirs for theirs, ours in measures.items()}
    return {
        (row["system"], row["query_id"], back[row["measure"]]): float(row["value"])
        for row in rows_of(out)
        if row["query_id"] != "all"
    }


@pytest.mark.parametrize(
    ("folder", "at"), [*((folder, 1) for folder in COLLECTIONS), ("ir/dl-hard-passage", 2), ("ir/dl-hard-doc", 2)]
)
def test_evaluate_gives_every_per_query_value(folder: str, at: int, tmp_path: Path) -> None:
    place = shared(f"data/{folder}")
    (expected,) = place.glob("perquery_trec_eval.tsv*" if at == 1 else "perquery_trec_eval_rel2.tsv*")
    names = {"AP": "AP", "nDCG@10": "nDCG@10", "RR": "RR", "P@10": "P@10"}
    if at == 2:
        names |= {"AP": "AP(rel=2)", "RR": "RR(rel=2)", "P@10": "P(rel=2)@10"}
    values = evaluated(place, names, tmp_path)
    far, compared = set(), 0
    for row in rows_of(expected):
        for name in names:
            compared += 1
            if abs(values[(row["run"], row["query"], name)] - float(row[name])) > 1e-9:
                far.add((row["run"], row["query"], name))
    assert compared >= 800
    if folder.endswith("covid-r5"):
        assert far == {(*pair, "AP") for pair in FLOAT32}
        old = evaluated(place, names, tmp_path, "--ties", "float32")
        for row in rows_of(expected):
            for name in names:
                assert old[(row["run"], row["query"], name)] == pytest.approx(float(row[name]), abs=1e-9)
    else:
        assert far == set()


def all_pairs(folder: Path, measure: str, **options: object) -> dict[tuple[str, str], Difference]:
    plan = Plan(
        qrels=str(qrels_of(folder)),
        runs=tuple((name_of(path), str(path)) for path in runs_of(folder) if path.parent.name != "runs_small"),
        measures=(measure,),
        policies=TREC_EVAL,
        compare="all-pairs",
        **options,  # type: ignore[arg-type]  # a plan's own fields
    )
    return {(row.baseline, row.system): row for row in compare(plan).differences}


def expected_tests(folder: Path) -> dict[str, list[dict[str, str]]]:
    grouped: dict[str, list[dict[str, str]]] = {}
    for row in rows_of(folder / "expected_tests.tsv"):
        level = "" if row["rel_level"] == "1" or row["metric"] == "nDCG@10" else f"(rel={row['rel_level']})"
        name, _, cutoff = row["metric"].partition("@")
        grouped.setdefault(name + level + (f"@{cutoff}" if cutoff else ""), []).append(row)
    return grouped


LONGEST = "recsys/ml-latest-small-2016"  # 671 users, all pairs of seven runs


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(folder, marks=pytest.mark.slow) if folder == LONGEST else folder
        for folder in (*COLLECTIONS, "querylog/zzquerylog", "odd/leaky-scifact")
    ],
)
def test_all_pairs_agree_with_scipy_and_statsmodels(folder: str) -> None:
    place = shared(f"data/{folder}")
    compared = 0
    for measure, expected in expected_tests(place).items():
        plain = all_pairs(place, measure, test="t", correction="holm", resamples=2000)
        for row in expected:
            pair = (row["run_a"], row["run_b"])
            loose = folder.endswith("covid-r5") and measure == "AP" and {"r5.fusion2", "udel_fang_nir"} & set(pair)
            check_pair(plain[pair], row, 1e-5 if loose else 1e-6)
            compared += 1
    assert compared == sum(len(rows) for rows in expected_tests(place).values())


def check_pair(ours: Difference, expected: dict[str, str], tolerance: float) -> None:
    near = {"abs": tolerance}
    assert ours.n == int(expected["n_queries"])
    # the file's difference is the first run less the second, ours system less baseline
    assert ours.mean_baseline == pytest.approx(float(expected["mean_a"]), **near)
    assert ours.mean_system == pytest.approx(float(expected["mean_b"]), **near)
    assert ours.difference == pytest.approx(-float(expected["mean_diff"]), **near)
    tests = {other.test: other for other in ours.also}
    corrections = {other.correction: other for other in ours.also_adjusted}
    for p, name in (
        (ours.p_value, "p_ttest_rel"),
        (ours.p_adjusted, "p_ttest_holm"),
        (corrections["bh"].p_adjusted, "p_ttest_bh"),
        (tests["sign"].p_value, "p_sign_binom"),
    ):
        wanted = float(expected[name])
        assert p == pytest.approx(1.0 if np.isnan(wanted) else wanted, **near), name
    flips = float(expected["p_permutation_20000_seed1"])
    error = np.sqrt(flips * (1 - flips) * (1 / 2000 + 1 / 20000)) + 1 / 2001
    assert tests["randomisation"].p_value == pytest.approx(flips, abs=4.5 * error)


@pytest.mark.parametrize("folder", [*COLLECTIONS, "querylog/zzquerylog", "odd/leaky-scifact"])
def test_bootstrap_ends_agree_within_monte_carlo_error(folder: str) -> None:
    """An end from 20,000 resamples lies between our ends at levels 4.5 Monte Carlo errors to either side."""
    place = shared(f"data/{folder}")
    resamples = 10_000
    slack = 2 * 4.5 * np.sqrt(0.025 * 0.975 * (1 / 20_000 + 1 / resamples))
    for measure, expected in expected_tests(place).items():
        runs = tuple((name_of(path), str(path)) for path in runs_of(place) if path.parent.name != "runs_small")
        names = [name for name, _ in runs]
        plan = Plan(qrels=str(qrels_of(place)), runs=runs, measures=(measure,), policies=TREC_EVAL)
        values = collect(plan).scores.values[:, :, 0]
        a, b = ([names.index(row[key]) for row in expected] for key in ("run_a", "run_b"))
        # the file's difference is the first run less the second
        differences = paired_differences(values[:, b], values[:, a])
        wide, narrow = (
            bootstrap_intervals(differences, methods=["percentile"], alpha=0.05 + sign * slack, resamples=resamples)
            for sign in (-1, 1)
        )
        for k, row in enumerate(expected):
            low, high = float(row["boot_pct_lo"]), float(row["boot_pct_hi"])
            if np.isnan(low) or not differences.values[:, k].any():
                continue
            assert wide.low[k, 0] - 1e-6 <= low <= narrow.low[k, 0] + 1e-6, (measure, row["run_a"], row["run_b"])
            assert narrow.high[k, 0] - 1e-6 <= high <= wide.high[k, 0] + 1e-6, (measure, row["run_a"], row["run_b"])


@pytest.mark.parametrize("folder", [*COLLECTIONS, "querylog/zzquerylog"])
def test_wilcoxon_equals_scipy_on_the_same_rounded_differences(folder: str) -> None:
    place = shared(f"data/{folder}")
    for measure in expected_tests(place):
        runs = tuple((name_of(path), str(path)) for path in runs_of(place) if path.parent.name != "runs_small")
        plan = Plan(qrels=str(qrels_of(place)), runs=runs, measures=(measure,), policies=TREC_EVAL)
        values = collect(plan).scores.values[:, :, 0]
        pairs = list(combinations(range(len(runs)), 2))
        differences = paired_differences(values[:, [a for a, _ in pairs]], values[:, [b for _, b in pairs]])
        ours = signed_rank_test(differences, method="normal", zero_method="wilcox", correction=False)
        for k in range(len(pairs)):
            rounded = differences.values[:, k]
            if not rounded.any():
                assert ours.p_value[k] == 1
                continue
            theirs = scipy.stats.wilcoxon(rounded, method="asymptotic", correction=False, zero_method="wilcox")
            assert ours.p_value[k] == pytest.approx(theirs.pvalue, abs=1e-9)


def test_short_and_long_queries_of_dl_hard() -> None:
    place = shared("data/ir/dl-hard-passage")
    plan = Plan(
        qrels=str(place / "qrels.txt.gz"),
        runs=tuple((name, str(place / f"runs/{name}.run.gz")) for name in ("bm25", "bm25_t5-zs")),
        queries=str(place / "topics.tsv"),
        measures=("nDCG@10",),
        policies=TREC_EVAL,
        segments=("length:6",),
    )
    report = compare(plan).to_dict()
    found = {row["segment"]["value"]: row for row in report["differences"] if row["segment"]}
    assert (found["short"]["n"], found["long"]["n"]) == (29, 21)
    assert found["short"]["difference"] == pytest.approx(0.077, abs=5e-4)
    assert found["long"]["difference"] == pytest.approx(0.143, abs=5e-4)
    (test,) = report["heterogeneity"]
    assert 0 < test["p_value"] <= test["p_adjusted"] <= 1
    assert test["attribute"] == "length"


def test_popularity_segments_of_a_query_log(tmp_path: Path) -> None:
    place = shared("data/querylog/zzquerylog")
    runs = sorted((place / "runs_generated").glob("*"))[:2]
    arguments = ["compare", "--qrels", str(place / "qrels.txt"), *map(str, runs), "--quiet", "--resamples", "999"]
    arguments += ["--queries", str(place / "query_popularity.tsv"), "--segment", "popularity", "--out", str(tmp_path)]
    assert main(arguments) == 0
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    segments = {segment["value"]: segment for segment in report["segments"]}
    clicks = {row["query_id"]: float(row["total_clicks"]) for row in rows_of(place / "query_popularity.tsv")}
    total, seen, level = sum(clicks.values()), 0.0, {}
    ordered = sorted(set(clicks.values()), reverse=True)
    for value in ordered:
        share = seen / total
        level[value] = "head" if share < 0.5 else "torso" if share < 0.9 else "tail"
        seen += value * sum(1 for other in clicks.values() if other == value)
    judged = [query["query_id"] for query in report["queries"]]
    for value in ("head", "torso", "tail"):
        assert segments[value]["n"] == sum(level[clicks[query_id]] == value for query_id in judged)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for value in ("head", "torso", "tail"):
        assert f"{value} (" in page
        assert {"attribute": "popularity", "value": value} in [row["segment"] for row in report["differences"]]


def made_runs(folder: Path, rows: list[dict[str, str]]) -> tuple[tuple[str, str], ...]:
    """Write two rankers of the judged products, by length of the name and by shared words; the first is unjudged."""
    runs = []
    for name in ("length", "words"):
        lines = []
        for query in sorted({row["query"] for row in rows}):
            listed = [row for row in rows if row["query"] == query]
            amount = {
                row["docid"]: -len(row["name"]) if name == "length" else words_shared(query, row) for row in listed
            }
            ranked = [f"unjudged-{name}", *sorted(amount, key=lambda doc, of=amount: (-of[doc], doc))]
            lines += [f"{query}\tQ0\t{doc}\t{rank}\t{-rank}\t{name}\n" for rank, doc in enumerate(ranked, start=1)]
        path = folder / f"{name}.run"
        path.write_text("".join(lines), encoding="utf-8")
        runs.append((name, str(path)))
    return tuple(runs)


def words_shared(query: str, row: dict[str, str]) -> int:
    return len(set(query.casefold().split()) & set(row["name"].casefold().split()))


def test_headed_ratings_with_the_query_text_as_id(tmp_path: Path) -> None:
    ratings = shared("data/annotators/chorus/Broad_Query_Set_individual_ratings.csv.gz")
    with gzip.open(ratings, "rt", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    plan = Plan(qrels=str(ratings), columns=Columns(grade="final_rating"))
    queries = sorted({row["query"] for row in rows})
    comparison = compare(replace(plan, runs=made_runs(tmp_path, rows), resamples=999))
    report = comparison.to_dict()
    assert [query["query_id"] for query in report["queries"]] == queries
    assert len(queries) == 135
    assert report["audit"]["rows"]["judgments"] == len(rows)
    assert {row.doc_id for row in comparison.to_judge} == {"unjudged-length", "unjudged-words"}
    assert len(comparison.to_judge) == 2 * len(queries)
    assert comparison.verdict[0].sentence.startswith("words ")


@pytest.mark.parametrize("threads", ["1", "2"])
def test_numbers_do_not_depend_on_threads(threads: str, tmp_path: Path) -> None:
    place = shared("data/ir/dl-hard-passage")
    command = [sys.executable, "-m", "rankstats", "compare", "--qrels", str(place / "qrels.txt.gz")]
    command += [str(place / "runs/bm25.run.gz"), str(place / "runs/bm25_rm3.run.gz"), "--quiet"]
    command += ["--queries", str(place / "topics.tsv"), "--segment", "length:6", "--resamples", "2000", "--out", "out"]
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    for value, folder in ((threads, "first"), ("2" if threads == "1" else "1", "second")):
        (tmp_path / folder).mkdir()
        environment = {**os.environ, **dict.fromkeys(names, value)}
        subprocess.run(command, cwd=tmp_path / folder, env=environment, check=True, capture_output=True)
    for name in ("report.json", "report.html", "per_query.csv", "to_judge.tsv", "summary.md"):
        first, second = ((tmp_path / folder / "out" / name).read_bytes() for folder in ("first", "second"))
        assert first == second, name


def test_evidence_is_reused_without_reading_again() -> None:
    place = shared("data/ir/dl-hard-passage")
    runs = tuple((name, str(place / f"runs/{name}.run.gz")) for name in ("bm25", "bm25_rm3"))
    plan = Plan(qrels=str(place / "qrels.txt.gz"), runs=runs, resamples=199)
    evidence: Evidence = collect(plan)
    first, second = compare_evidence(evidence, plan), compare(plan)
    assert first.to_dict() == second.to_dict()
