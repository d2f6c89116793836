"""Checks of interleaving logs, and what cannot be read: each kind of fault once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankstats.errors import InputError, PlanError, RankstatsError
from tests.interleaving.made import Rows, check, codes, log, page_rows, preference, readout, written

ROWS = log(200, 60)


def changed(rows: Rows, change: Any) -> Rows:
    return [{**row, **change(i, row)} for i, row in enumerate(rows)]


def test_a_sound_log_passes() -> None:
    found = readout(log(600, 300))
    assert {row.code: row.outcome for row in found.checks if row.outcome != "ok"} == {}
    assert codes(found) == {"decided"}
    assert found.left_out == {}


def test_a_ranker_that_always_goes_first_blocks() -> None:
    found = readout([row for i in range(40) for row in page_rows(f"p{i:02d}", "-abab", ("01000", "00100")[i % 3 == 0])])
    assert check(found, "first_pick").outcome == "blocks"
    assert found.verdict[0].outcome == "not_shown"
    assert "withheld: the rankers did not go first equally often" in found.verdict[0].sentence
    assert preference(found).withheld is not None


def test_a_lopsided_coin_is_found_between_users() -> None:
    """One user with a hundred pages that start alike is one user."""
    heavy = [row for i in range(100) for row in page_rows(f"h{i:03d}", "abab", "0100", unit_id="heavy")]
    light = [row for i in range(60) for row in page_rows(f"l{i:03d}", ("abab", "baba")[i % 2], "0100")]
    assert check(readout([*heavy, *light]), "first_pick").outcome == "ok"
    each = changed(heavy, lambda _, row: {"unit_id": row["impression_id"]})
    assert check(readout([*each, *light]), "first_pick").outcome == "blocks"


def test_balanced_pages_of_shifted_lists_are_not_believed() -> None:
    """Random clicks on lists that differ by a shift of one place favour one ranker: Chapelle et al. 2012."""
    rng = np.random.default_rng(0)
    rows = []
    for page in range(400):
        shown = [(1, 4), (2, 1), (3, 2), (4, 3)] if rng.random() < 0.5 else [(2, 1), (1, 4), (3, 2), (4, 3)]
        rows += [
            {"impression_id": f"i{page:03d}", "unit_id": f"u{page % 97}", "position": k + 1, "rank_a": a, "rank_b": b,
             "clicked": int(rng.random() < 0.4)}
            for k, (a, b) in enumerate(shown)
        ]  # fmt: skip
    found = readout(rows, scheme="balanced", rankers=("A", "B"))
    row = preference(found)
    assert row.p_value is not None
    assert row.p_value <= 0.05
    assert check(found, "random_clicks").outcome == "blocks"
    assert found.verdict[0].outcome == "not_shown"
    assert "clicks at random places would favour the same ranker as much" in found.verdict[0].sentence


def test_impossible_impressions_are_left_out_counted_and_too_many_block() -> None:
    few = [*ROWS, *page_rows("twice", "ab", "10"), page_rows("twice", "ab", "01")[0]]
    found = readout(few)
    assert found.left_out == {"with two results at one position": 1}
    assert check(found, "impossible_impressions").outcome == "warns"
    assert preference(found).n == preference(readout(ROWS)).n
    mixed = [*few, *changed(page_rows("mixed", "ab", "10"), lambda i, _: {"unit_id": f"m{i}"})]
    found = readout(mixed)
    assert sum(found.left_out.values()) == 2
    many = [row for i in range(4) for row in changed(page_rows(f"m{i}", "ab", "10"), lambda k, _: {"query_id": str(k)})]
    found = readout([*ROWS, *many])
    assert check(found, "impossible_impressions").outcome == "blocks"
    assert found.verdict[0].outcome == "not_shown"


def test_rows_logged_twice_count_once() -> None:
    found = readout([*ROWS, *ROWS[:7]])
    assert check(found, "duplicate_rows").outcome == "warns"
    assert "7 rows repeat another one" in check(found, "duplicate_rows").found
    assert (preference(found).n, preference(found).wins) == (
        preference(readout(ROWS)).n,
        preference(readout(ROWS)).wins,
    )


def test_missing_teams_are_counted_and_too_many_block() -> None:
    one = next(i for i, row in enumerate(ROWS) if row["clicked"] and row["position"] > 3)
    found = readout(changed(ROWS, lambda i, row: {"team": "" if i == one else row["team"]}))
    assert check(found, "missing_team").outcome == "warns"
    assert "1 click on them" in check(found, "missing_team").found
    found = readout(changed(ROWS, lambda _, row: {"team": "" if row["position"] > 2 else row["team"]}))
    assert check(found, "missing_team").outcome == "blocks"


def test_gaps_in_the_positions() -> None:
    found = readout([row for row in ROWS if row["position"] != 2])
    assert check(found, "position_gaps").outcome == "warns"
    rows = [
        row for row in log(100, 40, scheme="probabilistic") if row["impression_id"] > "i000004" or row["position"] != 2
    ]
    found = readout(rows, scheme="probabilistic", list_length=10)
    assert found.left_out == {"with positions missing": 5}


def test_pages_that_show_the_same() -> None:
    rows = changed(ROWS, lambda i, row: {"team": "" if row["impression_id"] < "i000120" else row["team"]})
    found = readout(rows)
    assert check(found, "same_lists").outcome == "warns"
    assert found.pairs[0].undecidable == 120
    assert (preference(found).ties or 0) >= 100


def test_no_click_at_all_is_no_verdict() -> None:
    found = readout(changed(ROWS, lambda *_: {"clicked": 0}))
    assert check(found, "without_clicks").outcome == "warns"
    assert preference(found).p_value is None
    assert found.verdict[0].outcome == "not_shown"
    assert "no impression has a click" in found.verdict[0].sentence


def test_one_query_that_carries_the_result() -> None:
    extra = [row for i in range(120) for row in page_rows(f"x{i:03d}", ("ab", "ba")[i % 2], ("01", "10")[i % 2])]
    found = readout([*log(200, 60, effect=0.0), *extra])
    assert check(found, "dominant_query").outcome == "warns"
    assert "q with 120" in check(found, "dominant_query").found
    assert "levels_disagree" in codes(found)


def test_looks_that_nobody_planned() -> None:
    from rankstats.interleaving import InterleavingSettings, read_evidence, read_out_log  # noqa: PLC0415  only here

    settings = InterleavingSettings(resamples=99)
    evidence = read_evidence(settings, log=ROWS)
    assert check(read_out_log(evidence, settings, earlier=[{"units": 20}]), "looks").outcome == "warns"
    planned = InterleavingSettings(resamples=99, looks=(0.5, 1.0))
    assert check(read_out_log(evidence, planned, earlier=[{"units": 20}]), "looks").outcome == "ok"
    assert check(read_out_log(evidence, planned, earlier=[{}, {}]), "looks").outcome == "warns"


# ── what cannot be read ─────────────────────────────────────────────────────────────────────────────────────────────


def broken(change: dict[str, Any], row: int = 4) -> Rows:
    return changed(ROWS, lambda i, _: change if i == row else {})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"position": 0}, r"row 5: position is '0'; a whole number is expected, 1 at the top"),
        ({"position": "top"}, r"row 5: position is 'top'"),
        ({"position": 1.5}, r"row 5: position is '1.5'"),
        ({"clicked": ""}, r"row 5: clicked is empty; 0 or 1, or a number of clicks, is expected"),
        ({"clicked": -1}, r"row 5: clicked is '-1'"),
        ({"clicked": "maybe"}, r"row 5: clicked is 'maybe'"),
        ({"team": "prdo"}, r"row 5: team is 'prdo'; prod or new is expected"),
        ({"unit_id": ""}, r"row 5 has no unit; leave the row out"),
        ({"query_id": ""}, r"row 5 has no query"),
        ({"ranker_a": ""}, r"row 5 has no ranker a"),
        ({"ranker_b": "prod"}, r"row 5 of all files: ranker prod is compared with itself"),
    ],
)
def test_a_broken_cell_is_named_by_file_and_row(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = written(broken(change), tmp_path / "log.csv")
    with pytest.raises(InputError, match=said) as caught:
        readout(str(path))
    assert str(path) in str(caught.value)


def test_a_broken_cell_of_the_second_file(tmp_path: Path) -> None:
    one, two = written(ROWS, tmp_path / "one.csv"), written(broken({"position": "x"}), tmp_path / "two.csv")
    with pytest.raises(InputError, match=r"two\.csv: row 5: position is 'x'"):
        readout([str(one), str(two)])


def without(*names: str) -> Rows:
    return [{key: value for key, value in row.items() if key not in names} for row in ROWS]


@pytest.mark.parametrize(
    ("rows", "asked", "said"),
    [
        (without("position"), {}, "which column is the position"),
        (without("clicked"), {}, "which column is the clicked"),
        (without("team"), {}, "team-draft interleaving needs the team of each result"),
        (without("team", "ranker_a", "ranker_b"), {}, "which rankers were interleaved"),
        (without("ranker_b"), {}, "there is a column ranker_a but none of ranker_b"),
        (without("ranker_a", "ranker_b"), {"rankers": ("x",)}, "names of ranker a and ranker b"),
        (without("impression_id", "query_id", "unit_id"), {}, "nothing tells impressions apart"),
        (ROWS, {"rankers": ("x", "y")}, "the log names its rankers"),
        (ROWS, {"baseline": "prd"}, "did you mean 'prod'"),
        (ROWS, {"segments": ["devise"]}, "did you mean 'device'"),
        (ROWS, {"segments": ["length"]}, "give it with --queries"),
        (ROWS, {"segments": ["position"]}, "changes between the rows of 200 impressions"),
        (ROWS, {"scheme": "balanced"}, "balanced interleaving needs the rank of each result"),
        (ROWS, {"scheme": "teamdraft"}, "did you mean 'team-draft'"),
        (ROWS, {"columns": {"who": "unit_id"}}, "'who' is unknown"),
        (ROWS, {"columns": {"unit": "usr"}}, "unit 'usr' is no column"),
        (ROWS, {"looks": (0.9, 0.5)}, "ascending fractions"),
        (ROWS, {"design": "confidence-sequence"}, "planned_units"),
        (ROWS, {"alpa": 0.1}, "did you mean 'alpha'"),
        (log(20, scheme="balanced"), {}, "balanced or probabilistic interleaving"),
        (log(20, scheme="probabilistic"), {"scheme": "probabilistic"}, "give their length with --list-length"),
        (log(20, scheme="probabilistic"), {"scheme": "probabilistic", "list_length": 10, "outcome": "wins"}, "evenly"),
        (log(20, scheme="probabilistic"), {"scheme": "probabilistic", "list_length": 2}, "rank beyond the lists"),
        ([], {}, "there are no rows"),
    ],
)
def test_what_does_not_fit_together_says_what_to_do(rows: Rows, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(RankstatsError, match=said):
        readout(rows, **asked)


def test_a_setting_without_a_log() -> None:
    with pytest.raises(PlanError, match="give the log of shown results"):
        readout(None)


def any_log(rng: np.random.Generator, *, ranks: bool) -> Rows:
    """Rows that need not fit together: pages of several users, positions twice, results without a side."""
    rows: Rows = []
    for _ in range(int(rng.integers(1, 40))):
        a, b = rng.choice(["x", "y", "z"], 2, replace=False).tolist()
        sides = [int(rank) if rank < 6 else None for rank in rng.integers(1, 7, 2)]
        page = int(rng.integers(0, 9))
        rows.append(
            {"impression_id": f"i{page}", "query_id": f"q{page % 3}", "unit_id": f"u{page % 5}",
             "ranker_a": "x" if page % 2 else a, "ranker_b": "y" if page % 2 else b if b != "x" or a != "x" else "z",
             "position": int(rng.integers(1, 6)), "clicked": int(rng.integers(0, 3))}
            | ({"rank_a": sides[0], "rank_b": sides[1]} if ranks else {"team": ["a", "b", ""][int(rng.integers(3))]})
        )  # fmt: skip
    return rows


@pytest.mark.parametrize("seed", range(18))
def test_any_log_is_read_out_or_refused_in_words(seed: int) -> None:
    cases: list[dict[str, Any]] = [
        {},
        {"scheme": "balanced"},
        {"scheme": "probabilistic", "list_length": 5},
        {"looks": (0.5, 1.0), "look": 1},
        {"scheme": "balanced", "design": "confidence-sequence", "planned_units": 9},
        {"outcome": "clicks"},
    ]
    asked = cases[seed % len(cases)]
    rows = any_log(np.random.default_rng(seed), ranks="scheme" in asked)
    try:
        made = readout(rows, **{**asked, "resamples": 99}).to_dict()
    except RankstatsError as error:
        assert "no impression can be used" in str(error)  # noqa: PT017  either end is right
        return
    json.dumps(made, allow_nan=False)
    assert all(row["outcome"] == "not_shown" for row in made["verdict"])


def test_a_ranker_that_nobody_clicked_is_asked_about() -> None:
    rows = changed(log(200, 60), lambda _, row: {"clicked": row["clicked"] * (row["team"] == "b")})
    found = readout(rows)
    assert found.verdict[0].outcome == "better"
    assert check(found, "one_sided").outcome == "warns"
    assert "prod has no credit in" in check(found, "one_sided").found
    # pages that show the same credit nobody, and that is another check
    assert "one_sided" not in codes(readout(changed(rows, lambda *_: {"team": ""})))


def test_rows_of_several_pages_in_any_order_block_where_the_log_does_not_name_them() -> None:
    rows = [{key: value for key, value in row.items() if key != "impression_id"} for row in log(200, 20)]
    assert check(readout(rows), "row_order").outcome == "ok"
    shuffled = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    found = readout(shuffled)
    assert check(found, "row_order").outcome == "blocks"
    assert "withheld: rows of different pages may be mixed up" in found.verdict[0].sentence
    # one page of each query and unit needs no order
    once = [row for row in shuffled if row["unit_id"] == rows[0]["unit_id"]]
    alone = [{**row, "unit_id": f"{row['query_id']} {i // 6}"} for i, row in enumerate(rows) if row in once]
    assert check(readout(alone[::-1]), "row_order").outcome == "ok"


def test_teams_by_name_and_by_letter_in_one_pair_are_refused() -> None:
    rows = log(40, 20, pairs=(("b", "c"),))
    with pytest.raises(InputError, match="the teams of b and c are called partly by name, partly a and b"):
        readout(rows)
    by_name = changed(rows, lambda _, row: {"team": {"a": "b", "b": "c"}.get(row["team"], "")})
    assert preference(readout(by_name)).n > 0


@pytest.mark.parametrize("more", [{"list_length": 10}, {"tau": 2.0}])
def test_how_probabilistic_pages_were_drawn_says_nothing_of_others(more: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match="list_length and tau say how probabilistic pages were drawn"):
        readout(ROWS, **more)
