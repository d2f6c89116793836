"""Metric expressions: what they mean, and what is refused with which hint."""

from __future__ import annotations

import pytest

from rankstats.errors import PlanError
from rankstats.experiment import metric_from_text, parse_expression, with_roles
from rankstats.experiment.metrics import Metric, metric_from_mapping


@pytest.mark.parametrize(
    ("text", "kind", "columns", "level"),
    [
        ("revenue", "mean", ("revenue",), None),
        ("mean( revenue )", "mean", ("revenue",), None),
        ('"odd (name)/x"', "mean", ("odd (name)/x",), None),
        ("share(paid)", "share", ("paid",), None),
        ("sum(clicks)/sum(impressions)", "ratio", ("clicks", "impressions"), None),
        ('sum("a/b") / sum(c)', "ratio", ("a/b", "c"), None),
        ("sum(clicks)/count(*)", "ratio", ("clicks", "*"), None),
        ("quantile(latency, .95)", "quantile", ("latency",), 0.95),
    ],
)
def test_expressions_are_read(text: str, kind: str, columns: tuple[str, ...], level: float | None) -> None:
    found = parse_expression(text)
    assert (found.kind, found.columns, found.level) == (kind, columns, level)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("maen(revenue)", "did you mean 'mean'"),
        ("avg(revenue)", "did you mean 'mean'"),
        ("median(x)", "did you mean 'quantile'"),
        ("sum(revenue)", "write mean\\(revenue\\)"),
        ("mean(a)/mean(b)", "sum\\(x\\)/sum\\(y\\)"),
        ("sum(a)/sum(b)/sum(c)", "more than one division"),
        ("quantile(x)", "level between 0 and 1"),
        ("quantile(x, 95)", "level between 0 and 1"),
        ("mean()", "is no column"),
        ("a/b", "cannot be understood"),
        ("  ", "is empty"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_a_way_out(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        parse_expression(text)


def test_a_metric_has_a_name_of_its_own() -> None:
    assert metric_from_text("ctr = sum(a)/sum(b)").name == "ctr"
    with pytest.raises(PlanError, match="two metrics are named 'x'"):
        with_roles((metric_from_text("x"), metric_from_text("x = mean(y)")), frozenset())


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"value": "x", "role": "gaurd", "margin": 1.0}, "did you mean 'guard'"),
        ({"value": "x", "better": "high"}, "higher"),
        ({"value": "x", "role": "guard"}, "guard without a margin"),
        ({"value": "x", "role": "guard", "margin": 0.0}, "above 0"),
        ({"value": "x", "margin": 0.1, "margin_relative": 0.1}, "not both"),
        ({"value": "x", "winsorise": 99.0}, "no quantile"),
        ({"value": "sum(x)/sum(y)", "winsorise": 0.99}, "only means are winsorised"),
        ({"value": "quantile(x, 0.5)", "covariate": "z"}, "takes no covariate"),
    ],
)
def test_settings_of_a_metric_are_checked(row: dict[str, object], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        metric_from_mapping(row)


def test_the_first_metric_without_a_stated_role_is_primary() -> None:
    guard = Metric("g", parse_expression("g"), "g", role="guard", margin=1.0)
    roles = [
        metric.role for metric in with_roles((guard, metric_from_text("a"), metric_from_text("b")), frozenset("g"))
    ]
    assert roles == ["guard", "primary", "secondary"]
    with pytest.raises(PlanError, match="no metric is primary"):
        with_roles((guard,), frozenset("g"))


def test_a_metric_is_not_its_own_covariate() -> None:
    with pytest.raises(PlanError, match="its covariate 'x' is what the metric measures"):
        metric_from_mapping({"value": "sum(x)/sum(y)", "covariate": "x"})
