"""Plan: what is compared and claimed, with which conventions and statistics; from keywords or a TOML file.

`settings` holds the plan and its rules, `document` reads and writes plan files. A new option of a plan needs its field
in `Plan` (with its key in `Plan.to_dict`) and its reader in `document`.
"""

from rankstats.plan.document import plan_from_document, plan_text, read_plan
from rankstats.plan.settings import (
    BETTER,
    COMPARE,
    CORRECTIONS,
    FAMILIES,
    INTERVALS,
    JOINT_CORRECTIONS,
    SCHEMA_VERSION,
    SMALLEST_ALPHA,
    TESTS,
    Columns,
    Plan,
    override,
)

__all__ = [
    "BETTER",
    "COMPARE",
    "CORRECTIONS",
    "FAMILIES",
    "INTERVALS",
    "JOINT_CORRECTIONS",
    "SCHEMA_VERSION",
    "SMALLEST_ALPHA",
    "TESTS",
    "Columns",
    "Plan",
    "override",
    "plan_from_document",
    "plan_text",
    "read_plan",
]
