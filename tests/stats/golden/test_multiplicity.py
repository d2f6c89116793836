"""Every number of stats_multiplicity.json: R's p.adjust, multtest and statsmodels."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankstats.stats import adjust
from tests.stats.cases import golden
from tests.stats.golden.leaves import assert_every_leaf, within

REFERENCE = golden("multiplicity")
METHODS = {
    "bonferroni": "bonferroni",
    "holm": "holm",
    "hochberg": "hochberg",
    "hommel": "hommel",
    "BH": "bh",
    "BY": "by",
    "sidak_single": "sidak",
    "sidak_stepdown": "holm-sidak",
}
LEFT_OUT = {
    "provenance/*": "text",
    "agreement/*": "text",
    "*/p/*": "input",
    "*/bh_two_stage_tsbh_q05/*": "the two-stage method depends on alpha and is not offered",
    "*/fisher_global": "a test of all members at once, for independent p-values: not offered",
}


def _case(case: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, method in METHODS.items():
        adjusted = adjust(case["p"], method)
        every = {"adjusted": adjusted, "reject_05": adjusted <= 0.05, "statsmodels": adjusted, "multtest": adjusted}
        found[name] = {key: value for key, value in every.items() if key in case[name]}
    # Simes' test rejects at alpha just when Benjamini–Hochberg rejects anything
    return found | {"simes_global": np.min(adjust(case["p"], "bh"))}


def test_every_number() -> None:
    ours = {name: _case(case) for name, case in REFERENCE["cases"].items()}
    assert_every_leaf(REFERENCE, {"cases": ours}, {"*": within(1e-12)}, LEFT_OUT)


def test_published_example() -> None:
    """Benjamini & Hochberg 1995, section 3.2: of fifteen comparisons they reject four, Bonferroni three."""
    p = REFERENCE["cases"]["fifteen_bh1995"]["p"]
    assert [int(np.count_nonzero(adjust(p, method) <= 0.05)) for method in ("bh", "bonferroni")] == [4, 3]
