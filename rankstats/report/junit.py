"""A decision as JUnit XML, which CI systems show as tests: one case a rule."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, in whatever form."""


def render_junit(decision: Mapping[str, Any], *, open_fails: bool = False) -> str:
    """Return a decision as JUnit XML.

    A rule that holds is a passed case, one that fails a failure, an open one skipped, all with the rule's sentence.

    Parameters
    ----------
    decision : mapping
        ``decision`` of a report.json.
    open_fails : bool
        Whether an open rule is a failure too: the policy's `open_exit` is 1.

    Returns
    -------
    str
        A well-formed document with one ``testsuite``.

    Examples
    --------
    >>> rule = {"id": "tail", "kind": "guard", "outcome": "holds", "sentence": "AP rises"}
    >>> text = render_junit({"baseline": "a", "candidate": "b", "outcome": "go", "rules": [rule]})
    >>> text.splitlines()[1]
    '<testsuites name="rankstats gate" tests="1" failures="0" errors="0" skipped="0" time="0">'
    """
    rules: Sequence[Mapping[str, Any]] = decision["rules"]
    counts = Counter(_element(rule["outcome"], open_fails) for rule in rules)
    totals = {
        "tests": str(len(rules)),
        "failures": str(counts["failure"]),
        "errors": "0",
        "skipped": str(counts["skipped"]),
        "time": "0",
    }
    root = ET.Element("testsuites", {"name": "rankstats gate", **totals})
    suite = ET.SubElement(
        root, "testsuite", {"name": _clean(f"{decision['candidate']} against {decision['baseline']}"), **totals}
    )
    for rule in rules:
        case = ET.SubElement(
            suite,
            "testcase",
            {"classname": f"rankstats.gate.{rule['kind']}", "name": _clean(rule["id"]), "time": "0"},
        )
        element, sentence = _element(rule["outcome"], open_fails), _clean(rule["sentence"])
        if element is None:
            ET.SubElement(case, "system-out").text = sentence
        else:
            said = ET.SubElement(case, element, {"message": f"{rule['outcome']}: {sentence}"})
            if element == "failure":
                said.set("type", rule["outcome"])
                said.text = sentence
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _element(outcome: str, open_fails: bool) -> str | None:
    """Return the element that says what became of a case; None where it passed."""
    if outcome == "holds":
        return None
    return "failure" if outcome == "fails" or open_fails else "skipped"


def _clean(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
