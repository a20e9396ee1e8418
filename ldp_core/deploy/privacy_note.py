"""What a design promises about people, in words to paste into a privacy review."""

import math

from ldp_core.deploy.configuration import Configuration
from ldp_core.domain import Attribute, CategoricalAttribute
from ldp_core.mechanisms.base import Audit
from ldp_core.tables import AttributeRecipe

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
    names = [_quoted(attribute.name) for attribute in configuration.domain.attributes]
    unit = f"value of {names[0]}" if len(names) == 1 else f"record of {', '.join(names[:-1])} and {names[-1]}"
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
        f"privacy unit: one person's one {unit} per report; {composed}; "
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
    recipes = {} if configuration.data is None else {recipe.column: recipe for recipe in configuration.data.recipes}
    parts = [
        _observed(attribute, recipes.get(attribute.name)) for attribute in attributes if attribute.origin == "data"
    ]
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


def _observed(attribute: Attribute, recipe: AttributeRecipe | None) -> str:
    """What an attribute tells of the data it was read off; the recipe, where there is one, says how it was."""
    name = _quoted(attribute.name)
    if attribute.kind == "categorical":
        return _observed_categories(name, attribute, recipe)
    if attribute.kind == "date":
        given = (getattr(recipe, "first", None), getattr(recipe, "last", None))
        return _observed_range(name, (attribute.first, attribute.last), given, ("the first", "the last"), "date")
    if attribute.binning == "equal_count":
        return f"The bin edges of {name} are quantiles of the data."
    if attribute.binning == "own_edges":
        return f"The bin edges of {name} were read off the data and then edited."
    low, high = attribute.edges[0], attribute.edges[-1]
    if attribute.integer:
        low, high = math.ceil(low), math.floor(high)
    given = (recipe.low, recipe.high) if getattr(recipe, "method", None) == "range" else (None, None)
    return _observed_range(name, (f"{low:.12g}", f"{high:.12g}"), given, ("the smallest", "the largest"), "value")


def _observed_categories(name: str, attribute: CategoricalAttribute, recipe: AttributeRecipe | None) -> str:
    categories = f"The {len(attribute.values):,} categories of {name}"
    if getattr(recipe, "categories", None) is not None:
        return f"{categories} were read off the data and then edited: they, and what is merged into them, tell what somebody has."
    told = "somebody has it"
    rare_below = getattr(recipe, "rare_below", 0)
    if rare_below > 1:
        told = f"at least {rare_below:,} people have it, and that fewer have any value that is left out"
    merged = (
        f" The {len(attribute.merged):,} values merged into them were observed as well." if attribute.merged else ""
    )
    return f"{categories} were observed in the data: each one tells that {told}.{merged}"


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
