"""Two of people, epsilon and what is to be found fix the third, for one question of a design or for all of them."""

from __future__ import annotations

import math
from dataclasses import replace

from scipy.optimize import brentq

from ldp_core import library, wording
from ldp_core.designs import choices
from ldp_core.designs.setting import Setting
from ldp_core.mechanisms.base import Mechanism
from ldp_core.run import Cancel, Interrupted, cancellation
from ldp_core.workloads import Detect

CLOSE = 0.004
"""How closely epsilon is searched for, as a share of it."""
STEP = 0.7
"""How far the logarithm of epsilon moves while no epsilon is known to do, or every one does."""
_STEPS = 40


def people(setting: Setting, mechanism: Mechanism, k: int | None = None) -> float:
    """The people it takes until question ``k`` of the design meets its target, or until all do."""
    needed = setting.users_needed(mechanism, setting.case)
    return needed if k is None else setting.each_needs(mechanism)[k]


def target(setting: Setting, mechanism: Mechanism, k: int) -> float:
    """The target that the people of the design reach in question ``k``, as targets are given: the largest difference that they find, or else the
    root mean square of the standard errors of the answers. ValueError where single answers take too long."""
    line, answered = setting.answers.lines[k], setting.answered(mechanism)
    rows = answered[answered["line"] == k]
    off = rows["finds"].max() if isinstance(line.target, Detect) else math.sqrt((rows["standard_error"] ** 2).mean())
    return float(line.goal * off / rows["target"].iloc[0])


def epsilon(setting: Setting, name: str, k: int | None = None, cancel: Cancel | None = None) -> str:
    """The least epsilon found, as it is given, at which the people of the design are enough for question ``k``, or for all. A mechanism that is
    fitted is fitted at every epsilon tried, and kept. ValueError where there is none; `Interrupted` once cancelled."""
    low, high = library.spec(name).epsilon_range
    users, excess, cancelled = setting.users, dict[str, float](), cancellation(cancel)

    def at(x: float) -> float:
        """The logarithm of the people it takes over those there are, at this logarithm of epsilon."""
        written = wording.rounded_up(min(max(math.exp(x), low), high), 3)
        if written not in excess:
            if cancelled():
                raise Interrupted
            other = replace(setting, configuration=setting.configuration.with_(epsilon=written))
            excess[written] = math.log(max(people(other, _built(other, name, cancel), k), 1e-9) / users)
        return excess[written]

    x = before = math.log(setting.epsilon)
    upwards = at(x) > 0
    end = math.log(high if upwards else low)
    while (at(x) > 0) == upwards and x != end:
        before, x = x, min(x + STEP, end) if upwards else max(x - STEP, end)
    if (at(x) > 0) != upwards:
        root = brentq(at, min(before, x), max(before, x), xtol=CLOSE, maxiter=_STEPS, disp=False)
        at(root + CLOSE)
    enough = [float(written) for written, more in excess.items() if more <= 0]
    if not enough:
        times = wording.significant(math.exp(at(end)))
        raise ValueError(f"Even at epsilon {high:g} it needs {times} times as many people.")
    return f"{min(enough):g}"


def _built(setting: Setting, name: str, cancel: Cancel | None) -> Mechanism:
    """The named mechanism; one that is to be fitted near enough to what is proved for its case, which ends its search."""
    mechanism = setting.mechanism(name)
    if mechanism is not None:
        return mechanism
    if library.spec(name).aimed and setting.proof(setting.aim(name)) is None:
        setting.prove(setting.aim(name), cancel=cancel)
    return setting.fit(name, None, cancel, enough=choices.NEAR_ENOUGH).mechanism
