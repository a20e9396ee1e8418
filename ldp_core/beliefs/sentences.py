"""Beliefs in words."""

from __future__ import annotations

import math

from ldp_core import wording
from ldp_core.beliefs.limits import strongest
from ldp_core.beliefs.reports import Exposure
from ldp_core.wording import rounded_up, significant

NO_LIMIT = math.log(1e6)
"""Beyond this total epsilon "at most" limits nothing."""
CERTAIN = 0.9999
"""Beliefs above this are called certainty."""


def out_of(chance: float, base: int = 100) -> str:
    """A probability as people picture it: "73 of 100", "2.4 of 1,000". Never certain unless it is."""
    value = chance * base
    if chance >= 1:
        text = f"{base:,}"
    elif value > base - 0.005:
        return f"more than {base - 0.01:,.2f} of {base:,}"
    elif value > base - 1:
        text = f"{value:,.1f}" if value < base - 0.1 else f"{value:,.2f}"
    else:
        text = significant(value, 2) if value < 10 else f"{value:,.0f}"
    return f"{text} of {base:,}"


def base_of(least: float) -> int:
    """The power of ten, from 1,000 up, that makes the smallest of a few probabilities at least 10
    out of it."""
    return int(10 ** max(3, math.ceil(1 - math.log10(least) - 1e-9)))


def percent(chance: float) -> str:
    """A belief in per cent: "73 %"; never certain unless it is."""
    return out_of(chance).replace(" of 100", "\N{NO-BREAK SPACE}%")


def at_most(chance: float) -> str:
    """A belief rounded up, so that "at most" holds: "73.2 %"."""
    step = 10 if chance < 0.999 else 100
    return f"{math.ceil(100 * chance * step * (1 - 1e-12)) / step:g}\N{NO-BREAK SPACE}%"


def belief_in_words(suspicion: float, epsilon: float, delta: float = 0.0, reports: int = 1) -> str:
    """The belief that any mechanism with this guarantee allows, as one sentence."""
    seen = "the report" if reports == 1 else f"all {reports:,} reports"
    belief = strongest(suspicion, epsilon, reports)
    sure = f"at most {at_most(belief)} sure" if belief <= CERTAIN else "practically certain"
    words = f"Someone who thinks a value is {percent(suspicion)} likely can become {sure} after seeing {seen}"
    if reports * epsilon > NO_LIMIT:
        words += ": more than a million times the odds, and so no limit in practice"
    if delta > 0:
        words += f"; but for delta: with probability {rounded_up(min(1.0, reports * delta), 2)} the value itself may be given away"
    return f"{words}."


def secret_in_words(suspicion: float, epsilon: float, reports: int = 1) -> str:
    """The same where only some values are secret: of these alone, and what else a report may say."""
    belief, least = (
        belief_in_words(suspicion, epsilon, 0.0, reports),
        strongest(0.5, -epsilon) / strongest(0.5, epsilon),
    )
    belief = belief.replace("a value", "one", 1)
    return (
        f"Of a secret value: {wording.uncapitalised(belief)} A report that somebody with a secret value can send comes from anybody else at least "
        f"{percent(least)} as often. Any other report says an open value outright."
    )


def exposure_in_words(exposure: Exposure, title: str, suspicion: float, epsilon: float, reports: int = 1) -> str:
    """The belief that the mechanism with this ``title`` allows, to follow `belief_in_words`."""
    most, of = (
        at_most(strongest(suspicion, exposure.between, reports)),
        "" if reports == 1 else f" after {reports:,} reports",
    )
    if math.isinf(exposure.between):
        words = f"{title} goes further in rare reports, up to practical certainty"
    elif exposure.between > epsilon + 1e-9:
        words = f"{title} goes further than this epsilon allows: to {most} for some pairs of values{of}"
    elif exposure.between < (1 - 1e-3) * epsilon:
        words = f"{title} stays below this: {most} at most for any pair of values{of}"
    else:
        words = f"{title} reaches this for some pairs of values{of}"
    if reports > 1 or math.isinf(exposure.between):
        return f"{words}."
    if exposure.single is None:
        return f"{words}. It goes no further for one value against all others; the exact limit is not computed."
    if exposure.single > exposure.between - 1e-3:
        return f"{words}, and the same for one value against all others."
    alone = strongest(suspicion, exposure.single)
    return f"{words}; for one value against all others, {at_most(alone) if alone <= CERTAIN else 'certainty'} at most."


def guess_in_words(exposure: Exposure | None, blind: float, limit: float, reports: int = 1, what: str = "value") -> str:
    """How often the best guess at a person's value, or another ``what`` of theirs, is right: blindly, with a report of the mechanism,
    and with any."""
    guess = None if exposure is None or reports > 1 else exposure.guess
    base = base_of(blind)
    reading = "a report" if reports == 1 else f"{reports:,} reports"
    words = f"The best guess at a person's {what} is right for {out_of(blind, base)} people without {reading}"
    if guess is not None:
        words += f", for {out_of(guess, base)} with it"
    return f"{words}, and for {out_of(limit, base)} at most with any mechanism that has this guarantee."
