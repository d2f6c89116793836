"""``rankstats gate``: go, no-go or cannot tell, by a policy."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstats.cli import compare as comparing
from rankstats.cli import gate_rows
from rankstats.cli.options import default_folder, progress_bar, require
from rankstats.cli.report_options import author_files, author_settings, check_beside, check_folder, write_beside
from rankstats.errors import InputError, PlanError, did_you_mean

if TYPE_CHECKING:
    from rankstats.decision import Decision, Policy
    from rankstats.plan import Plan

EPILOG = """\
examples:
  rankstats gate --print-policy > policy.toml
  rankstats gate reports/prod-vs-new/report.json --policy policy.toml
  rankstats gate --qrels qrels.txt prod.run new.run --policy policy.toml --out gate
  rankstats gate --qrels qrels.txt new.run --against archive/report.json --policy policy.toml
  rankstats gate --scores per_query.csv --policy policy.toml
  rankstats gate --rows events.parquet --unit user_id --metric 'ctr = sum(clicks)/sum(impressions)' --policy policy.toml

The first line printed is the decision, the last the path of the report. Exit status: 0 GO, 1 NO-GO, 3 CANNOT TELL (or
the policy's open_exit), 2 usage or input error. Everything that compare takes may be given with --qrels or --scores,
everything that ab takes with --rows; measures (metrics), segments, baseline (control) and level are those of the policy
unless said otherwise."""

_MARKS = {"holds": "holds", "fails": "FAILS", "open": "open"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    group = parser.add_argument_group("gate")
    group.add_argument("--policy", metavar="FILE", help="policy in TOML: what the candidate must show")
    group.add_argument(
        "--against",
        metavar="REPORT.json",
        help="archived report that holds the baseline: its values are matched by query id",
    )
    group.add_argument("--print-policy", action="store_true", help="print a policy with comments, and end")
    comparing.add_arguments(parser, lower=False)
    gate_rows.add_arguments(parser)


def run(options: argparse.Namespace, argv: list[str]) -> int:
    """Decide, write the folder, print the decision and the path, and return the decision's exit status."""
    from rankstats.decision import read_policy  # noqa: PLC0415  heavy

    if options.print_policy:
        from rankstats.decision.policy import EXAMPLE  # noqa: PLC0415  with the rest

        sys.stdout.write(EXAMPLE)
        return 0
    require(bool(options.policy), "give a policy: --policy FILE (rankstats gate --print-policy prints one)")
    check_folder("out", options.out)
    policy = read_policy(options.policy)
    with progress_bar(options.quiet) as progress:
        if gate_rows.is_asked(options):
            decision, path = _from_rows(options, policy, argv)
        elif options.qrels or options.scores or options.plan:
            decision, path = _from_inputs(options, policy, argv, progress)
        else:
            wanted = "one report.json, or --qrels FILE and the runs, or --scores FILE, or --rows ROWS, or --plan FILE"
            require(len(options.runs) == 1, f"give {wanted}")
            decision, path = _from_report(options, policy)
    try:
        _print(decision, quiet=options.quiet)
        print(path, flush=True)
    except BrokenPipeError:
        # who reads the first line only still wants the status
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return decision.exit_status


def _from_report(options: argparse.Namespace, policy: Policy) -> tuple[Decision, str]:
    """Decide on a finished report and write it again with the decision on top."""
    from rankstats.decision import decide  # noqa: PLC0415  heavy
    from rankstats.decision.archived import report_with_archived  # noqa: PLC0415  heavy
    from rankstats.output import OUR_FILES, write_folder  # noqa: PLC0415  with the rest
    from rankstats.report import json_text, read_report, rendered_files  # noqa: PLC0415  heavy

    path = options.runs[0]
    report: dict[str, Any] = read_report(path)
    try:
        if options.against:
            require(
                report["kind"] == "comparison", "--against is of comparisons of runs; an experiment has its control"
            )
            archived, source = _archived(options.against)
            report = report_with_archived(report, archived, policy.baseline, source)
        decision = decide(report, policy)
        report = {**report, "decision": decision.to_dict()}
        if report["kind"] == "comparison":
            report["reproduction"] = _with_policy(report["reproduction"], options.policy)
        files = {**rendered_files(report), "report.json": json_text(report)}
        if report["kind"] == "experiment":
            del files["per_query.csv"]
    except (TypeError, KeyError, AttributeError, IndexError) as error:
        raise InputError(f"is not a report.json as rankstats writes it ({error!r})", path) from error
    folder = options.out or default_folder(policy.baseline, [policy.candidate])
    # into its own folder the same report is written again, with the decision
    again = not options.against and Path(folder).resolve() == Path(path).resolve().parent
    inputs = [options.policy, *([options.against] if options.against else []), *([] if again else [path])]
    files["junit.xml"] = _junit(decision)
    written = write_folder(folder, files, inputs=inputs, ours=() if again else OUR_FILES)
    return decision, str(written[0])


def _from_rows(options: argparse.Namespace, policy: Policy, argv: list[str]) -> tuple[Decision, str]:
    """Read out an experiment first, as ``rankstats ab`` does, then decide."""
    from rankstats.output import write_folder  # noqa: PLC0415  with the rest

    decision, files, (folder, read) = gate_rows.decide_rows(options, policy, argv)
    files["junit.xml"] = _junit(decision)
    return decision, str(write_folder(folder, files, inputs=[*read, options.policy])[0])


def _from_inputs(options: argparse.Namespace, policy: Policy, argv: list[str], progress: Any) -> tuple[Decision, str]:
    """Compare first, as ``rankstats compare`` does, then decide."""
    from rankstats.comparison import collect, compare_evidence  # noqa: PLC0415  heavy
    from rankstats.decision import decide  # noqa: PLC0415  heavy
    from rankstats.decision.archived import with_archived  # noqa: PLC0415  heavy
    from rankstats.output import write_folder  # noqa: PLC0415  with the rest
    from rankstats.report import annotated, report_files  # noqa: PLC0415  heavy

    plan = _plan_for(comparing.make_plan(options), options, policy)
    check_beside(options)
    known = author_settings(options)
    evidence = collect(plan, progress=progress, reverse_ties=not options.against)
    if options.against:
        archived, source = _archived(options.against)
        evidence = with_archived(evidence, plan, archived, policy.baseline, source)
    _check_names(policy, evidence.scores.systems)
    comparison = compare_evidence(evidence, plan, argv=argv, progress=progress)
    decision = decide(comparison, policy)
    made = _with_policy(comparison.reproduction, options.policy)
    comparison = replace(comparison, decision=decision.to_dict(), reproduction=made)
    files = {**report_files(comparison, **known), "junit.xml": _junit(decision)}
    folder = options.out or default_folder(policy.baseline, [policy.candidate])
    inputs = [*comparing.files_of(plan), options.policy, *([options.against] if options.against else [])]
    inputs += author_files(options)
    page = str(write_folder(folder, files, inputs=inputs)[0])
    if options.tables or options.figures:
        write_beside(annotated(comparison.to_dict(), **known), options, inputs)
    return decision, page


def _with_policy(reproduction: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Name the file of the policy among the inputs; not of experiments, whose looks are told apart by their inputs."""
    content = Path(path).read_bytes()
    read = {"name": path, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    others = [row for row in reproduction.get("inputs") or [] if row["name"] != path]
    return {**reproduction, "inputs": [*others, read]}


def _plan_for(plan: Plan, options: argparse.Namespace, policy: Policy) -> Plan:
    """Return the plan with the measures, segments, baseline and level of the policy where nothing else is stated."""
    from rankstats.comparison.collecting import canonical_name  # noqa: PLC0415  heavy
    from rankstats.comparison.directions import is_known  # noqa: PLC0415  with the rest

    if plan.runs:
        _check_names(policy, [name for name, _ in plan.runs], archived=bool(options.against))
    changes: dict[str, Any] = {}
    if not plan.baselines and plan.compare == "baseline":
        changes["baselines"] = (policy.baseline,)
    wanted = tuple(dict.fromkeys(canonical_name(rule.measure) for rule in policy.rules))
    if not plan.measures and not plan.scores:
        defaults = (name for name in plan.wanted_measures if canonical_name(name) not in wanted)
        changes["measures"] = (*wanted, *defaults)
    if not plan.primary and (policy.claims or policy.guards):
        leading = policy.claims or policy.guards[:1]
        changes["primary"] = tuple(dict.fromkeys(canonical_name(rule.measure) for rule in leading))
    if options.alpha is None and "alpha" not in plan.stated:
        changes["alpha"] = policy.alpha
    if plan.scores:
        # the page has the directions of the policy; of known measures those are checked rule by rule
        told = {rule.measure: rule.better for rule in policy.rules if rule.better and not is_known(rule.measure)}
        changes["better"] = {**told, **plan.better}
    return replace(plan, segments=plan.segments + _segments(plan, policy), **changes)


def _segments(plan: Plan, policy: Policy) -> tuple[str, ...]:
    """Return the attributes of the policy that the plan does not divide the queries by."""
    asked = dict.fromkeys(rule.segment.attribute for rule in policy.rules if rule.segment is not None)
    names = {part for text in plan.segments for part in (text, text.removeprefix("column:"), text.split(":")[0])}
    return tuple(attribute for attribute in asked if attribute not in names)


def _check_names(policy: Policy, names: Any, *, archived: bool = False) -> None:
    for role, name in (("candidate", policy.candidate), ("baseline", policy.baseline)):
        if name not in names and not (archived and role == "baseline"):
            raise PlanError(
                f"{role} {name!r} of the policy is not among the systems ({', '.join(names)})"
                + did_you_mean(name, names)
                + "; a run is named as NAME=FILE"
            )


def _archived(path: str) -> tuple[dict[str, Any], Any]:
    from rankstats.report import read_report  # noqa: PLC0415  heavy
    from rankstats.tables import Source  # noqa: PLC0415  with the rest

    archived = read_report(path)
    content = Path(path).read_bytes()
    return archived, Source(path, hashlib.sha256(content).hexdigest(), len(content))


def _junit(decision: Decision) -> str:
    from rankstats.report.junit import render_junit  # noqa: PLC0415  with the rest

    return render_junit(decision.to_dict(), open_fails=decision.policy.open_exit == 1)


def _print(decision: Decision, *, quiet: bool) -> None:
    """Print the decision, then a line a rule unless `quiet`."""
    from rankstats.report.texts import whole  # noqa: PLC0415  with the rest
    from rankstats.wording import MINUS  # noqa: PLC0415  with the rest

    lines = [whole(decision.sentence)]
    if not quiet:
        width = max(len(rule.id) for rule in decision.rules)
        lines += [
            f"  {_MARKS[rule.outcome]:<5}  {whole(rule.id):<{width}}  {whole(rule.sentence)}" for rule in decision.rules
        ]
        lines += [f"Note: {whole(note)}" for note in decision.notes]
    text = "\n".join(lines)
    # scripts that read a pipe want the minus of numbers
    print(text if sys.stdout.isatty() else text.replace(MINUS, "-").replace("\N{NO-BREAK SPACE}", " "))
