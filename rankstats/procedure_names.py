"""Names of tests and corrections as a reader knows them, wherever they are told."""

from __future__ import annotations

TEST_NAMES = {
    "randomisation": "sign-flip randomisation test",
    "bootstrap": "paired bootstrap",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "welch": "Welch's t test",
    "score": "score test of two shares",
    "delta": "delta method with Welch's t",
    "quantile": "delta method for quantiles of clustered rows",
    "cuped": "Welch's t after adjustment by covariates (CUPED)",
    "confidence-sequence": "asymptotic confidence sequence",
    "normal": "normal bootstrap interval",
    "percentile": "percentile bootstrap interval",
    "expanded": "expanded percentile bootstrap interval",
    "basic": "basic bootstrap interval",
    "bca": "BCa bootstrap interval",
    "studentised": "bootstrap-t interval",
}
CORRECTION_NAMES = {
    "none": "no correction",
    "auto": "chosen by the family",
    "bootstrap-max-t": "bootstrap max-T",
    "max-t": "max-T by sign flips",
    "max-t-stepdown": "max-T by sign flips, stepping down",
    "bonferroni": "Bonferroni",
    "guarded-bonferroni": "Bonferroni on the test and t, the larger p",
    "holm": "Holm",
    "holm-sidak": "Holm–Šidák",
    "hochberg": "Hochberg",
    "hommel": "Hommel",
    "sidak": "Šidák",
    "tukey": "Tukey's randomised HSD",
    "bh": "Benjamini–Hochberg",
    "by": "Benjamini–Yekutieli",
}
