"""Metrics of experiments: what is computed from a unit's rows, and what the metric is for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rankstats.errors import PlanError, did_you_mean

ROLES = ("primary", "secondary", "guard")
BETTER = ("higher", "lower")
ALL_ROWS = "*"
"""The column of ``count(*)``."""

_FUNCTIONS = ("mean", "sum", "share", "quantile", "count")
_OTHERS = {"avg": "mean", "average": "mean", "percentile": "quantile", "median": "quantile", "proportion": "share",
           "rate": "share", "any": "share"}  # fmt: skip
_CALL = re.compile(r"(\w+)\s*\((.*)\)", re.DOTALL)
_FORMS = "mean(x), sum(x)/sum(y), sum(x)/count(*), share(x), quantile(x, 0.95) or a column"


@dataclass(frozen=True, slots=True)
class Expression:
    """What a metric computes; made by `parse_expression`.

    Attributes
    ----------
    kind : {'mean', 'share', 'ratio', 'quantile'}
        Mean over units of each unit's sum; share of units with a value above 0; ratio of sums; quantile of rows.
    columns : tuple of str
        One column, or numerator and denominator (``*`` counts rows).
    level : float or None
        Of a quantile.
    """

    kind: str
    columns: tuple[str, ...]
    level: float | None = None

    @property
    def words(self) -> str:
        """The formula in words."""
        first = self.columns[0]
        if self.kind == "ratio":
            bottom = "number of rows" if self.columns[1] == ALL_ROWS else f"sum of {self.columns[1]}"
            return f"sum of {first} over all units, divided by the {bottom}"
        return {
            "mean": f"mean over units of {first}, added up over a unit's rows",
            "share": f"share of units with {first} above 0 in any row",
            "quantile": f"{self.level:g} quantile of {first} over all rows" if self.level else "",
        }[self.kind]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its role.

    Attributes
    ----------
    name : str
        Unique name.
    expression : Expression
        What is computed.
    text : str
        The expression as written.
    role : {'primary', 'secondary', 'guard'}
        Claims are about primary metrics; guards must not be harmed by more than their margin.
    better : {'higher', 'lower'}
        The direction of better.
    winsorise : float or None
        Quantile of the units' values at which larger ones are capped.
    covariate : tuple of str
        Columns from before the experiment.
    margin : float or None
        Harm that a guard tolerates, or the difference that does not matter; in the metric's unit.
    margin_relative : float or None
        The same as a fraction of the control.
    """

    name: str
    expression: Expression
    text: str
    role: str = "secondary"
    better: str = "higher"
    winsorise: float | None = None
    covariate: tuple[str, ...] = ()
    margin: float | None = None
    margin_relative: float | None = None

    def __post_init__(self) -> None:
        for what, value, known in (("role", self.role, ROLES), ("better", self.better, BETTER)):
            if value not in known:
                raise PlanError(
                    f"metric {self.name!r}: {what} {value!r} is unknown; choose one of {', '.join(known)}"
                    + did_you_mean(value, known)
                )
        if self.winsorise is not None and not 0 < self.winsorise < 1:
            raise PlanError(f"metric {self.name!r}: winsorise = {self.winsorise:g} is no quantile; 0.999 is usual")
        if self.winsorise is not None and self.expression.kind != "mean":
            raise PlanError(
                f"metric {self.name!r}: only means are winsorised, not a {self.expression.kind}; leave winsorise out"
            )
        if self.covariate and self.expression.kind == "quantile":
            raise PlanError(f"metric {self.name!r}: a quantile takes no covariate; leave it out")
        for column in self.covariate:
            if column in self.expression.columns:
                raise PlanError(
                    f"metric {self.name!r}: its covariate {column!r} is what the metric measures, and takes the effect "
                    "away with it; name a column from before the experiment"
                )
        if self.margin is not None and self.margin_relative is not None:
            raise PlanError(f"metric {self.name!r}: give margin or margin_relative, not both")
        for margin in (self.margin, self.margin_relative):
            if margin is not None and not 0 < margin < float("inf"):
                raise PlanError(f"metric {self.name!r}: margin {margin:g}; a margin is a number above 0")
        if self.role == "guard" and self.margin is None and self.margin_relative is None:
            raise PlanError(f"metric {self.name!r} is a guard without a margin: say how much harm is tolerated")

    @property
    def higher_is_better(self) -> bool:
        """Whether larger values are better."""
        return self.better == "higher"

    def to_dict(self) -> dict[str, Any]:
        """Return the metric under the keys of a plan."""
        found = {
            "name": self.name,
            "value": self.text,
            "role": self.role,
            "better": self.better,
            "winsorise": self.winsorise,
            "covariate": list(self.covariate),
            "margin": self.margin,
            "margin_relative": self.margin_relative,
        }
        return {key: value for key, value in found.items() if value not in (None, [])}


def parse_expression(text: str) -> Expression:
    """Read a metric's expression.

    Parameters
    ----------
    text : str
        ``mean(x)`` or a column: the mean over units; ``share(x)``; ``sum(x)/sum(y)``, ``sum(x)/count(*)``;
        ``quantile(x, 0.95)``. Columns with spaces or brackets stand in double quotes.

    Raises
    ------
    PlanError
        If it is none of these.

    Examples
    --------
    >>> parse_expression("sum(clicks) / sum(impressions)").columns
    ('clicks', 'impressions')
    >>> parse_expression("quantile(latency, .95)").level
    0.95
    >>> parse_expression("revenue").kind
    'mean'
    """
    written = text.strip()
    if not written:
        raise PlanError(f"a metric is empty; write {_FORMS}")
    if not re.search(r"[()/]", written) or _is_quoted(written):
        return Expression("mean", (_column(written, text),))
    parts = _split(written, "/")
    if len(parts) == 2:
        return _ratio(parts, text)
    if len(parts) > 2:
        raise PlanError(f"metric {text!r} has more than one division; write {_FORMS}")
    function, argument = _call(written, text)
    if function == "quantile":
        return _quantile(argument, text)
    if function in ("mean", "share"):
        return Expression(function, (_column(argument, text),))
    raise PlanError(
        f"metric {text!r}: a sum depends on the number of units of an arm; write mean({argument}) for the mean over "
        "units of their sums, or a ratio of two sums"
    )


def _ratio(parts: list[str], text: str) -> Expression:
    calls = [_call(part, text) for part in parts]
    if calls[0][0] != "sum" or calls[1][0] not in ("sum", "count"):
        raise PlanError(f"metric {text!r}: a ratio is written sum(x)/sum(y) or sum(x)/count(*)")
    bottom = ALL_ROWS if calls[1][0] == "count" else _column(calls[1][1], text)
    if calls[1][0] == "count" and calls[1][1] not in ("*", ""):
        raise PlanError(f"metric {text!r}: count(*) counts rows; write sum({calls[1][1]}) to add up a column")
    return Expression("ratio", (_column(calls[0][1], text), bottom))


def _quantile(argument: str, text: str) -> Expression:
    parts = _split(argument, ",")
    try:
        level = float(parts[1]) if len(parts) == 2 else 0.0
    except ValueError:
        level = 0.0
    if not 0 < level < 1:
        raise PlanError(f"metric {text!r}: write quantile(x, 0.95), with a level between 0 and 1")
    return Expression("quantile", (_column(parts[0], text),), level)


def _call(part: str, text: str) -> tuple[str, str]:
    found = _CALL.fullmatch(part.strip())
    if not found:
        raise PlanError(f"metric {text!r} cannot be understood; write {_FORMS}")
    function = found[1].lower()
    if function not in _FUNCTIONS:
        meant = _OTHERS.get(function)
        hint = f"; did you mean {meant!r}?" if meant else did_you_mean(function, _FUNCTIONS)
        raise PlanError(f"metric {text!r}: {found[1]!r} is no function ({', '.join(_FUNCTIONS)})" + hint)
    return function, found[2].strip()


def _is_quoted(text: str) -> bool:
    return len(text) > 2 and text[0] == text[-1] == '"' and '"' not in text[1:-1]


def _column(text: str, whole: str) -> str:
    name = text.strip()
    if _is_quoted(name):
        return name[1:-1]
    if not name or re.search(r'[(),/"]', name):
        raise PlanError(f"metric {whole!r}: {name!r} is no column; write {_FORMS}, odd names in double quotes")
    return name


def _split(text: str, separator: str) -> list[str]:
    """Split outside brackets and quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for place, letter in enumerate(text):
        quoted ^= letter == '"'
        depth += 0 if quoted else (letter == "(") - (letter == ")")
        if letter == separator and not depth and not quoted:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


def metric_from_text(text: str) -> Metric:
    """Return the metric of ``name = expression``, or of an expression that names itself.

    Examples
    --------
    >>> metric_from_text("ctr = sum(clicks)/sum(impressions)").name
    'ctr'
    >>> metric_from_text("mean(revenue)").name
    'mean(revenue)'
    """
    parts = _split(text, "=")
    if len(parts) > 2:
        raise PlanError(f"metric {text!r}: write NAME = EXPRESSION once")
    expression = parts[-1].strip()
    name = parts[0].strip() if len(parts) == 2 else expression.strip('"')
    if not name:
        raise PlanError(f"metric {text!r} has no name before '='")
    return Metric(name, parse_expression(expression), expression)


def metric_from_mapping(row: Mapping[str, Any]) -> Metric:
    """Return the metric of a plan's ``[[experiment.metric]]``."""
    text = str(row.get("value") or row.get("name") or "")
    covariate = row.get("covariate", ())
    settings = {key: row[key] for key in ("role", "better", "winsorise", "margin", "margin_relative") if key in row}
    return Metric(
        name=str(row.get("name") or text),
        expression=parse_expression(text),
        text=text,
        covariate=(covariate,) if isinstance(covariate, str) else tuple(covariate),
        **settings,
    )


def with_roles(metrics: tuple[Metric, ...], stated: frozenset[str]) -> tuple[Metric, ...]:
    """Return the metrics with one primary at least: the first whose role nobody stated.

    Raises
    ------
    PlanError
        If two metrics have one name, or none can be primary.
    """
    names = [metric.name for metric in metrics]
    for name in names:
        if names.count(name) > 1:
            raise PlanError(f"two metrics are named {name!r}; give one another name: 'NAME = EXPRESSION'")
    if not metrics or any(metric.role == "primary" for metric in metrics):
        return metrics
    for place, metric in enumerate(metrics):
        if metric.name not in stated:
            return (*metrics[:place], replace(metric, role="primary"), *metrics[place + 1 :])
    raise PlanError("no metric is primary; give one of them role = 'primary' (--primary NAME)")
