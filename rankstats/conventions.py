"""Policies and names that everything shares.

A policy belongs to the data, not to a measure: what happens to a query without a relevant document, to a judged query
that a run lacks, to tied scores. The formula of a measure stands in its name.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from rankstats.errors import PlanError, did_you_mean

DEFAULT_MEASURES = ("nDCG(dcg='exp-log2')@10", "AP", "RR", "P@10", "R@100", "Judged@10")
SMALLEST_VERDICT_N = 10
"""No verdict is given for fewer queries than this."""

RANK_TESTS = ("wilcoxon", "sign")
"""Tests that are not about the mean; they know no weights."""

QRELS_FORMATS = ("trec", "grade", "table", "json", "letor")
RUN_FORMATS = ("trec", "rank", "score", "table", "json", "predictions")
SCORES_FORMATS = ("table", "json", "trec_eval", "ir_measures")
"""Formats of files that can be named where the content does not tell."""

_CHOICES: dict[str, tuple[str, ...]] = {
    "no_relevant": ("undefined", "zero"),
    "missing_query": ("zero", "error"),
    "unknown_query": ("leave_out", "error"),
    "ties": ("doc_id", "rank", "input", "float32"),
    "duplicate_documents": ("error", "first", "best"),
    "duplicate_judgments": ("error", "max", "mean"),
    "negative_grades": ("not_relevant", "error"),
}


@dataclass(frozen=True, slots=True)
class Policies:
    """How the data are treated; the defaults are those of rankstats.

    Attributes
    ----------
    preset : {'default', 'trec_eval'}
        The preset that the other values started from.
    no_relevant : {'undefined', 'zero'}
        The value of a measure that divides by the number of relevant documents, or by the ideal, on a query without
        a relevant document. Undefined values are left out of all systems' means alike.
    missing_query : {'zero', 'error'}
        A judged query that a run does not answer.
    unknown_query : {'leave_out', 'error'}
        A query of a run that has no judgments.
    ties : {'doc_id', 'rank', 'input', 'float32'}
        The order among equal scores: document id descending (as trec_eval 10), the file's rank column instead of the
        scores, the order of the lines, or document id descending after rounding scores to 32 bits (as trec_eval 9).
    duplicate_documents : {'error', 'first', 'best'}
        A document listed twice for one query: an error, the first line counts, or the line with the best score.
    duplicate_judgments : {'error', 'max', 'mean'}
        Two grades for one query and document.
    negative_grades : {'not_relevant', 'error'}
        Grades below 0.

    Examples
    --------
    >>> Policies.from_preset("trec_eval").no_relevant
    'zero'
    """

    preset: str = "default"
    no_relevant: str = "undefined"
    missing_query: str = "zero"
    unknown_query: str = "leave_out"
    ties: str = "doc_id"
    duplicate_documents: str = "error"
    duplicate_judgments: str = "error"
    negative_grades: str = "not_relevant"

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                raise PlanError(
                    f"[conventions] {name} = {value!r} is unknown; choose one of {', '.join(known)}"
                    + did_you_mean(str(value), known)
                )

    @classmethod
    def from_preset(cls, preset: str = "default", **changes: Any) -> Policies:
        """Return the policies of a preset ('default' or 'trec_eval'), with single policies changed by name.

        Raises
        ------
        PlanError
            If the preset, a policy or its value is unknown.
        """
        presets = {"default": {}, "trec_eval": {"no_relevant": "zero"}}
        if preset not in presets:
            raise PlanError(
                f"conventions {preset!r} are unknown; choose 'default' or 'trec_eval'" + did_you_mean(preset, presets)
            )
        known = [f.name for f in fields(cls) if f.name != "preset"]
        for name in changes:
            if name not in known:
                raise PlanError(f"[conventions] {name} is unknown" + did_you_mean(name, known))
        return cls(preset=preset, **{**presets[preset], **changes})

    def to_dict(self) -> dict[str, str]:
        """Return the policies as a plain dictionary, in the order in which they are documented."""
        return {f.name: getattr(self, f.name) for f in fields(self)}
