"""The arms of an experiment: which is the control, in which order they stand, and what shares they should have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rankstats.errors import InputError, PlanError, did_you_mean
from rankstats.experiment.settings import ExperimentSettings

MOST_ARMS = 100
_CONTROLS = ("control", "baseline", "off", "a")


def order_arms(found: Iterable[str], settings: ExperimentSettings, place: str) -> tuple[tuple[str, ...], str]:
    """Return the arms, the control first, and a sentence where the control was not named.

    Parameters
    ----------
    found : iterable of str
        Arms of the data, in any order.
    settings : ExperimentSettings
        Control, shares, and files named by arm.
    place : str
        Where the arms come from, for errors.

    Raises
    ------
    InputError
        If there are fewer than two arms, or more than 100, or a name cannot be printed.
    PlanError
        If the control is not among them.
    """
    named = [arm for arm, _ in settings.rows if arm is not None]
    everyone = sorted({*found, *(arm for arm, share in settings.shares.items() if share > 0)})
    if len(everyone) < 2:
        held = f"only the arm {everyone[0]!r}" if everyone else "no arm"
        raise InputError(f"there is {held}; an experiment has two arms or more (--arm names their column)", place)
    if len(everyone) > MOST_ARMS:
        raise InputError(
            f"there are {len(everyone):,} arms ({', '.join(map(repr, everyone[:3]))} …); up to {MOST_ARMS} are read. "
            "Is this the column of the arm? Name it with --arm",
            place,
        )
    if odd := [arm for arm in everyone if not arm.isprintable()]:
        raise InputError(f"the arm {odd[0]!r} holds characters that cannot be printed; rename it", place)
    control, note = settings.control, ""
    if control is None:
        usual = [arm for arm in everyone if arm.casefold() in _CONTROLS]
        control = named[0] if named else usual[0] if len(usual) == 1 else everyone[0]
        note = f"The control is {control}: nobody named one (--control)."
    if control not in everyone:
        raise PlanError(
            f"control {control!r} is not among the arms ({', '.join(everyone)})" + did_you_mean(control, everyone)
        )
    return (control, *(arm for arm in everyone if arm != control)), note


def designed_shares(arms: tuple[str, ...], shares: Mapping[str, float]) -> tuple[float, ...]:
    """Return the designed shares of the arms, adding up to 1; equal when none are given.

    Raises
    ------
    PlanError
        If some arms have a share and an arm of the data has none.
    """
    if not shares:
        return tuple(1 / len(arms) for _ in arms)
    missing = [arm for arm in arms if arm not in shares]
    if missing:
        raise PlanError(
            f"the arm {missing[0]!r} has no share (shares: {', '.join(shares)}); name it, with 0 if it should have "
            "no units" + did_you_mean(missing[0], shares)
        )
    total = sum(shares[arm] for arm in arms)
    return tuple(shares[arm] / total for arm in arms)
