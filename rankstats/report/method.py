"""Method and reproduction: what exactly was computed, and how to repeat it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rankstats import wording
from rankstats.conventions import RANK_TESTS
from rankstats.plan import plan_text
from rankstats.procedure_names import CORRECTION_NAMES, TEST_NAMES
from rankstats.report.blocks import Block, Cell, Code, Column, Paragraph, Section, Subheading, Table, Terms
from rankstats.report.choice import listed
from rankstats.report.designs import design_facts
from rankstats.report.experiment_sections import stands_beside
from rankstats.report.glossary import glossary
from rankstats.report.order import told_first
from rankstats.report.rows import without_constants
from rankstats.report.source import Row, Source, ends, level, pair_label
from rankstats.report.texts import shown

_COMPARED = {
    "baseline": "the {baseline} with each other {system}",
    "all-pairs": "all pairs of {system}s",
    "best": "the best {system} with each other",
}
_WORDS = {"unit": {"baseline": "control", "system": "arm"}, "impression": {"baseline": "baseline", "system": "ranker"}}
_AS_GIVEN = "Values as given, not computed here."
_CUTOFF = re.compile(r"k = (\d+)$")
_WORD = re.compile(r"\w+")
_TELLING = ("gain", "persistence", "discount", "relevant", "max")
"""Conventions by which two measures of one meaning are told apart."""


def method(source: Source) -> Section:
    """Return section 13: measures, statistics, inputs, versions, command, plan, glossary."""
    blocks: list[Block] = [Subheading("measures", "Measures" if source.unit[0] == "query" else "Metrics")]
    blocks += _measures(source)
    blocks.append(Subheading("statistics", "Statistics"))
    blocks.append(Terms(tuple(_statistics(source))))
    families = _families(source)
    if families:
        blocks.append(families)
    blocks += _also(source)
    blocks += _reproduction(source)
    blocks += [Subheading("glossary", "Glossary"), Terms(glossary(source))]
    return Section("method", "Method and reproduction", tuple(blocks))


def _measures(source: Source) -> list[Block]:
    """Put meaning and formula first; every other convention is one click away."""
    columns = tuple(Column(text, number=False) for text in ("measure", "meaning", "better"))
    rows = tuple(
        (
            Cell(source.measure_label(name), note="" if name == row["label"] else shown(name, 160)),
            Cell(_meaning(source, name)),
            Cell("higher" if row["higher_is_better"] else "lower", note=_assumed(row["definition"])),
        )
        for name, row in source.measures.items()
    )
    out: list[Block] = [Table("measure-definitions", "What they mean", columns, rows)]
    for i, (name, row) in enumerate(source.measures.items(), 1):
        conventions = tuple((Cell(shown(k, 60)), Cell(shown(str(v), 600))) for k, v in row["definition"].items())
        if conventions and not _values_as_given(source):
            columns = (Column("convention", number=False), Column("value", number=False))
            caption = f"{source.measure_label(name)}: all conventions"
            out.append(Table(f"measure-{i}", caption, columns, conventions, folded=True))
    return out


def _assumed(definition: Mapping[str, Any]) -> str:
    """Return how the direction of ready-made values is known: 'as stated', 'as assumed: …'."""
    return str(definition.get("direction", "")).partition(", ")[2]


def _values_as_given(source: Source) -> bool:
    """Return whether the values were read from a file: how they were made is not known."""
    inputs = (source.report["reproduction"]["plan"] or {}).get("inputs") or {}
    return bool(inputs.get("scores"))


def _meaning(source: Source, name: str) -> str:
    """Return what a measure means, with its own cutoff, and what tells it from another one of the same meaning."""
    definition = source.measures[name]["definition"]
    meaning = str(definition.get("meaning") or "")
    if _values_as_given(source):
        return _AS_GIVEN + (f" Named like: {shown(_with_cutoff(meaning, definition), 400)}" if meaning else "")
    if not meaning:
        return shown(str(definition.get("formula") or wording.UNDEFINED), 400)
    alike = [m["definition"] for m in source.measures.values() if m["definition"].get("meaning") == meaning]
    if definition.get("persistence"):
        meaning += f" (here {str(definition['persistence']).split(',', maxsplit=1)[0]})"
    for key in _TELLING:
        if key in definition and len({str(other.get(key)) for other in alike}) > 1:
            meaning += f"; {key}: {str(definition[key]).split(';', maxsplit=1)[0]}"
            break
    return shown(_with_cutoff(meaning, definition), 400)


def _with_cutoff(meaning: str, definition: Mapping[str, Any]) -> str:
    found = _CUTOFF.match(str(definition.get("cutoff", "")))
    return meaning if found is None else re.sub(r"\bfirst k\b", f"first {found[1]}", meaning)


def _statistics(source: Source) -> list[tuple[str, str]]:
    differences = source.report["differences"]
    reproduction = source.report["reproduction"]
    tests = dict.fromkeys(TEST_NAMES.get(row["test"], shown(row["test"], 60)) for row in differences)
    estimands = dict.fromkeys(shown(row["estimand"], 120) for row in differences)
    methods = dict.fromkeys(shown(row["interval"]["method"], 60) for row in differences if row["interval"])
    sides = list(dict.fromkeys(row.get("alternative", "two-sided") for row in differences))
    items = [
        ("compared", _compared(source)),
        ("estimand", "; ".join(estimands)),
        ("test", "; ".join(tests)),
        ("intervals", "; ".join(methods)),
        ("alpha", f"{source.alpha:g}"),
        ("weights", source.planned_weighting or ("none" if differences else "")),
        ("clusters", shown(source.report.get("clusters") or "", 60)),
        ("side", ", ".join(sides) if sides != ["two-sided"] else ""),
        ("resamples", "" if reproduction["resamples"] is None else f"{reproduction['resamples']:,}"),
        ("seed", "" if reproduction["seed"] is None else str(reproduction["seed"])),
    ]
    return [*((term, text) for term, text in items if text), *design_facts(source)]


def _compared(source: Source) -> str:
    words = _WORDS.get(source.unit[0], {"baseline": "baseline", "system": "system"})
    return _COMPARED.get(source.report.get("compare", ""), "").format(**words)


def _families(source: Source) -> Table | None:
    columns = (
        Column("family", number=False),
        Column("correction", number=False),
        Column("alpha"),
        Column("comparisons"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            Cell(shown(family["id"], 80), note="" if family["role"] in family["id"] else family["role"]),
            Cell(CORRECTION_NAMES.get(family["correction"], shown(family["correction"], 60))),
            Cell(f"{family['alpha']:g}"),
            Cell(f"{family.get('size', len(family['members'])):,}"),
        )
        for family in source.report["families"]
    ]
    rows += _rules_family(source.report["decision"])
    caption = "Families of comparisons, each corrected within itself"
    return Table("families", caption, columns, tuple(rows)) if rows else None


def _rules_family(decision: Row | None) -> list[tuple[Cell, ...]]:
    """Return the row of the rules of a policy that have an interval: how they hold and fail."""
    rules = [rule for rule in (decision or {}).get("rules", ()) if rule.get("family_interval")]
    if decision is None or not rules:
        return []
    correction = "none for a rule that holds, Bonferroni for one that fails"
    return [(Cell("rules of the policy"), Cell(correction), Cell(f"{decision['alpha']:g}"), Cell(f"{len(rules):,}"))]


def _also(source: Source) -> list[Block]:
    """Show what other tests and corrections give for the confirmatory claims."""
    claims, remark = listed(source, source.primary)
    ordered = [row for m in source.primary for row in told_first(source, [c for c in claims if c["measure"] == m])]
    found = [(claim, *reading) for claim in ordered for reading in _readings(source, claim)]
    if not found:
        return []
    named = level(next((interval for *_, interval in found if interval), None))
    cells = tuple(
        (
            Cell(pair_label((claim["baseline"], claim["system"])), note=source.measure_label(claim["measure"])),
            Cell(procedure),
            Cell(wording.p_value(p)),
            Cell(
                source.range(claim["measure"], interval),
                note=_interval_method(interval, procedure),
            ),
        )
        for claim, procedure, p, interval in found
    )
    heads = (Column("comparison", number=False), Column("procedure", number=False), Column("p"), Column(named))
    without = () if any(interval for *_, interval in found) else (named,)
    columns, rows, said = without_constants(heads, cells, ("comparison", *without))
    caption = "Other tests and corrections of the same claims"
    if "comparison" in said:
        caption += f": {said['comparison']}, {source.measure_label(found[0][0]['measure'])}"
    small = f"{remark} {_equal_left_out(claims)}".strip()
    return [Table("also", caption, columns, rows), *([Paragraph(small, small=True)] if small else [])]


def _interval_method(interval: Row | None, procedure: str) -> str:
    """Return how an interval was made, where the name of the procedure does not say so."""
    method = "" if interval is None else str(interval["method"])
    said = _WORD.findall(procedure.casefold())
    return "" if all(word in said for word in _WORD.findall(method.casefold())) else shown(method, 80)


def _readings(source: Source, claim: Row) -> list[tuple[str, float | None, Row | None]]:
    """Return name, p and interval of each other test and correction of a claim that no other section shows."""
    levels = (source.report.get("interleaving") or {}).get("levels") or ()
    place = [claim[key] for key in ("measure", "baseline", "system")]
    if any([row[key] for key in ("measure", "baseline", "system")] == place for row in levels):
        others: list[Row] = []
    else:
        others = [other for other in claim["also"] if not stands_beside(other)]
    tests = [(TEST_NAMES.get(o["test"], shown(o["test"], 60)), o["p_value"], o["interval"]) for o in others]
    corrections = [
        (
            f"{CORRECTION_NAMES.get(o['correction'], shown(o['correction'], 60))} (adjusted)",
            o["p_adjusted"],
            o["adjusted_interval"],
        )
        for o in claim["also_adjusted"]
    ]
    return tests + corrections


def _equal_left_out(claims: Sequence[Row]) -> str:
    """Explain a small p beside an interval with 0 in it: rank tests set equal queries aside, their intervals do not."""
    for claim in claims:
        for other in claim["also"]:
            both, p = ends(other["interval"]), other["p_value"]
            if other["test"] not in RANK_TESTS or both is None or p is None:
                continue
            if both[0] <= 0 <= both[1] and p <= 1 - other["interval"]["level"]:
                return "The p of the Wilcoxon and sign tests sets equal queries aside; their intervals count them."
    return ""


def _reproduction(source: Source) -> list[Block]:
    reproduction, decision = source.report["reproduction"], source.report["decision"] or {}
    out: list[Block] = [Subheading("reproduction", "How to repeat it")]
    if reproduction["argv"]:
        out.append(Code("The command", shown(shlex.join(reproduction["argv"]), 4000)))
    if reproduction["plan"]:
        # conventions are of judging, which values as given do not need
        unused = ("overridden", *(("conventions",) if _values_as_given(source) else ()))
        settings = {key: value for key, value in reproduction["plan"].items() if key not in unused}
        out.append(Code("The plan as it was carried out, ready for --plan", _toml_lines(plan_text(settings))))
    if decision.get("policy"):
        out.append(Code("The policy that decided, ready for --policy", _toml_lines(_policy_text(decision["policy"]))))
    if reproduction["inputs"]:
        rows = tuple(
            (Cell(shown(row["name"], 120)), Cell(f"{row['bytes']:,}"), Cell(row["sha256"]))
            for row in reproduction["inputs"]
        )
        columns = (Column("file", number=False), Column("bytes"), Column("SHA-256", number=False))
        out.append(Table("inputs", "Inputs", columns, rows))
    sentence = "`rankstats render report.json` makes this page again from the file beside it."
    out.append(Paragraph(sentence.replace("`", ""), small=True))
    if reproduction["versions"]:
        versions = tuple((shown(k, 40), shown(str(v), 80)) for k, v in reproduction["versions"].items())
        out += [Subheading("versions", "Versions"), Terms(versions)]
    return out


def _policy_text(policy: Mapping[str, Any]) -> str:
    """Write a policy as TOML: its rules are tables of a list each."""
    parts = [plan_text({key: value for key, value in policy.items() if not isinstance(value, list)})]
    for kind, rules in policy.items():
        if isinstance(rules, list):
            parts += [plan_text({kind: rule}).replace(f"[{kind}]", f"[[{kind}]]", 1) for rule in rules]
    return "\n\n".join(part for part in parts if part)


def _toml_lines(text: str) -> str:
    """Return TOML with a line a setting; texts are cleaned."""
    return "\n".join(shown(line, 2000) for line in text.split("\n"))
