"""What a design promises about people, in words to paste into a privacy review."""

import math

from ldp_core.deploy.configuration import Configuration
from ldp_core.mechanisms.base import Audit

# Audits compare rounded probabilities: a last-place excess is no broken promise.
AUDIT_TOLERANCE = 1e-9


def risk_in_words(epsilon: float) -> str:
    """The meaning of epsilon as odds: a report multiplies the odds of any two values by at most e^epsilon.

    The factor is rounded up to three significant digits, so that "at most" stays true.
    """
    return f"a report can change anyone's odds by at most a factor {_round_up(math.exp(epsilon))}"


def guarantee(configuration: Configuration, audit: Audit) -> str:
    """One line saying what is promised to whom, how it was checked, and what it rests on.

    Several reports of one person add up by basic composition (Dwork and Roth 2014, Theorem 3.16).

    Raises ValueError if no domain is chosen, or if the audit found more than the epsilon that was asked for.
    """
    if configuration.domain is None:
        raise ValueError("There is nothing to guarantee yet: choose or declare the data first.")
    epsilon, reports = configuration.epsilon_value, configuration.reports_per_user
    if not audit.epsilon <= epsilon + AUDIT_TOLERANCE:  # also refuses nan
        raise ValueError(
            f"The mechanism's audited epsilon is {audit.epsilon:.6g}, more than the {epsilon:g} asked for: "
            "do not deploy it; choose another mechanism or optimise again."
        )
    names = " and ".join(f'"{_one_line(attribute.name)}"' for attribute in configuration.domain.attributes)
    if audit.delta == 0:
        kind, values, total = "Pure", f"epsilon = {epsilon:g}", f"epsilon = {configuration.total_epsilon:g}"
    else:
        kind = "Approximate"
        values = f"(epsilon, delta) = ({epsilon:g}, {audit.delta:g})"
        total = f"({configuration.total_epsilon:g}, {reports * audit.delta:g})"
    composed = (
        "one report per person"
        if reports == 1
        else f"{reports:,} reports per person, in total {total} by basic composition"
    )
    return (
        f"{kind} local differential privacy with {values} per report ({configuration.mechanism.name}); "
        f"privacy unit: one person's one value of {names} per report; {composed}; "
        f"audited epsilon {audit.epsilon:.6g}, computed from the mechanism's actual probabilities "
        f"({_one_line(audit.method)}); assumes that every client follows the mechanism with a secure random source "
        "(never the simulation seed) and that the domain is fixed before collecting; "
        "IP addresses and other metadata are outside this guarantee."
    )


def observed_parts(configuration: Configuration) -> list[str]:
    """What the configuration reveals because it was read off the data, one sentence each, then how to avoid it.

    Empty if everything was declared.
    """
    attributes = configuration.domain.attributes if configuration.domain is not None else ()
    parts = [_observed(attribute) for attribute in attributes if attribute.origin == "data"]
    population = configuration.population
    if population.users is not None and population.origin == "data":
        parts.append(f"The number of users, {population.users:,}, was counted in the data.")
    if population.shape == "data":
        if configuration.mechanism.name == "optimized" and configuration.optimizer.aim == "people":
            parts.append(
                "The strategy was optimised for this data and comes with the exact share of every type: with the number of "
                "users, anybody who gets the file knows all counts. Optimise for the worst case or a histogram of your own instead."
            )
        else:
            parts.append("Errors expected on this data are computed from its counts; the counts are not exported.")
    if parts:
        parts.append("Categories, edges and numbers that are declared beforehand instead reveal nothing of the data.")
    return parts


def _observed(attribute) -> str:
    name = f'"{_one_line(attribute.name)}"'
    if attribute.kind == "categorical":
        return (
            f"The {len(attribute.values):,} categories of {name} were observed in the data: "
            "each one tells that somebody has it."
        )
    if attribute.kind == "date":
        return f"The range of {name}, {attribute.first} to {attribute.last}, was set by the first and the last date in the data."
    if attribute.binning == "equal_count":
        return f"The bin edges of {name} are quantiles of the data."
    low, high = attribute.edges[0], attribute.edges[-1]
    return f"The range of {name}, {low:g} to {high:g}, was set by the smallest and the largest value in the data."


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _round_up(value: float) -> str:
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    # Without the allowance e^(ln 3) = 3.0000000000000004 would become 3.01.
    return f"{math.ceil(value / step * (1 - 1e-12)) * step:,.{max(0, -round(math.log10(step)))}f}"
