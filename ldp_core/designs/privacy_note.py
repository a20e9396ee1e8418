"""The promise of a design to people, in words to paste into a privacy review."""

import math

from ldp_core import library
from ldp_core.designs.configuration import Configuration
from ldp_core.mechanisms.base import Audit
from ldp_core.wording import rounded_up

WORTH_THE_NAME = 1e6
"""Beyond this factor "at most" limits nothing."""

DESIGN_ONLY = (
    "Never draw the reports of real people with the simulation of this program: its random numbers can be predicted, and it "
    "computes in floating point."
)


def factor_in_words(epsilon: float) -> str:
    """e^epsilon, rounded up to three significant digits so that "at most" stays true: 2.72, or 1.98 × 10^434."""
    if epsilon <= math.log(WORTH_THE_NAME):
        factor = math.exp(epsilon)
        step = 10.0 ** (math.floor(math.log10(factor)) - 2)
        # Without the allowance e^(ln 3) = 3.0000000000000004 would become 3.01.
        return f"{math.ceil(factor / step * (1 - 1e-12)) * step:,.{max(0, -round(math.log10(step)))}f}"
    power, rest = divmod(epsilon / math.log(10), 1)
    mantissa = math.ceil(10**rest * 100 * (1 - 1e-12)) / 100  # from 1 to 10; e^(ln 10^7) is 1.00 × 10^7
    return f"{mantissa:.2f} × 10^{power:.0f}" if mantissa < 10 else f"1.00 × 10^{power + 1:.0f}"


def risk_in_words(epsilon: float, delta: float = 0.0) -> str:
    """The most that a report that is (epsilon, delta)-LDP reveals about one person, to be followed by a full stop.

    Pure: it multiplies the odds of any two values by at most e^epsilon. If delta is
    positive, this does not hold for every report, nor for all but a share delta of them. Instead
    P(S | u) <= e^epsilon P(S | v) + delta for any set S of reports: a conclusion may be drawn from
    S, and this bounds its chance.
    """
    factor = factor_in_words(epsilon)
    if delta == 0:
        words = f"a report can change anyone's odds by at most a factor {factor}"
    else:
        words = (
            f"with another true value, the chance of any conclusion from a report is at most {factor} times as large plus "
            f"delta = {rounded_up(delta, 3)}"
        )
    if epsilon > math.log(WORTH_THE_NAME):
        words += ", more than a million and so no limit in practice"
    return words


def audited_in_words(epsilon: float, audit: Audit) -> str:
    """The audited epsilon, rounded up to six digits; any excess over the ``epsilon`` claimed is said, however small."""
    if audit.epsilon <= epsilon:
        return rounded_up(audit.epsilon, 6)
    return f"{epsilon:g} + {rounded_up(audit.epsilon - epsilon, 2)}"


def guarantee(configuration: Configuration, audit: Audit) -> str:
    """One line that says what is promised to whom, how that was checked, and what it rests on.

    It claims the epsilon of the configuration, and states what the mechanism delivers by its audit; anything above the claim is
    refused. Several reports of one person add up by basic composition (Dwork and Roth 2014, Theorem 3.16).

    Raises ValueError if no domain is chosen, or if the audit found more than the epsilon that was asked for.
    """
    if configuration.domain is None:
        raise ValueError("There is nothing to guarantee yet: choose or declare the data first.")
    epsilon, reports = configuration.epsilon_value, configuration.reports_per_user
    if not audit.epsilon <= epsilon:  # also refuses nan
        raise ValueError(
            f"The mechanism's audited epsilon is {rounded_up(audit.epsilon, 12)}, more than the {epsilon:g} asked for: "
            "do not deploy it; choose another mechanism or optimise again."
        )
    names = [quoted(attribute.name) for attribute in configuration.domain.attributes if not attribute.known]
    unit = f"value of {names[0]}" if len(names) == 1 else f"record of {', '.join(names[:-1])} and {names[-1]}"
    if audit.delta == 0:
        kind = "Pure" if audit.promise == "all" else "One-sided"
        values, total = f"epsilon = {epsilon:g}", f"epsilon = {configuration.total_epsilon:g}"
    else:
        kind = "Approximate"
        values = f"(epsilon, delta) = ({epsilon:g}, {rounded_up(audit.delta, 6)})"
        total = f"({configuration.total_epsilon:g}, {rounded_up(reports * audit.delta, 6)})"
    composed = (
        "one report per person"
        if reports == 1
        else f"{reports:,} reports per person, in total {total} by basic composition"
    )
    spec = library.spec(configuration.mechanism.name)
    source = "noise in real numbers" if spec.continuous else "actual probabilities"
    return (
        f"{kind} local differential privacy with {values} per report; mechanism: {spec.title}; "
        f"privacy unit: one person's {unit} per report; {composed}; "
        f"audited epsilon {audited_in_words(epsilon, audit)}, computed from the mechanism's {source} "
        f"({_one_line(audit.method)}); assumes that every client follows the mechanism with a secure random source "
        "(never the simulation seed) and that the domain is fixed before collecting; "
        "IP addresses and other metadata are outside this guarantee."
        f"{' ' if audit.promise == 'secret' else ''}{open_values(configuration, audit)}"
        f" {in_the_clear(configuration)}"
        f"{' ' if spec.caveat else ''}{spec.caveat}"
    )


def hidden_values(configuration: Configuration) -> str:
    """The values that are secret, where not all are: "illness" yes; empty where all are."""
    attributes = () if configuration.domain is None else configuration.domain.attributes
    named = [one for one in attributes if one.secret]
    return "; ".join(
        f"{quoted(one.name)} {' or '.join(_one_line(label) for label in one.secret or ())}" for one in named
    )


def open_values(configuration: Configuration, audit: Audit) -> str:
    """Whom the promise is made to where some values are not secret, in sentences; empty where everybody is protected."""
    if audit.promise == "all":
        return ""
    return (
        f"It protects people with a secret value alone ({hidden_values(configuration)}): every report that they can send comes from anybody else at least "
        f"1/{factor_in_words(configuration.epsilon_value)} times as often. The values of all others are open: a report may say them outright."
    )


def in_the_clear(configuration: Configuration) -> str:
    """The columns that are sent in the clear, in a sentence. None are where the known ones have one value each."""
    attributes = () if configuration.domain is None else configuration.domain.attributes
    names = [quoted(attribute.name) for attribute in attributes if attribute.known]
    if all(attribute.size == 1 for attribute in attributes if attribute.known):
        return "No column is sent in the clear."
    return f"Sent in the clear beside each report, and not protected at all, as the collector knows it already: {', '.join(names)}."


def quoted(name: str) -> str:
    """A name in quotes, in one line."""
    return f'"{_one_line(name)}"'


def _one_line(text: str) -> str:
    return " ".join(text.split())
