"""The promise of a design to people, in words to paste into a privacy review."""

import math

from ldp_core import library
from ldp_core.data.domain import Attribute, CategoricalAttribute
from ldp_core.data.tables import AttributeRecipe, DateRecipe, NumericRecipe
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
        return _round_up(math.exp(epsilon))
    power, rest = divmod(epsilon / math.log(10), 1)
    mantissa = math.ceil(10**rest * 100 * (1 - 1e-12)) / 100  # from 1 to 10; e^(ln 10^7) is 1.00 × 10^7
    return f"{mantissa:.2f} × 10^{power:.0f}" if mantissa < 10 else f"1.00 × 10^{power + 1:.0f}"


def risk_in_words(epsilon: float, delta: float = 0.0, reports: int = 1) -> str:
    """The most that a number of reports, each (epsilon, delta)-LDP, reveal about one person, to be
    followed by a full stop.

    Pure: they multiply the odds of any two values by at most e^(total epsilon). If delta is
    positive, this does not hold for every report, nor for all but a share delta of them. Instead
    P(S | u) <= e^epsilon P(S | v) + delta for any set S of reports: a conclusion may be drawn from
    S, and this bounds its chance. Several reports add up by basic composition.
    """
    reports_of, total = ("a report", epsilon) if reports == 1 else (f"{reports:,} reports together", reports * epsilon)
    factor = factor_in_words(total)
    if delta == 0:
        words = f"{reports_of} can change anyone's odds by at most a factor {factor}"
    else:
        words = (
            f"with another true value, the chance of any conclusion from {reports_of} is at most {factor} times as large plus "
            f"delta = {rounded_up(reports * delta, 3)}"
        )
    if total > math.log(WORTH_THE_NAME):
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
    names = [_quoted(attribute.name) for attribute in configuration.domain.attributes if not attribute.known]
    unit = f"value of {names[0]}" if len(names) == 1 else f"record of {', '.join(names[:-1])} and {names[-1]}"
    if audit.delta == 0:
        kind, values, total = "Pure", f"epsilon = {epsilon:g}", f"epsilon = {configuration.total_epsilon:g}"
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
    named = "strategy matrix" if library.table_strategies.is_own(spec.name) else "mechanism"
    source = "noise in real numbers" if spec.continuous else "actual probabilities"
    return (
        f"{kind} local differential privacy with {values} per report; {named}: {spec.title}; "
        f"privacy unit: one person's {unit} per report; {composed}; "
        f"audited epsilon {audited_in_words(epsilon, audit)}, computed from the mechanism's {source} "
        f"({_one_line(audit.method)}); assumes that every client follows the mechanism with a secure random source "
        "(never the simulation seed) and that the domain is fixed before collecting; "
        "IP addresses and other metadata are outside this guarantee."
        f"{' ' if (clear := in_the_clear(configuration)) else ''}{clear}"
        f"{' ' if spec.caveat else ''}{spec.caveat}"
    )


def in_the_clear(configuration: Configuration) -> str:
    """The columns that are sent in the clear, in a sentence; empty where there are none, or they make one group only."""
    attributes = () if configuration.domain is None else configuration.domain.attributes
    names = [_quoted(attribute.name) for attribute in attributes if attribute.known]
    if all(attribute.size == 1 for attribute in attributes if attribute.known):
        return ""
    return f"Sent in the clear beside each report, and not protected at all, as the collector knows it already: {', '.join(names)}."


def observed_parts(configuration: Configuration, figures: bool = False) -> list[str]:
    """Facts that the configuration reveals because they were taken from the data, one sentence
    each, then how to avoid it. ``figures`` says whether
    errors on the data go with it (see `disclosure`).

    Empty if everything was declared.
    """
    parts = list(observed_attributes(configuration).values())
    population = configuration.population
    if population.users is not None and population.origin == "data":
        parts.append(f"The number of users, {population.users:,}, was counted in the data.")
    if population.shape == "data":
        known = configuration.mechanism.name in library.names()  # a later version may have written the file
        if configuration.optimizer.aim == "people" and known and library.spec(configuration.mechanism.name).aimed:
            parts.append(
                "The strategy was optimised for this data and comes with the exact share of every type: with the number of "
                "users, anybody who gets the file knows all counts. Optimise for the worst case or a histogram of your own instead."
            )
        elif figures:
            parts.append(
                "Errors and users needed are computed from the counts of this data, and are in the files exactly: with the number of users, "
                "anybody who gets them may work out all counts."
            )
        else:
            parts.append(
                "The counts are not exported: errors and users needed are those of people spread evenly. The "
                "target error may be taken from the counts: one digit of how large a typical answer is."
            )
    if parts:
        parts.append("Values declared beforehand reveal nothing about the data.")
    return parts


def observed_attributes(configuration: Configuration) -> dict[str, str]:
    """The first of the `observed_parts`: one sentence for each attribute whose values were taken
    from the data, by name."""
    attributes = configuration.domain.attributes if configuration.domain is not None else ()
    recipes = {} if configuration.data is None else {recipe.column: recipe for recipe in configuration.data.recipes}
    return {
        attribute.name: _observed(attribute, recipes.get(attribute.name))
        for attribute in attributes
        if attribute.origin == "data"
    }


def _observed(attribute: Attribute, recipe: AttributeRecipe | None) -> str:
    """Facts about the data that an attribute reveals; its recipe, if there is one, says how."""
    name = _quoted(attribute.name)
    if attribute.kind == "categorical":
        return _observed_categories(name, attribute, recipe)
    if attribute.kind == "date":
        given = (recipe.first, recipe.last) if isinstance(recipe, DateRecipe) else (None, None)
        return _observed_range(name, (attribute.first, attribute.last), given, ("the first", "the last"), "date")
    if attribute.binning == "equal_count":
        return f"The bin edges of {name} are quantiles of the data."
    if attribute.binning == "own_edges":
        return f"The bin edges of {name} were taken from the data and then edited."
    low, high = attribute.edges[0], attribute.edges[-1]
    if attribute.integer:
        low, high = math.ceil(low), math.floor(high)
    by_range = recipe if isinstance(recipe, NumericRecipe) and recipe.method == "range" else None
    if by_range is not None and by_range.declared:  # by the recipe's own word from the data: see `tables.crowd`
        return f"The range of {name}, {low:.12g} to {high:.12g}, was set by where most values in the data are."
    ends = (None, None) if by_range is None else (by_range.low, by_range.high)
    return _observed_range(name, (f"{low:.12g}", f"{high:.12g}"), ends, ("the smallest", "the largest"), "value")


def _observed_categories(name: str, attribute: CategoricalAttribute, recipe: AttributeRecipe | None) -> str:
    categories = f"The {len(attribute.values):,} categories of {name}"
    if getattr(recipe, "categories", None) is not None:
        return f"{categories} were taken from the data and then edited. They, and the values merged into them, show what values people have."
    words = "somebody has it"
    rare_below = getattr(recipe, "rare_below", 0)
    if rare_below > 1:
        words = f"at least {rare_below:,} people have it, and that fewer have any value that is left out"
    merged = (
        f" The {len(attribute.merged):,} values merged into them were observed as well." if attribute.merged else ""
    )
    return f"{categories} were observed in the data: each of them shows that {words}.{merged}"


def _observed_range(
    name: str, ends: tuple[str, str], given: tuple[object, object], extremes: tuple[str, str], what: str
) -> str:
    read = [extreme for extreme, end in zip(extremes, given, strict=True) if end is None] or extremes
    return f"The range of {name}, {ends[0]} to {ends[1]}, was set by {' and '.join(read)} {what} in the data."


def _quoted(name: str) -> str:
    return f'"{_one_line(name)}"'


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _round_up(value: float) -> str:
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    # Without the allowance e^(ln 3) = 3.0000000000000004 would become 3.01.
    return f"{math.ceil(value / step * (1 - 1e-12)) * step:,.{max(0, -round(math.log10(step)))}f}"
