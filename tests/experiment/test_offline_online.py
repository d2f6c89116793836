"""Offline and online differences side by side: matching, mirroring, direction, what is in one report only, launches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankstats.api import compare_systems
from rankstats.comparison.agreement_rows import AgreementAnswer, AgreementRow
from rankstats.errors import PlanError, RankstatsError
from rankstats.experiment.offline_online import Launch, agree_offline_online
from tests.experiment.made import readout, units

Cells = Mapping[tuple[str, str], float]


def report(
    kind: str,
    cells: Cells,
    *,
    measure: str = "AP",
    pair: tuple[str, str] = ("old", "new"),
    better: bool = True,
    half: float = 0.01,
) -> dict[str, Any]:
    """The parts of a report.json that are read; cells by attribute and value, ('', '') for all."""
    rows = [
        {
            "measure": measure,
            "baseline": pair[0],
            "system": pair[1],
            "segment": {"attribute": attribute, "value": value} if attribute else None,
            "weighting": None,
            "n": 100,
            "difference": difference,
            "interval": {"low": difference - half, "high": difference + half, "level": 0.95, "method": "t"},
        }
        for (attribute, value), difference in cells.items()
    ]
    measures = [{"name": measure, "higher_is_better": better}]
    return {"kind": kind, "primary": [measure], "measures": measures, "differences": rows}


def offline(cells: Cells, **changes: Any) -> dict[str, Any]:
    return report("comparison", cells, **changes)


def online(cells: Cells, **changes: Any) -> dict[str, Any]:
    return report("experiment", cells, **{"measure": "ctr", **changes})


WHOLE = ("", "")
OFFLINE = {WHOLE: 0.03, ("length", "short"): 0.05, ("length", "long"): -0.02, ("topic", "news"): 0.1}
ONLINE = {WHOLE: 0.02, ("length", "short"): 0.04, ("length", "long"): 0.03, ("country", "de"): 0.1}


def rows(found: AgreementAnswer, kind: str) -> list[AgreementRow]:
    return [row for row in found.rows if row.kind == kind]


def directions(found: AgreementAnswer) -> dict[str, float | None]:
    return {row.about: row.value for row in found.rows if row.statistic == "same_direction"}


def value(found: AgreementAnswer, statistic: str, about: str = "all") -> float | None:
    (row,) = [row for row in found.rows if row.statistic == statistic and row.about == about]
    return row.value


def test_differences_stand_side_by_side_with_their_intervals_and_the_rest_is_listed() -> None:
    found = agree_offline_online([Launch("may", offline(OFFLINE), online(ONLINE))])
    assert directions(found) == {"all": 1.0, "length = short": 1.0, "length = long": -1.0}
    first = rows(found, "side_by_side")[0]
    assert (first.first, first.second, first.statistic, first.value) == (
        "may",
        "new against old",
        "offline_difference",
        0.03,
    )
    assert first.interval is not None
    assert first.interval.ends == pytest.approx((0.02, 0.04))
    assert any("segments offline only: topic = news" in note for note in found.notes)
    assert any("segments online only: country = de" in note for note in found.notes)
    assert found.answer.startswith("AP offline and ctr online both show new better than old")
    assert "1 of 2 common segments point the same way" in found.answer


def test_signs_that_are_opposite_or_not_shown_are_said() -> None:
    against = agree_offline_online([Launch("may", offline({WHOLE: 0.03}), online({WHOLE: -0.03}))])
    assert "AP offline shows new better than old, ctr online shows it worse" in against.answer
    unclear = agree_offline_online([Launch("may", offline({WHOLE: 0.03}), online({WHOLE: 0.02}, half=0.1))])
    assert "are not shown to agree on new against old, as ctr online may be 0" in unclear.answer


def test_a_measure_of_which_lower_is_better_counts_the_other_way() -> None:
    found = agree_offline_online([Launch("may", offline(OFFLINE), online(ONLINE, measure="latency", better=False))])
    assert directions(found) == {"all": -1.0, "length = short": -1.0, "length = long": 1.0}
    assert value(found, "online_difference") == 0.02
    assert "latency online shows it worse" in found.answer
    both = Launch("may", offline(OFFLINE, better=False), online(ONLINE, better=False))
    assert directions(agree_offline_online([both])) == directions(
        agree_offline_online([Launch("may", offline(OFFLINE), online(ONLINE))])
    )


def test_a_mirrored_baseline_turns_the_online_differences() -> None:
    turned = online({key: -difference for key, difference in ONLINE.items()}, pair=("new", "old"), half=0.005)
    found = agree_offline_online([Launch("may", offline(OFFLINE), turned)])
    straight = agree_offline_online([Launch("may", offline(OFFLINE), online(ONLINE, half=0.005))])
    for row, other in zip(found.rows, straight.rows, strict=True):
        assert (row.kind, row.about, row.statistic, row.n) == (other.kind, other.about, other.statistic, other.n)
        assert row.value == other.value
        assert (row.interval and row.interval.ends) == (other.interval and other.interval.ends)
    assert any("the online baseline is new; the online differences are mirrored" in note for note in found.notes)


def test_an_interleaving_is_an_online_report() -> None:
    there = report("interleaving", {WHOLE: 0.1, ("length", "short"): -0.2}, measure="preference")
    found = agree_offline_online([Launch("may", offline(OFFLINE), there)])
    assert directions(found) == {"all": 1.0, "length = short": -1.0}
    assert found.answer.startswith("AP offline and preference online both show new better than old")


def test_names_are_matched_by_alias_or_where_there_is_one_pair_of_each() -> None:
    arms = online(ONLINE, pair=("A", "B"))
    alone = agree_offline_online([Launch("may", offline(OFFLINE), arms)])
    assert any("new against old offline is taken as B against A online" in note for note in alone.notes)
    named = agree_offline_online([Launch("may", offline(OFFLINE), arms)], aliases={"old": "A", "new": "B"})
    assert named.rows == alone.rows
    assert not any("is taken as" in note for note in named.notes)
    turned = agree_offline_online([Launch("may", offline(OFFLINE), arms)], aliases={"old": "B", "new": "A"})
    assert value(turned, "online_difference") == -0.02
    longer = agree_offline_online([Launch("may", offline(OFFLINE), online({WHOLE: 0.1, ("words", "short"): 0.1}))])
    assert list(directions(longer)) == ["all"]
    renamed = Launch("may", offline(OFFLINE), online({WHOLE: 0.1, ("words", "short"): 0.1}))
    assert list(directions(agree_offline_online([renamed], aliases={"length": "words"}))) == ["all", "length = short"]


def test_pairs_that_do_not_match_are_listed_or_refused() -> None:
    both = offline({WHOLE: 0.03})
    both["differences"] += offline({WHOLE: 0.01}, pair=("old", "other"))["differences"]
    found = agree_offline_online([Launch("may", both, online({WHOLE: 0.02}))])
    assert "may: offline only: other against old" in found.notes
    with pytest.raises(PlanError, match=r"no pair of systems is in both reports .*--alias"):
        agree_offline_online([Launch("may", both, online({WHOLE: 0.02}, pair=("A", "B")))])
    with pytest.raises(PlanError, match="no pair of systems"):
        agree_offline_online([Launch("may", offline({WHOLE: 0.1}), online({WHOLE: 0.1}, pair=("old", "newer")))])


def test_correlations_over_segments_are_those_of_scipy_and_only_within_an_attribute() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=12), rng.normal(size=12)
    here = {WHOLE: 0.1, **{("topic", f"t{i}"): float(v) for i, v in enumerate(x)}, ("length", "short"): 0.1}
    there = {WHOLE: 0.1, **{("topic", f"t{i}"): float(v) for i, v in enumerate(y)}, ("length", "short"): 0.1}
    found = agree_offline_online([Launch("may", offline(here), online(there))])
    assert value(found, "kendall_tau_b", "topic") == pytest.approx(stats.kendalltau(x, y).statistic)
    assert value(found, "pearson_r", "topic") == pytest.approx(stats.pearsonr(x, y).statistic)
    assert {row.about for row in rows(found, "online_segments")} == {"topic"}
    three = {key: here[key] for key in list(here)[:4]}
    few = agree_offline_online([Launch("may", offline(three), online(there))])
    assert value(few, "kendall_tau_b", "topic") is None
    assert value(few, "same_direction_share", "topic") is not None


def launches(n: int, noise: float, seed: int = 3) -> list[Launch]:
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        x = float(rng.normal())
        y = x + noise * float(rng.normal())
        made.append(Launch(f"launch {i}", offline({WHOLE: x}), online({WHOLE: y})))
    return made


def test_few_launches_have_no_verdict_and_many_have_one_by_the_interval() -> None:
    few = agree_offline_online(launches(9, 0.1))
    assert few.answer.startswith("9 launches: too few to say whether AP offline predicts ctr online (10 are needed)")
    assert value(few, "kendall_tau_b", "") is not None
    good = agree_offline_online(launches(20, 0.3))
    assert good.answer.startswith("Over 20 launches AP offline predicts the order of ctr online: Kendall's τ")
    useless = agree_offline_online(launches(20, 50.0, seed=5))
    assert "is not shown to predict" in useless.answer
    turned = [
        Launch(one.name, one.offline, online({WHOLE: -one.online["differences"][0]["difference"]}))
        for one in launches(20, 0.3)
    ]
    assert "runs against" in agree_offline_online(turned).answer
    tau = next(row for row in rows(good, "launches") if row.statistic == "kendall_tau_b")
    assert (tau.first, tau.second, tau.n) == ("AP", "ctr", 20)
    assert tau.interval is not None


def test_several_pairs_of_one_launch_do_not_make_several_launches() -> None:
    both, there = offline({WHOLE: 0.03}), online({WHOLE: 0.03})
    both["differences"] += offline({WHOLE: 0.01}, pair=("old", "other"))["differences"]
    there["differences"] += online({WHOLE: 0.02}, pair=("old", "other"))["differences"]
    found = agree_offline_online([Launch("wide", both, there), *launches(8, 0.5)])
    assert found.answer.startswith("9 launches (10 pairs of systems): too few")
    assert any("wide: several pairs of one launch share a baseline" in note for note in found.notes)


def test_pairs_that_share_a_baseline_get_no_verdict() -> None:
    """Of unrelated differences, 10 launches of four arms each would get one in 14 % of the cases, not 5 %."""
    both, there = offline({WHOLE: 0.03}), online({WHOLE: 0.03})
    both["differences"] += offline({WHOLE: 0.01}, pair=("old", "other"))["differences"]
    there["differences"] += online({WHOLE: 0.02}, pair=("old", "other"))["differences"]
    found = agree_offline_online([Launch("wide", both, there), *launches(15, 1.0)])
    assert "predict" not in found.answer
    assert found.answer.endswith("Pairs of one launch share a baseline, so the intervals are too narrow for a verdict.")


def test_a_launch_counts_once_and_an_alias_must_name_something() -> None:
    twice = [Launch(name, offline(OFFLINE), online(ONLINE)) for name in ("may", "june")]
    with pytest.raises(PlanError, match="may and june are the same two reports"):
        agree_offline_online(twice)
    for names, message in (
        ({"nwe": "new"}, "'nwe': no offline report .* did you mean 'new'"),
        ({"new": "nw"}, "no online report"),
    ):
        with pytest.raises(PlanError, match=message):
            agree_offline_online(twice[:1], aliases=names)


def test_a_withheld_verdict_and_an_undefined_difference_are_told() -> None:
    there = online({WHOLE: 0.02})
    there["differences"][0]["withheld"] = "the arms' sizes do not fit the design"
    found = agree_offline_online([Launch("may", offline({WHOLE: 0.03}), there)])
    assert any("the online verdict is withheld (the arms' sizes do not fit" in note for note in found.notes)
    there["differences"][0] |= {"difference": None, "interval": None}
    undefined = agree_offline_online([Launch("may", offline({WHOLE: 0.03}), there)])
    assert directions(undefined) == {"all": None}
    assert "undefined" in undefined.answer


@pytest.mark.parametrize(
    ("launch", "asked", "message"),
    [
        (
            Launch("may", online(ONLINE), offline(OFFLINE)),
            {},
            r"may: the offline report is of kind 'experiment'.*exchanged",
        ),
        (Launch("may", {"kind": "comparison"}, online(ONLINE)), {}, "lacks the keys measures, differences"),
        (Launch("may", offline(OFFLINE), online(ONLINE)), {"measure": "APP"}, "did you mean 'AP'"),
        (Launch("may", offline(OFFLINE), online(ONLINE)), {"metric": "crt"}, "did you mean 'ctr'"),
    ],
)
def test_faults_name_the_report_and_the_way_out(launch: Launch, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        agree_offline_online([launch], **asked)


def test_launches_need_one_measure() -> None:
    pair = Launch("june", offline({WHOLE: 0.1}, measure="RR"), online({WHOLE: 0.1}))
    with pytest.raises(PlanError, match="june offline: 'AP' is not in the report"):
        agree_offline_online([Launch("may", offline({WHOLE: 0.1}), online({WHOLE: 0.1})), pair])
    with pytest.raises(PlanError, match="at least one launch"):
        agree_offline_online([])


def test_reports_as_they_are_made_agree_by_segment_and_by_query() -> None:
    rng = np.random.default_rng(1)
    qrels = {f"q{n}": {"d1": 1, "d2": 0} for n in range(12)}
    good = {query: {"d1": 2.0, "d2": 1.0} for query in qrels}
    bad = {query: {"d1": 1.0 + 2.0 * bool(rng.random() < 0.5), "d2": 2.0} for query in qrels}
    queries = [{"query_id": query, "country": ("de", "fr", "it")[int(query[1:]) % 3]} for query in qrels]
    compared = compare_systems(qrels, {"A": bad, "B": good}, ["RR"], queries=queries, segments=("country",)).to_dict()
    rows_ = [{**row, "query": f"q{place % 12}"} for place, row in enumerate(units())]
    told = readout(rows_, "revenue", segments=("country", "query")).to_dict()
    found = agree_offline_online([Launch("may", compared, told)])
    shown = directions(found)
    assert {"all", "country = de", "country = fr", "country = it", "query = q3"} <= set(shown)
    for row in found.rows:
        if row.statistic == "offline_difference" and row.about.endswith("= q3"):
            values = [compared["values"][name]["RR"][3] for name in ("A", "B")]
            assert row.value == values[1] - values[0]
