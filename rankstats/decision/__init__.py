"""Decision: whether a candidate may be launched, by a policy, from the content of a report.

`policy` reads what is asked. `reported` (comparisons) and `reported_experiment` (experiments) look things up in a
report, `rules` turns the policy into rules and says when one holds, `rule_measuring` and `arm_measuring` measure them,
`requirements` and `arm_requirements` check the evidence, `rule_wording` says it in sentences, and `deciding` puts it
together. `archived` takes the baseline from an earlier report.
"""

from rankstats.decision.deciding import CANNOT_TELL, GO, NO_GO, Decision, decide
from rankstats.decision.policy import (
    Claim,
    Floor,
    Guard,
    Judged,
    Part,
    Policy,
    Requirements,
    policy_from_document,
    read_policy,
)
from rankstats.decision.rules import RuleOutcome

__all__ = [
    "CANNOT_TELL",
    "GO",
    "NO_GO",
    "Claim",
    "Decision",
    "Floor",
    "Guard",
    "Judged",
    "Part",
    "Policy",
    "Requirements",
    "RuleOutcome",
    "decide",
    "policy_from_document",
    "read_policy",
]
