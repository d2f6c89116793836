"""Rows that were added up to units, read by sums alone: after the units are made, none of them comes into memory.

The same steps as for rows that are units (`sums_reading`), over the table of units. What needs the units themselves
(quantiles, winsorising, days, quantiles as segments) is read by `read_experiment` another way, with the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rankstats.experiment.evidence import Evidence, MetricEvidence
from rankstats.experiment.exact_sums import Request, Variable
from rankstats.experiment.metrics import ALL_ROWS, Metric
from rankstats.experiment.segments import Attribute
from rankstats.experiment.sums_reading import NUMBER_TYPES, Facts, Members, SumsReader
from rankstats.experiment.unit_query import UnitQuery


class UnitSumsReader(SumsReader):
    """The steps from the table ``units`` of a query to evidence."""

    source = "(SELECT * FROM units WHERE NOT twice)"

    def __init__(self, query: UnitQuery, attributes: Sequence[Attribute], covariates: Sequence[str]) -> None:
        super().__init__(query, attributes, covariates)
        self.tables = query.unit_tables

    def suits(self) -> bool:
        """Whether what is asked for follows from the sums of units; leaves the facts of the columns."""
        settings = self.settings
        daily = [m for m in settings.metrics if m.role == "primary" and m.expression.kind in ("mean", "ratio")]
        if settings.time is not None and daily:
            return False
        if any(metric.expression.kind == "quantile" or metric.winsorise for metric in settings.metrics):
            return False
        if any(quantiles for attribute in self.attributes for _, quantiles in attribute.parts):
            return False
        if not all(self._kind(covariate) in NUMBER_TYPES for covariate in self.covariates):
            return False
        return self._finds_unit_facts()

    def evidence(self) -> Evidence | None:
        """Return the evidence; None where values are too different in size for sums to keep them all."""
        query, notes = self.query, list(self.query.notes)
        found = super().evidence()
        if found is None:
            query.notes[:] = notes
            return None
        assigned = () if query.assigned is None else (query.assigned.source,)
        return replace(found, rows=query.rows, counts=dict(query.counts), sources=(*found.sources, *assigned))

    def _kind(self, column: str) -> str | None:
        assigned = self.query.assigned
        if assigned is not None and column in assigned.columns:
            return assigned.columns[column]
        return self.query.columns.get(column)

    def _finds_unit_facts(self) -> bool:
        """Take bounds and counts of every sum and covariate; False where there is no unit, or a number is too large."""
        numbers = {f"m{i}_{j}": f"m{i}_{j}" for i, m in enumerate(self.settings.metrics) for j in _places(m)}
        numbers |= {name: self._number(name) for name in self.covariates}
        asked = ["count(*)", *(f"{f}({sql})" for sql in numbers.values() for f in ("count", "min", "max"))]
        row = self.tables.rows(f"SELECT {', '.join(asked)} FROM {self.source}", self.query.name)[0]
        self.rows = int(row[0])
        for place, name in enumerate(numbers):
            count, low, high = row[1 + 3 * place : 4 + 3 * place]
            if low is not None and not (float(low) >= -1e100 and float(high) <= 1e100):
                return False
            self.facts[name] = Facts(float(low or 0), float(high or 0), self.rows - int(count))
        return self.rows > 0

    # ── what is added up ────────────────────────────────────────────────────────────────────────────────────────────

    def _request(self, metric: Metric) -> Request:
        place = self.settings.metrics.index(metric)
        names = [f"m{place}_{j}" for j in _places(metric)]
        columns = metric.expression.columns
        # sums of whole numbers are whole
        whole = metric.expression.kind == "share" or all(c == ALL_ROWS or c in self.query.exact for c in columns)
        variables = [Variable(n, self.facts[n].low, self.facts[n].high, whole) for n in names]
        for name in metric.covariate:
            variables += self._with_missing(name)
        return Request(tuple(variables), len(names), complete=not any(self.facts[n].empty for n in names))

    def _number(self, column: str) -> str:
        return self.query.fixed_number(column)

    def _may_be_empty(self, column: str) -> bool:
        return self.facts[column].empty > 0

    def _covariate(self, name: str) -> Variable:
        return Variable(self._number(name), self.facts[name].low, self.facts[name].high)

    def _empty(self, column: str) -> int:
        return self.facts[column].empty if column in self.facts else self.query.empty.get(column, 0)

    def _metric(
        self, place: int, metric: Metric, arms: tuple[str, ...], members: list[list[Members]]
    ) -> MetricEvidence:
        empty = sum(self.query.empty.get(column, 0) for column in set(metric.expression.columns))
        return replace(super()._metric(place, metric, arms, members), empty_cells=empty)

    # ── groups ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _named_units(self) -> str:
        return f"SELECT * FROM {self.source}"

    def _unit_sql(self) -> str:
        return "u"

    def _arm_sql(self) -> str:
        return "arm"

    def _arm_key(self) -> str:
        return "arm"

    def _key(self, column: str) -> str:
        return self.query.fixed_sql(column)


def _places(metric: Metric) -> Sequence[int]:
    return range(len(metric.expression.columns))
