"""For users' own tests: assertions about comparisons and experiments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstats.decision import Decision, Policy, decide, policy_from_document, read_policy

if TYPE_CHECKING:
    from rankstats.comparison import Comparison
    from rankstats.experiment import Readout

__all__ = ["assert_go"]


def assert_go(
    report_or_comparison: Mapping[str, Any] | Comparison | Readout, policy: Policy | Mapping[str, Any] | str | Path
) -> Decision:
    """Assert that a policy says GO.

    Parameters
    ----------
    report_or_comparison : mapping, Comparison or Readout
        The content of a report.json, a comparison, or the readout of an experiment.
    policy : Policy, mapping or path
        The policy, as an object, as a dictionary with the keys of a policy file, or as the path of one.

    Returns
    -------
    Decision
        With every rule's outcome.

    Raises
    ------
    AssertionError
        If a rule fails or is open; the message lists these rules.
    RankstatsError
        If the policy cannot be read or does not fit the report.

    Examples
    --------
    >>> from rankstats import compare_scores
    >>> rows = [(f"q{n}", s, "AP", 0.1 * (n % 5) + gain) for n in range(30) for s, gain in (("a", 0.0), ("b", 0.3))]
    >>> asked = {"baseline": "b", "candidate": "a", "guard": [{"id": "no harm", "measure": "AP", "margin": 0.1}]}
    >>> assert_go(compare_scores(rows), asked)
    Traceback (most recent call last):
    ...
    AssertionError: NO-GO: 1 of 3 rules does not hold
      fails "no harm": AP falls by 0.300 (95 % interval −0.300 to −0.300; a fall of up to 0.1 is allowed)
    """
    if isinstance(policy, Mapping):
        policy = policy_from_document(policy)
    elif not isinstance(policy, Policy):
        policy = read_policy(policy)
    decision = decide(report_or_comparison, policy)
    if decision.outcome != "go":
        raise AssertionError(_listed(decision))
    return decision


def _listed(decision: Decision) -> str:
    """Return the rules that do not hold, the failing ones first."""
    order = ("fails", "open")
    missed = sorted((rule for rule in decision.rules if rule.outcome in order), key=lambda r: order.index(r.outcome))
    word = "NO-GO" if decision.outcome == "no_go" else "CANNOT TELL"
    verb = "does" if len(missed) == 1 else "do"
    lines = [f"{word}: {len(missed)} of {len(decision.rules)} rules {verb} not hold"]
    lines += [f'  {rule.outcome} "{rule.id}": {rule.sentence}' for rule in missed]
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")
