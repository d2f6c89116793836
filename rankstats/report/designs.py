"""How the looks at an experiment or a log are allowed for, as terms for Method."""

from __future__ import annotations

from rankstats import wording
from rankstats.report.source import Row, Source
from rankstats.report.texts import shown

_DESIGNS = {
    "fixed": "fixed horizon: one look, at the end",
    "group-sequential": "group-sequential: planned looks share the level",
    "confidence-sequence": "confidence sequence: valid at every look",
}


def design_facts(source: Source) -> list[tuple[str, str]]:
    """Return the design of an experiment or a log as pairs of term and text; nothing for comparisons of runs."""
    experiment, log = source.report["experiment"], source.report.get("interleaving")
    if log:
        columns = ", ".join(f"{role.replace('_', ' ')}: {shown(name, 40)}" for role, name in log["columns"].items())
        return [("scheme", shown(str(log["scheme"]), 60)), ("columns", columns), *_looks(log["design"])]
    design = (experiment or {}).get("design")
    return _looks(design) if design else []


def _looks(design: Row) -> list[tuple[str, str]]:
    items = [("design", _DESIGNS.get(design["kind"], shown(str(design["kind"]), 60)))]
    if design["looks"]:
        items.append(("planned looks", ", ".join(wording.percent(look, 0) for look in design["looks"])))
    if design["kind"] != "fixed" or design["look"] > 1:
        items.append(("this look", str(design["look"])))
    if design["bound"] is not None:
        bound = f"{design['bound']:.4f} standard errors, p ≤ {design['nominal_p']:.5f} of an ordinary test"
        items.append((f"bound at this look ({shown(design['spending'] or '', 40)} spending)", bound))
    if design["planned_units"]:
        items.append(("planned units", f"{design['planned_units']:,}"))
    if design.get("earlier"):
        items.append(("earlier looks", ", ".join(f"at {row['units']:,} units" for row in design["earlier"])))
    return items
