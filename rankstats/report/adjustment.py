"""What an effect that covariates adjust would be without them."""

from __future__ import annotations

from rankstats import wording
from rankstats.report.source import Row, Source
from rankstats.report.texts import sentence_list, shown

UNADJUSTED = "without covariates"
"""The name of the reading of an effect that covariates adjust, without them."""


def unadjusted(row: Row) -> Row | None:
    """Return the reading of an effect without the covariates that adjust it, or None."""
    if not row.get("adjusted_for"):
        return None
    return next((other for other in row["also"] if other["test"] == UNADJUSTED), None)


def adjustment_line(source: Source, row: Row) -> str:
    """Return the covariates of an effect and what it is without them; empty where nothing is adjusted."""
    found = unadjusted(row)
    if found is None:
        return ""
    it = "it" if len(row["adjusted_for"]) == 1 else "them"
    return f"adjusted for {_names(row)}; without {it} {_evidence(source, row, found)}"


def adjustment_warning(source: Source, row: Row) -> str:
    """Return in words that a verdict rests on its covariates; empty where it would be the same without them."""
    found = unadjusted(row)
    if found is None or found["p_value"] is None:
        return ""
    family = source.family(row)
    # corrected for as many claims as the verdict is
    members = 1 if family is None else len(family["members"])
    if members * found["p_value"] <= source.alpha:
        return ""
    it = "it" if len(row["adjusted_for"]) == 1 else "them"
    return (
        f"The verdict rests on the adjustment for {_names(row)}: without {it} the difference is not shown "
        f"({_evidence(source, row, found)})."
    )


def _names(row: Row) -> str:
    return sentence_list([shown(name, 40) for name in row["adjusted_for"]])


def _evidence(source: Source, row: Row, found: Row) -> str:
    measure = row["measure"]
    p = wording.p_statement(found["p_value"]).replace(" ", "\N{NO-BREAK SPACE}")
    return f"{source.signed(measure, _size(source, row, found))}, {source.range(measure, found['interval'])}, {p}"


def _size(source: Source, row: Row, found: Row) -> float | None:
    """Return the difference without covariates: as stored, else that of the means as measured."""
    if found.get("difference") is not None:
        return float(found["difference"])
    before, after = (source.overall.get((row[side], row["measure"])) for side in ("baseline", "system"))
    if before is None or after is None or before["mean"] is None or after["mean"] is None:
        return None
    return float(after["mean"] - before["mean"])
