"""Interleaving readouts: credits by hand, reference numbers, symmetries, segments, several rankers, looks, formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats as scipy_stats

import rankstats
import rankstats.report
from rankstats.interleaving import InterleavingReadout
from tests.interleaving.made import (
    Rows,
    check,
    codes,
    log,
    page_rows,
    preference,
    queries,
    readout,
    renamed,
    written,
)

SCHEMA = json.loads((Path(rankstats.report.__file__).parent / "report.schema.json").read_text(encoding="utf-8"))
GOLDEN = json.loads((Path(__file__).parents[1] / "stats" / "golden" / "stats_ab.json").read_text(encoding="utf-8"))


def pages(*texts: str) -> Rows:
    """Return pages from 'teams clicks', such as 'ab 10'."""
    return [row for i, text in enumerate(texts) for row in page_rows(f"p{i:04d}", *text.split())]


def numbers(found: InterleavingReadout) -> list[Any]:
    """Every number of the differences."""
    made = found.to_dict()
    return [
        {key: row[key] for key in ("measure", "segment", "n", "difference", "p_value", "interval", "wins", "losses")}
        for row in made["differences"]
    ]


# ── credits and counts ──────────────────────────────────────────────────────────────────────────────────────────────


def test_team_draft_credits_by_hand() -> None:
    """Two wins of new, one of prod, a tie, a page whose click is in the shared prefix, two without clicks."""
    found = readout(pages("ab 01", "ba 10", "ab 10", "abab 1100", "-ab 100", "ab 00", "ba 00"))
    row = preference(found)
    assert (row.impressions, row.without_clicks, row.n) == (7, 2, 5)
    assert (row.wins, row.ties, row.losses) == (2, 2, 1)
    assert row.win_share == pytest.approx(0.6)
    assert row.delta == pytest.approx(0.1)
    assert row.difference == pytest.approx(0.2)
    assert row.mean_system == pytest.approx(0.6)
    assert row.mean_baseline == pytest.approx(0.4)
    clicks = preference(found, "credited clicks")
    assert clicks.mean_baseline == pytest.approx(2 / 5)
    assert clicks.mean_system == pytest.approx(3 / 5)


def test_clicks_on_a_shared_prefix_count_for_nobody_where_the_ranks_tell() -> None:
    ranks = [(1, 1), (2, 3), (3, 2)]
    rows = [row | {"rank_a": a, "rank_b": b} for row, (a, b) in zip(pages("aab 100"), ranks, strict=True)]
    rows += [row | {"rank_a": a, "rank_b": b} for row, (a, b) in zip(page_rows("x", "aab", "101"), ranks, strict=True)]
    row = preference(readout(rows))
    assert (row.wins, row.ties, row.losses) == (1, 1, 0)
    # without the ranks the click at the top is that of its team
    bare = [{key: value for key, value in row.items() if not key.startswith("rank_")} for row in rows]
    assert (preference(readout(bare)).wins, preference(readout(bare)).losses) == (0, 1)


def test_balanced_credits_by_hand() -> None:
    """Chapelle et al. 2012, figure 1: A = a b c d g h, B = b e a f g h on the page a b e c d f."""
    rank = {"A": dict(zip("abcdgh", range(1, 7), strict=True)), "B": dict(zip("beafgh", range(1, 7), strict=True))}
    rows = [
        {"impression_id": name, "user_id": name, "position": k + 1, "clicked": int(doc in clicked)}
        | {"rank_a": rank["A"].get(doc), "rank_b": rank["B"].get(doc)}
        for name, clicked in (("one", "be"), ("two", "a"), ("three", "c"), ("four", ""))
        for k, doc in enumerate("abecdf")
    ]
    row = preference(readout(rows, scheme="balanced", rankers=("A", "B")))
    assert (row.baseline, row.system, row.n) == ("A", "B", 3)
    assert (row.wins, row.ties, row.losses) == (1, 0, 2)


def test_probabilistic_credits_by_hand() -> None:
    """Of lists of two in opposite order, the first result is ranker a's with probability 8/9."""
    rows = [
        {
            "impression_id": name,
            "user_id": name,
            "position": k,
            "rank_a": k,
            "rank_b": 3 - k,
            "clicked": int(k == click),
        }
        for name, click in (("one", 1), ("two", 1), ("three", 0))
        for k in (1, 2)
    ]
    found = readout(rows, scheme="probabilistic", list_length=2, rankers=("prod", "new"))
    row = preference(found, "credited clicks")
    assert row.difference == pytest.approx(1 / 9 - 8 / 9)
    assert (row.wins, row.win_share) == (None, None)
    assert [info.name for info in found.measures] == ["credited clicks"]


def test_the_reference_counts() -> None:
    wanted = GOLDEN["interleaving"]
    made = ["ab 01"] * wanted["wins_B"] + ["ab 10"] * wanted["wins_A"] + ["ab 11"] * wanted["ties"]
    found = readout(pages(*made))
    row = preference(found)
    assert (row.losses, row.wins, row.ties) == (wanted["wins_A"], wanted["wins_B"], wanted["ties"])
    assert row.delta == pytest.approx(wanted["delta_AB_Chapelle"])
    decided = next(level for level in found.levels if level.level == "decided")
    assert decided.p_value == pytest.approx(wanted["binomial_excluding_ties"], rel=1e-9)
    assert decided.p_value == pytest.approx(scipy_stats.binomtest(81, 139).pvalue, rel=1e-9)


# ── levels ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_user_with_many_pages_counts_once() -> None:
    heavy = [row | {"unit_id": "heavy"} for row in pages(*["ab 01"] * 40)]
    light = [row | {"impression_id": f"l{row['impression_id']}"} for row in pages(*["ab 01", "ab 10"] * 6)]
    found = readout([*heavy, *light])
    levels = {level.level: level for level in found.levels}
    assert levels["unit"].used
    assert levels["unit"].n == 13
    assert (levels["impression"].p_value or 1.0) < 0.01
    assert (levels["unit"].p_value or 0.0) > 0.1
    assert found.verdict[0].outcome == "not_shown"
    assert "dominant_unit" in codes(found)
    assert "heavy with 40" in check(found, "dominant_unit").found


def test_without_units_the_queries_are_flipped_and_it_is_said() -> None:
    rows = [{key: value for key, value in row.items() if key != "unit_id"} for row in log(300)]
    found = readout(rows)
    assert found.tested_at == "query"
    assert check(found, "unit_of_analysis").outcome == "warns"
    assert preference(found).test == "sign flips of whole queries"
    alone = readout([{key: value for key, value in row.items() if key != "query_id"} for row in rows])
    assert alone.tested_at == "impression"
    assert preference(alone).n_clusters is None


def test_fewer_than_ten_units_have_no_verdict() -> None:
    found = readout(log(120, 9, effect=0.9, taste=0.0))
    assert found.verdict[0].outcome == "not_shown"
    assert found.verdict[0].sentence.startswith("Too few units for a verdict on win share")


def test_p_and_interval_agree_at_every_level() -> None:
    for seed in range(3):
        found = readout(log(60, 30, seed, effect=0.15), segments=["device"])
        for row in found.differences:
            if row.interval is not None and row.p_value is not None:
                assert (row.p_value <= 0.05) == row.interval.leaves_out_zero()
        for level in found.levels:
            if level.interval is not None and level.p_value is not None:
                assert (level.p_value <= 0.05) == level.interval.leaves_out_zero()


# ── symmetries ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("scheme", "more"), [("team-draft", {}), ("balanced", {}), ("probabilistic", {"list_length": 10})]
)
def test_the_order_of_the_rows_changes_nothing(scheme: str, more: dict[str, Any]) -> None:
    rows = log(150, 40, scheme=scheme)
    shuffled = [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]
    asked = {"scheme": scheme, "segments": ["device"], **more}
    made = [readout(given, **asked).to_dict() for given in (rows, shuffled)]
    for one in made:
        one["reproduction"].pop("inputs")
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("scheme", "more"), [("team-draft", {}), ("balanced", {}), ("probabilistic", {"list_length": 10})]
)
def test_exchanged_sides_are_the_same_log_and_another_baseline_is_its_mirror(scheme: str, more: dict[str, Any]) -> None:
    rows = log(200, 50, scheme=scheme)
    asked = {"scheme": scheme, "segments": ["device"], **more}
    plain = readout(rows, baseline="prod", **asked)
    assert numbers(readout(renamed(rows), baseline="prod", **asked)) == numbers(plain)
    mirror = readout(renamed(rows), **asked)
    assert (mirror.baseline, plain.baseline) == ("new", "prod")
    for one, other in zip(mirror.differences, plain.differences, strict=True):
        assert one.difference == pytest.approx(-(other.difference or 0.0), abs=1e-12)
        assert (one.p_value, one.wins, one.losses) == (other.p_value, other.losses, other.wins)
        assert one.interval is not None
        assert other.interval is not None
        assert one.interval.ends == pytest.approx([-end for end in reversed(other.interval.ends)], abs=1e-12)


def test_random_clicks_favour_no_ranker() -> None:
    """Logs of 80 pages without any taste: of 20 at alpha .25, 1 to 11 rejections are within 99.5 % of the binomial."""
    p_values = [
        preference(readout(log(80, 40, seed, effect=0.0, taste=0.0), alpha=0.25, resamples=199)).p_value or 1.0
        for seed in range(20)
    ]
    assert 1 <= sum(p <= 0.25 for p in p_values) <= 11


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "more"), [("team-draft", {}), ("balanced", {}), ("probabilistic", {"list_length": 10})]
)
def test_users_with_tastes_but_none_on_the_whole(scheme: str, more: dict[str, Any]) -> None:
    """Of 120 logs at alpha .1 with heavy users, 3 to 24 rejections are within 99.9 % of the binomial."""
    p_values = [
        preference(found, found.primary[0]).p_value or 1.0
        for seed in range(120)
        if (found := readout(log(120, 40, seed, effect=0.0, scheme=scheme), scheme=scheme, alpha=0.1, **more))
    ]
    assert 3 <= sum(p <= 0.1 for p in p_values) <= 24


# ── segments, rankers, looks ────────────────────────────────────────────────────────────────────────────────────────


def test_segments_are_the_readouts_of_their_rows() -> None:
    rows = log(500, 150, by_device=(0.0, 3.0, 1.0))
    found = readout(rows, segments=["device"])
    assert [(segment.value, segment.share_of) for segment in found.segments] == [
        (device, "impressions") for device in ("desktop", "phone", "tablet")
    ]
    for device in ("desktop", "phone", "tablet"):
        alone = preference(readout([row for row in rows if row["device"] == device]))
        segment = preference(found, segment=device)
        assert (segment.n, segment.wins) == (alone.n, alone.wins)
        assert segment.difference == pytest.approx(alone.difference)
        assert segment.p_value == alone.p_value
        assert segment.role == "exploratory"
    heterogeneity = found.heterogeneity[0]
    assert heterogeneity.attribute == "device"
    assert heterogeneity.p_value is not None
    assert heterogeneity.p_value < 0.01


def test_segments_of_the_query_table() -> None:
    rows = log(300, 80)
    found = readout(rows, segments=["length", "popularity", "device"], queries=queries(rows))
    assert {segment.attribute for segment in found.segments} == {"length", "popularity", "device"}
    assert {s.value for s in found.segments if s.attribute == "popularity"} == {"head", "torso", "tail"}
    whole = preference(found).n
    for attribute in ("length", "popularity", "device"):
        assert sum(segment.n for segment in found.segments if segment.attribute == attribute) == whole


def test_several_rankers_have_a_family_an_order_and_candidates() -> None:
    trio = (("prod", "x"), ("prod", "y"), ("x", "y"))
    found = readout(log(1500, 400, effect=0.4, pairs=trio, taste=0.1), resamples=4999)
    assert [(row.baseline, row.system) for row in found.differences if row.role == "confirmatory"] == list(trio)
    assert found.baseline is None
    assert found.to_dict()["compare"] == "all-pairs"
    for row in found.differences:
        if row.role == "confirmatory":
            assert row.p_adjusted == pytest.approx(min(1.0, 3 * (row.p_value or 0.0)))
    assert [(row.system, row.rank, row.low, row.high) for row in found.standings] == [
        ("y", 1, 1, 1), ("x", 2, 2, 2), ("prod", 3, 3, 3),
    ]  # fmt: skip
    assert [row.may_be_best for row in found.standings] == [True, False, False]
    # the mean win share against the others, each pair counting alike
    shares = {(row.baseline, row.system): row.win_share for row in found.differences if row.role == "confirmatory"}
    y = (shares["prod", "y"] + shares["x", "y"]) / 2  # type: ignore[operator]  # shares of wins are there
    assert found.standings[0].mean == pytest.approx(y)


def test_a_baseline_that_all_met_needs_no_name() -> None:
    star = (("x", "prod"), ("prod", "y"))
    found = readout(log(300, 80, pairs=star))
    assert found.baseline == "prod"
    assert {row.baseline for row in found.differences} == {"prod"}
    assert "all others were interleaved with it" in " ".join(w.message for w in found.warnings)
    assert all(row.low == 1 or row.high == 3 for row in found.standings)


def test_planned_looks_widen_the_interval() -> None:
    rows = log(400, 120)
    fixed, first, last = (
        preference(readout(rows, **asked)) for asked in ({}, {"looks": (0.5, 1.0), "look": 1}, {"looks": (0.5, 1.0)})
    )
    widths = [row.interval.ends[1] - row.interval.ends[0] for row in (fixed, last, first) if row.interval is not None]
    assert widths[0] < widths[2]
    assert widths[1] < widths[2]
    assert first.test == "sign flips of whole units, group-sequential"
    # O'Brien–Fleming at half of the information: 2.963 standard errors, where units are not few
    assert widths[2] == pytest.approx(2 * 2.963 * (first.standard_error or 0.0), rel=0.15)
    sequence = preference(readout(rows, design="confidence-sequence", planned_units=200))
    assert sequence.test == "confidence-sequence"
    assert sequence.interval is not None
    assert sequence.interval.ends[1] - sequence.interval.ends[0] > widths[0]


def test_rankers_that_never_met_have_no_order() -> None:
    found = readout(log(200, 60, pairs=(("p", "q"), ("r", "s"))))
    assert found.standings == ()
    assert {score.mean for score in found.scores if score.measure == "win share"} == set()
    assert "not_connected" in codes(found)


def test_a_look_is_decided_by_the_flips() -> None:
    """p of the look is no more than what it may spend exactly when the repeated interval leaves out 0."""
    for seed in range(12):
        rows = log(160, 40, seed, effect=0.15)
        alone = preference(readout(rows))
        for spending, nominal in (("obrien-fleming", 0.00305), ("pocock", 0.03101)):
            row = preference(readout(rows, looks=(0.5, 1.0), look=1, spending=spending))
            assert row.interval is not None
            assert alone.p_value is not None
            assert row.p_value is not None
            assert (alone.p_value <= nominal) == row.interval.leaves_out_zero() == (row.p_value <= 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("spending", ["obrien-fleming", "pocock"])
def test_two_looks_at_few_heavy_users_keep_the_level(spending: str) -> None:
    """Of 150 logs at alpha .1, looked at twice, 4 to 27 rejections are within 99.9 % of the binomial."""
    rejected = 0
    for seed in range(150):
        rows = log(160, 40, seed, effect=0.0)
        half = {f"u{user:05d}" for user in range(0, 40, 2)}
        looks = [[row for row in rows if row["unit_id"] in half], rows]
        rejected += any(
            (preference(readout(seen, looks=(0.5, 1.0), look=k, spending=spending, alpha=0.1)).p_value or 1.0) <= 0.1
            for k, seen in enumerate(looks, 1)
        )
    assert 4 <= rejected <= 27


# ── forms in and out ────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_form_of_a_log_gives_the_same_numbers(tmp_path: Path) -> None:
    rows = log(120, 40)
    wanted = numbers(readout(rows, segments=["device"]))
    frame = pd.DataFrame(rows)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "log.parquet")
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    forms = [
        frame,
        pl.DataFrame(rows),
        pa.Table.from_pylist(rows),
        str(written(rows, tmp_path / "log.csv")),
        str(written(rows, tmp_path / "log.tsv", "\t")),
        str(tmp_path / "log.parquet"),
        str(tmp_path / "log.jsonl"),
        [str(written(rows[:300], tmp_path / "one.csv")), str(written(rows[300:], tmp_path / "two.csv"))],
    ]
    before = frame.copy()
    for form in forms:
        assert numbers(rankstats.interleaving_readout(form, segments=["device"], resamples=999)) == wanted
    pd.testing.assert_frame_equal(frame, before)


def test_names_of_columns_and_teams() -> None:
    rows = log(120, 40)
    wanted = numbers(readout(rows))
    names = {"impression_id": "serp", "unit_id": "who", "query_id": "asked", "team": "side", "clicked": "hit"}
    other = [{names.get(key, key): value for key, value in row.items()} for row in rows]
    columns = {"impression": "serp", "unit": "who", "query": "asked", "team": "side", "clicked": "hit"}
    assert numbers(readout(other, columns=columns)) == wanted
    by_name = [{**row, "team": {"a": "prod", "b": "new"}.get(row["team"], "both")} for row in rows]
    assert numbers(readout(by_name)) == wanted
    nameless = [{k: v for k, v in row.items() if not k.startswith("ranker_")} for row in rows]
    assert numbers(readout(nameless, rankers=("prod", "new"))) == wanted
    of_teams = [{k: v for k, v in row.items() if not k.startswith("ranker_")} for row in by_name]
    assert numbers(readout(of_teams, baseline="prod")) == wanted


def test_impressions_that_the_log_does_not_name() -> None:
    rows = log(120, 40)
    nameless = [{key: value for key, value in row.items() if key != "impression_id"} for row in rows]
    found = readout(nameless)
    assert check(found, "duplicate_rows").outcome == "warns"
    row, wanted = preference(found), preference(readout(rows))
    assert (row.impressions, row.wins, row.difference) == (wanted.impressions, wanted.wins, wanted.difference)


def test_results_that_a_ranking_lacks_are_absent_in_any_form(tmp_path: Path) -> None:
    rows = [{**row, "rank_b": None if row["rank_b"] > 7 else row["rank_b"]} for row in log(80, 30, scheme="balanced")]
    wanted = numbers(readout(rows, scheme="balanced"))
    frame = pl.DataFrame(rows).with_columns(pl.col("rank_b").cast(pl.Float64).fill_null(float("nan")))
    spelled = [{**row, "rank_b": "NA" if row["rank_b"] is None else row["rank_b"]} for row in rows]
    for form in (frame, pd.DataFrame(rows), str(written(spelled, tmp_path / "log.csv"))):
        assert numbers(readout(form, scheme="balanced")) == wanted
    with pytest.raises(rankstats.InputError, match=r"row 1: rank_b is 'far'; a rank from 1 is expected, or nothing"):
        readout([{**rows[0], "rank_b": "far"}, *[{**row, "rank_b": str(row["rank_b"])} for row in rows[1:]]])


def test_a_notebook_shows_the_verdict() -> None:
    found = readout(log(80, 30))
    assert found.verdict[0].sentence[:30] in found._repr_html_()


def test_report_json_fits_the_schema_and_the_frame_is_flat() -> None:
    rows = log(200, 60, pairs=(("prod", "x"), ("prod", "y"), ("x", "y")))
    for found in (readout(rows, segments=["device"]), readout(rows, looks=(0.5, 1.0), look=1), readout(log(10, 4))):
        made = found.to_dict()
        jsonschema.validate(made, SCHEMA)
        assert made["kind"] == "interleaving"
        assert made == json.loads(json.dumps(made, allow_nan=False))
    frame = readout(rows, segments=["device"]).to_frame()
    assert {"win_share", "delta", "interval_low", "delta_interval_high", "attribute"} <= set(frame.columns)


def test_means_differ_by_the_difference() -> None:
    for scheme, more in (("team-draft", {}), ("balanced", {}), ("probabilistic", {"list_length": 10})):
        found = readout(log(150, 50, scheme=scheme), scheme=scheme, segments=["device"], **more)
        for row in found.differences:
            assert row.mean_system is not None
            assert row.mean_baseline is not None
            assert row.difference == pytest.approx(row.mean_system - row.mean_baseline, abs=1e-9)


def test_credited_clicks_of_two_rankers_have_intervals_between_whole_units() -> None:
    rows = log(600, 60, taste=0.8)
    found = readout(rows)
    clicked = {row["impression_id"] for row in rows if row["clicked"]}
    for side, ranker in (("a", "prod"), ("b", "new")):
        score = next(row for row in found.scores if (row.system, row.measure) == (ranker, "credited clicks"))
        sums: dict[str, list[float]] = {}
        for row in rows:
            if row["impression_id"] in clicked:
                mine = float(row["clicked"] and row["team"] == side)
                both = sums.setdefault(row["unit_id"], [0.0, 0.0])
                sums[row["unit_id"]] = [both[0] + mine, both[1] + (row["position"] == 1)]
        credited, pages = np.array(list(sums.values())).T
        mean, units = credited.sum() / pages.sum(), len(pages)
        error = np.sqrt(units / (units - 1) * ((credited - mean * pages) ** 2).sum()) / pages.sum()
        half = float(scipy_stats.t.ppf(0.975, units - 1)) * error
        assert score.mean == pytest.approx(mean)
        assert score.interval is not None
        assert score.interval.ends == pytest.approx((mean - half, mean + half))
