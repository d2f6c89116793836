"""What the terms of a page mean: those that occur on it, in the words of its kind."""

from __future__ import annotations

from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.report.experiment_sections import GLOSSARY as OF_EXPERIMENTS
from rankstats.report.interleaving_sections import GLOSSARY as OF_LOGS
from rankstats.report.rows import GUARDS, is_adjusted
from rankstats.report.source import Source, ends
from rankstats.report.tones import TOO_FEW, WITHHELD

Terms = tuple[tuple[str, str], ...]

OF_COMPARISONS: Terms = (
    ("difference", "The system's value less the baseline's, query by query, then averaged."),
    (
        "interval",
        "The values of the true difference that the data do not speak against, at the level given. For tests of the "
        "mean it is made by the same procedure as its p-value, so it leaves out zero exactly when p is at most the "
        "level's alpha.",
    ),
    (
        "simultaneous interval",
        "Wider, so that all intervals of the family are right together at the level given.",
    ),
    (
        "p",
        "How often the test would give a difference at least this large if there were none. The randomisation test "
        "supposes that the two systems are exchangeable query by query.",
    ),
    ("adjusted p", "The p-value after allowing for the number of comparisons in its family."),
    (
        "better, worse",
        "The adjusted p is at most alpha, and the difference lies on that side. It says nothing of size: read the "
        "difference and its interval.",
    ),
    ("not shown", "The data do not settle the sign. It does not mean that the systems are equal."),
    (
        "equivalent",
        "The simultaneous interval lies within the margin that was stated beforehand: two one-sided tests, each at "
        "half of alpha.",
    ),
    (
        "withheld",
        "No verdict is given, whatever p is: the losing list is judged much less and likely holds the documents that "
        "would turn it, or the judgments may have leaked into the runs. The numbers are shown, and the segments of "
        "the claim are withheld with it.",
    ),
    (
        "heterogeneity",
        "Whether the effect differs between the segments of an attribute by more than chance. Without it, an effect "
        "in one segment and none in another may be chance alone.",
    ),
    ("too few", f"Fewer than {SMALLEST_VERDICT_N} queries: shown hollow, without a verdict."),
    (
        "confirmatory",
        "The claims: the primary measure over all queries, unless the plan says otherwise. They must be fixed before "
        "looking; where the reference system is the best found here, the correction covers all pairs.",
    ),
    ("exploratory", "All other measures and all segments: hints, corrected among themselves."),
    (
        "diagnostic",
        "Measures that only say how far the others can be trusted, such as the share of judged documents: corrected "
        "among themselves, and never better or worse.",
    ),
    ("unjudged", "A document in the list that no judge has graded; it counts as not relevant."),
)
OF_POLICIES: Terms = (
    ("claim", "A rule that asks for a gain: it holds when the interval of the difference lies above what is asked."),
    ("guard", "A rule that tolerates a fall up to a margin, over all queries or in a segment."),
    ("floor", "A rule that asks for a least value of the candidate itself."),
    ("evidence", "What must be there before anything is decided; unmet, it leaves the decision open."),
    (
        "holds, fails, open",
        "A rule holds when its own interval lies on the side that is asked for, and fails when the interval for all "
        "rules together lies on the other side; else it is open. GO needs every rule to hold, each at its own level; "
        "one that fails is NO-GO.",
    ),
)


def glossary(source: Source) -> Terms:
    """Return the terms that occur on the page, with what they mean."""
    terms: Terms = {"unit": OF_EXPERIMENTS, "impression": OF_LOGS}.get(source.unit[0], OF_COMPARISONS)
    kinds = {rule["kind"] for rule in (source.report["decision"] or {}).get("rules", ())}
    own = {term for term, _ in terms}
    of_rules = tuple(
        (term, text)
        for term, text in OF_POLICIES
        if kinds and (term in kinds or " " in term) and not (term == "guard" and "guard" in own)
    )
    occurring = _occurring(source, kinds)
    return (*((term, text) for term, text in terms if occurring.get(term, True)), *of_rules)


def _occurring(source: Source, kinds: set[str]) -> dict[str, bool]:
    """Say which of the terms that not every page has are on this one."""
    report = source.report
    rows, experiment = report["differences"], report["experiment"] or {}
    tones = {source.tone(row) for row in rows}
    # the margin of a guard is of harm
    guarded = {row["measure"] for row in rows if row["family"] == GUARDS}
    families = {family["id"] for family in report["families"]}
    joint = ((ends(row["adjusted_interval"]), ends(row["interval"])) for row in rows)
    return {
        "simultaneous interval": any(both is not None and both != own for both, own in joint),
        "adjusted p": any(is_adjusted(row) for row in rows),
        "equivalent": any(row["margin"] is not None and row["measure"] not in guarded for row in rows),
        "withheld": WITHHELD in tones,
        "too few": TOO_FEW in tones,
        "heterogeneity": bool(report["heterogeneity"]),
        "exploratory": "exploratory" in families,
        "diagnostic": "diagnostic" in families,
        "unjudged": bool(report["audit"].get("unjudged_at")),
        "guard": "guard" in kinds or bool(experiment.get("guards")),
        "triggered": bool(experiment.get("trigger")),
        "sample ratio": any(check["code"] == "sample_ratio" for check in experiment.get("checks") or ()),
        "CUPED": any(row.get("adjusted_for") for row in rows),
    }
