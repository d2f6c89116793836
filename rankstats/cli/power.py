"""``rankstats power``: queries or units needed, smallest detectable differences, and A/A calibration of the tests."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankstats.cli import power_units
from rankstats.cli.options import count_of, progress_bar, require, split_list
from rankstats.cli.report_options import check_folder
from rankstats.conventions import SCORES_FORMATS
from rankstats.errors import InputError

if TYPE_CHECKING:
    from rankstats.planning import PlannedDifference, Terms
    from rankstats.stats.aa_calibration import Calibration

EPILOG = """\
examples:
  rankstats power reports/a-vs-b/report.json --difference 0.02
  rankstats power reports/a-vs-b/report.json --difference nDCG@10=0.01,AP=0.02 --segment popularity --comparisons 5
  rankstats power reports/a-vs-b/report.json --difference 0.02 --simulate randomisation --out power
  rankstats power --sd 0.2 --difference 0.02 --power 0.9
  rankstats power --sd 0.2 --n 50
  rankstats power --calibrate per_query.csv
  rankstats power --base-rate 0.05 --difference 10% --users-per-day 4000 --arms 3 --out power
  rankstats power --sd revenue=40 --mean revenue=12 --correlation 0.5 --days 14 --users-per-day 4000
  rankstats power reports/A-vs-B/report.json --difference 2%

Only the spread of the differences is used, never their mean: the power for the difference that happened to be observed
says no more than its p-value. The formula takes differences as normal; --simulate draws from those at hand. With
--out the last line is the path of the figure (or of the table)."""

FORMATS = ("table", "csv", "json")
SIMULATED = ("randomisation", "bootstrap", "t")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    source = parser.add_argument_group("where the spread comes from (one of them)")
    source.add_argument("report", metavar="REPORT.json", nargs="?", help="an earlier report.json")
    source.add_argument(
        "--sd",
        metavar="[METRIC=]NUMBER",
        action="append",
        default=[],
        help="standard deviation of the per-query differences; of an experiment, of one unit's value (repeatable)",
    )
    source.add_argument(
        "--calibrate",
        metavar="SCORES",
        action="append",
        default=[],
        help="per-query values: level and coverage of every test on them, where the truth is made (A/A)",
    )
    source.add_argument("--scores-format", choices=SCORES_FORMATS, help="format of the file (default: recognised)")
    asked = parser.add_argument_group("what is asked")
    asked.add_argument(
        "--difference",
        metavar="[MEASURE=]SIZE",
        action="append",
        default=[],
        help="difference that is to be found, in units of the measure; of an experiment also SIZE%%, of the control; "
        "repeatable, separated by commas",
    )
    asked.add_argument("--power", type=float, default=0.8, help="probability of finding it (default: 0.8)")
    asked.add_argument("--alpha", type=float, default=0.05, help="level of the family (default: 0.05)")
    asked.add_argument(
        "--comparisons",
        type=int,
        metavar="M",
        help="comparisons that are made together (default: those of the report's claims, else 1; of an experiment "
        "metrics x arms but the control)",
    )
    asked.add_argument("--one-sided", action="store_true", help="one-sided tests")
    asked.add_argument("--n", type=count_of, metavar="N", help="number of queries (default: those at hand)")
    _add_of_report(parser)
    power_units.add_arguments(parser)
    out = parser.add_argument_group("output")
    out.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    out.add_argument("--out", metavar="DIR", help="folder for the power curve, power.svg, and its table, power.csv")
    out.add_argument("--quiet", action="store_true", help="no progress on stderr")


def _add_of_report(parser: argparse.ArgumentParser) -> None:
    of_report = parser.add_argument_group("of a report")
    of_report.add_argument("--measures", metavar="LIST", action="append", default=[], help="default: all")
    of_report.add_argument("--baseline", metavar="NAME", help="default: the pairs that the report compares")
    of_report.add_argument("--system", metavar="NAME", help="the system that is compared with it")
    of_report.add_argument(
        "--segment", metavar="LIST", action="append", default=[], help="attributes whose segments get rows of their own"
    )
    of_report.add_argument("--simulate", choices=SIMULATED, help="simulate this test as well, from the queries at hand")
    simulated = parser.add_argument_group("simulation and calibration")
    simulated.add_argument("--repetitions", type=int, metavar="N", help="default 1000; 500 for --calibrate")
    simulated.add_argument("--resamples", type=int, default=999, metavar="N", help="default 999")
    simulated.add_argument("--seed", type=int, default=0, metavar="N", help="of the calibration, default 0")


def run(options: argparse.Namespace, argv: list[str]) -> int:
    """Plan or calibrate, and print the table."""
    of_units = power_units.is_asked(options)
    numbers = bool(options.sd or options.base_rate or (of_units and not options.report))
    given = [bool(options.report), numbers, bool(options.calibrate)]
    require(
        sum(given) == 1,
        "give one of REPORT.json, --sd NUMBER (or --base-rate SHARE) and --calibrate SCORES (--help tells more)",
    )
    check_folder("out", options.out)
    for name in ("repetitions", "resamples"):
        number = getattr(options, name)
        require(number is None or number >= 1, f"--{name} {number}: a whole number of 1 or more is expected")
    if options.calibrate:
        return _calibrate(options)
    report = _report(options)
    if of_units or (report is not None and report.get("kind") == "experiment"):
        return _of_units(options, report)
    planned = _planned(options, report)
    _write(_PLAN_COLUMNS, [_plan_row(row) for row in planned], options.format, _heading(planned[0].terms))
    if options.out:
        from rankstats.output import write_folder  # noqa: PLC0415  with the rest
        from rankstats.report.power_curve import power_svg, power_table  # noqa: PLC0415  heavy

        files = {"power.svg": power_svg(planned), "power.csv": power_table(planned)}
        inputs = [options.report] if options.report else []
        print(write_folder(options.out, files, ours=(), inputs=inputs)[0])
    return 0


# ── planning ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _report(options: argparse.Namespace) -> dict[str, Any] | None:
    from rankstats.report import read_report  # noqa: PLC0415  heavy

    return read_report(options.report) if options.report else None


def _of_units(options: argparse.Namespace, report: dict[str, Any] | None) -> int:
    """Plan an experiment, and print the table."""
    require(
        report is None or report.get("kind") == "experiment",
        "the report compares runs query by query; users per day, arms and rates are of experiments",
    )
    try:
        planned = power_units.plan(options, report)
    except (TypeError, KeyError, AttributeError, IndexError) as error:
        raise InputError(f"is not a report.json as rankstats writes it ({error!r})", options.report) from error
    rows = [power_units.row_of(row) for row in planned]
    _write(power_units.COLUMNS, rows, options.format, power_units.heading(planned))
    if options.out:
        from rankstats.output import write_folder  # noqa: PLC0415  with the rest
        from rankstats.report.power_curve import power_svg, units_table  # noqa: PLC0415  heavy

        files = {"power.svg": power_svg(planned), "power.csv": units_table(planned)}
        inputs = [options.report] if options.report else []
        print(write_folder(options.out, files, ours=(), inputs=inputs)[0])
    return 0


def _planned(options: argparse.Namespace, report: dict[str, Any] | None) -> tuple[PlannedDifference, ...]:
    from rankstats.planning import Terms, family_size, plan_deviation, plan_report  # noqa: PLC0415  heavy

    wanted = _differences(options.difference)
    sides = {"two_sided": not options.one_sided}
    if report is None:
        deviations = power_units.numbers_of(options.sd, "--sd", "NUMBER, such as 0.2")
        require(list(deviations) == [""], "--sd is of one measure: write --sd NUMBER")
        require(not isinstance(wanted, Mapping), "--sd is of one measure: write --difference SIZE")
        require(wanted is not None or options.n is not None, "give --difference SIZE, or --n N, or both")
        of_report = ("measures", "baseline", "system", "segment", "simulate")
        useless = [f"--{name}" for name in of_report if getattr(options, name)]
        require(not useless, f"{' and '.join(useless)}: --sd knows no report")
        terms = Terms(options.alpha, options.power, 1 if options.comparisons is None else options.comparisons, **sides)
        size = None if wanted is None or isinstance(wanted, Mapping) else wanted
        return (plan_deviation(deviations[""], size, n=options.n, terms=terms),)
    try:
        comparisons = family_size(report) if options.comparisons is None else options.comparisons
        with progress_bar(options.quiet) as progress:
            if progress and options.simulate:
                progress("simulating", 0.1)
            planned = plan_report(
                report,
                wanted,
                measures=split_list(options.measures),
                baseline=options.baseline,
                system=options.system,
                segments=split_list(options.segment),
                n=options.n,
                terms=Terms(options.alpha, options.power, comparisons, **sides),
                simulate=options.simulate,
                repetitions=options.repetitions or 1000,
                resamples=options.resamples,
            )
    except (TypeError, KeyError, AttributeError, IndexError) as error:
        raise InputError(f"is not a report.json as rankstats writes it ({error!r})", options.report) from error
    require(bool(planned), "the report compares nothing")
    return planned


def _differences(texts: Sequence[str]) -> float | dict[str, float] | None:
    """Return one difference for all measures, or those of each measure."""
    sizes: dict[str, float] = {}
    for part in split_list(texts):
        measure, _, size = part.rpartition("=")
        try:
            sizes[measure.strip()] = float(size)
        except ValueError:
            require(
                not size.strip().endswith("%"),
                f"--difference {part}: a difference in % is of an experiment's control; give its --mean (with --sd) or "
                "--base-rate",
            )
            require(False, f"--difference {part}: write SIZE or MEASURE=SIZE, such as nDCG@10=0.02")
        found = sizes[measure.strip()]
        require(found != 0 and math.isfinite(found), f"--difference {part}: a difference other than 0 is expected")
    require(len(sizes) < 2 or "" not in sizes, "--difference: give one size for all measures, or one for each")
    return sizes.get("", sizes) if sizes else None


_PLAN_COLUMNS = (
    *("measure", "baseline", "system", "segment", "n", "standard_deviation", "smallest_detectable"),
    *("difference", "power_at_n", "queries_needed"),
    *("simulated_detectable", "simulated_power", "simulated_queries"),
)


def _plan_row(row: PlannedDifference) -> dict[str, Any]:
    found = row.simulated
    segment = None if row.segment is None else f"{row.segment['attribute']}={row.segment['value']}"
    return {
        **{name: getattr(row, name) for name in _PLAN_COLUMNS[:10]},
        "segment": segment,
        "simulated_detectable": None if found is None else found.smallest_detectable,
        "simulated_power": None if found is None else found.power_at_n,
        "simulated_queries": None if found is None else found.queries_needed,
        "full": row.to_dict(),
    }


def _heading(terms: Terms) -> str:
    sides = "two-sided" if terms.two_sided else "one-sided"
    together = "" if terms.comparisons == 1 else f", {terms.comparisons:,} comparisons made together (Bonferroni)"
    return f"paired t test, {sides}, level {terms.alpha:g}{together}; found with probability {terms.power:g}"


# ── calibration ─────────────────────────────────────────────────────────────────────────────────────────────────────

_CALIBRATION_COLUMNS = (
    *("measure", "n", "test", "level_exchanged", "level_equal_means", "coverage", "width", "keeps_level", "trusted"),
)


def _calibrate(options: argparse.Namespace) -> int:
    """Print level and coverage of every test on the values at hand, and which test to trust."""
    from rankstats.output import write_file  # noqa: PLC0415  with the rest
    from rankstats.report.delimited import delimited_text  # noqa: PLC0415  with the rest

    found = _calibrations(options)
    rows = [
        {name: getattr(test, name) for name in _CALIBRATION_COLUMNS[2:-1]}
        | {"measure": measure, "n": calibration.n, "trusted": test.test == calibration.trusted}
        for measure, calibration in found.items()
        for test in calibration.tests
    ]
    first = next(iter(found.values()))
    heading = (
        f"A/A: level {options.alpha:g}, {first.repetitions:,} repetitions a rate, Monte Carlo error "
        f"{first.monte_carlo_error:.4f}; level_exchanged: nothing differs; level_equal_means: only the means are equal"
    )
    _write(_CALIBRATION_COLUMNS, rows, options.format, heading)
    if options.format == "table":
        print()
        for measure, calibration in found.items():
            said = calibration.trusted or "none of the tests of the mean: use more queries"
            print(f"{measure}, {calibration.n:,} queries: trust {said}")
    if options.out:
        cells = [[row[name] for name in _CALIBRATION_COLUMNS] for row in rows]
        text = delimited_text(_CALIBRATION_COLUMNS, cells)
        print(write_file(f"{options.out}/calibration.csv", text, inputs=options.calibrate))
    return 0


def _calibrations(options: argparse.Namespace) -> dict[str, Calibration]:
    """Return one calibration a measure of the score files."""
    from rankstats.comparison import collect  # noqa: PLC0415  heavy
    from rankstats.plan import Plan  # noqa: PLC0415  with the rest
    from rankstats.stats.aa_calibration import calibrate_tests  # noqa: PLC0415  heavy

    plan = Plan(
        scores=tuple(options.calibrate), scores_format=options.scores_format, measures=split_list(options.measures)
    )
    found: dict[str, Calibration] = {}
    with progress_bar(options.quiet) as progress:
        scores = collect(plan).scores
        for m, info in enumerate(scores.measures):
            if progress:
                progress(info.name, m / len(scores.measures))
            found[info.name] = calibrate_tests(
                scores.values[:, :, m],
                n=options.n,
                alpha=options.alpha,
                repetitions=options.repetitions or 500,
                resamples=options.resamples,
                rng=options.seed,
            )
    return found


# ── tables ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _write(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], form: str, heading: str) -> None:
    if form == "json":
        content = [row.get("full", row) for row in rows]
        print(json.dumps(_finite(content), ensure_ascii=False, indent=1))
        return
    if form == "csv":
        from rankstats.report.delimited import delimited_text  # noqa: PLC0415  with the rest

        sys.stdout.write(delimited_text(columns, [[row[name] for name in columns] for row in rows]))
        return
    from rankstats.report.terminal import columns_text  # noqa: PLC0415  heavy

    kept = [name for name in columns if any(row[name] is not None for row in rows)]
    texts = [[_cell(row[name]) for name in kept] for row in rows]
    numbers = [not any(isinstance(row[name], str) for row in rows) for name in kept]
    print(heading)
    print(columns_text([name.replace("_", " ") for name in kept], texts, numbers))


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if math.isinf(value):
            return "never"
        return f"{value:,.0f}" if value.is_integer() and abs(value) >= 10 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _finite(value: Any) -> Any:
    """Replace numbers that JSON lacks by null."""
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
