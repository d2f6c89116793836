"""Evidence check of directions: ready-made measures of which it was assumed that higher is better."""

from __future__ import annotations

from collections.abc import Iterator

from rankstats.comparison.directions import ASSUMED, speaks_of_less
from rankstats.comparison.findings import Findings
from rankstats.comparison.result import Warning


def assumed_directions(findings: Findings) -> Iterator[Warning]:
    """Yield a warning for each ready-made measure that was taken as better when higher, against what its name says."""
    for info in findings.evidence.scores.measures:
        if str(info.definition.get("direction", "")).endswith(ASSUMED) and speaks_of_less(info.name):
            yield Warning(
                "assumed_direction",
                "warning",
                f"Higher values of {info.name} are taken as better, for nobody stated a direction, but its name speaks "
                f"of something of which less is better. If so, add --lower {info.name}; if not, --higher {info.name} "
                "ends this warning.",
                info.name,
            )
