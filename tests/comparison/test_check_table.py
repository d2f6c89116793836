"""The table of all evidence checks on two collections: every check with its outcome, so that a reader sees the why."""

from __future__ import annotations

from collections import Counter

import pytest

from rankstats.comparison import collect, compare_evidence
from rankstats.comparison.checks import CHECKS
from rankstats.comparison.result import Comparison
from rankstats.plan import Plan
from rankstats.report.model import page_model
from tests.shared import shared

APPLY_NOT = {
    "mix_disagrees",
    *("tuning_queries", "weights_disagree", "segment_reversal", "low_effective_n", "duplicate_texts", "no_cluster"),
    *("not_in_query_table", "undivided_segment", "segments_divide_clusters", "interval_small_n", "best_by_data"),
    "assumed_direction",
}
"""No query table, segments, weights, clusters or intervals asked for by name; no reference chosen by its mean."""

ALWAYS_TOLD = {"baseline_by_order": "info", "sampling_only": "info", "unjudged": "warning"}

FOUND = {
    # no verdict: half of some lists is unjudged, and the correction decides about one pair
    "trec-web-2012": {
        "judged_gap": "warning",
        "condensed_disagree": "info",
        "corrections_disagree": "warning",
    },
    # four verdicts, on lists of which half is unjudged
    "dl-hard-passage": {"unjudged_decide": "warning", "corrections_disagree": "warning"},
    # as judged nothing is shown, on condensed lists two systems are better
    "dl-hard-doc": {
        "condensed_disagree": "warning",
        "ties_decide": "info",
        "tests_disagree": "warning",
        "corrections_disagree": "warning",
    },
}
OUTCOMES = {
    "trec-web-2012": {"not_shown": 7},
    "dl-hard-passage": {"better": 4, "not_shown": 1},
    "dl-hard-doc": {"not_shown": 3},
}


def compared(collection: str) -> Comparison:
    folder = shared(f"data/ir/{collection}")
    plan = Plan(
        qrels=str(folder / "qrels.txt.gz"),
        runs=tuple((path.name.removesuffix(".run.gz"), str(path)) for path in sorted((folder / "runs").iterdir())),
        measures=("nDCG(dcg='exp-log2')@10", "AP"),
    )
    return compare_evidence(collect(plan, reverse_ties=True), plan)


@pytest.mark.shared
@pytest.mark.parametrize("collection", FOUND)
def test_every_check_is_listed_with_its_outcome(collection: str) -> None:
    comparison = compared(collection)
    assert dict(Counter(row.outcome for row in comparison.verdict)) == OUTCOMES[collection]
    outcomes = {check.code: check.outcome for check in comparison.checks}
    assert list(outcomes) == [check.codes[0] for check in CHECKS]
    expected = dict.fromkeys(outcomes, "ok") | dict.fromkeys(APPLY_NOT, "not_applicable")
    assert outcomes == expected | ALWAYS_TOLD | FOUND[collection]
    for check in comparison.checks:
        assert bool(check.found) == (check.outcome in ("info", "warning", "serious"))
    (health,) = [section for section in page_model(comparison.to_dict()).sections if section.key == "health"]
    (table,) = [block for block in health.blocks if getattr(block, "key", "") == "evidence-checks"]
    assert len(table.rows) == len(CHECKS)
    warned = sum(outcome == "warning" for outcome in outcomes.values())
    assert f"{warned} of the {len(CHECKS) - len(APPLY_NOT)} that apply found something to warn of" in table.caption
