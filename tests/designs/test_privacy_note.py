"""The promise of a design, and the information about its data that it reveals."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from ldp_core.data import columns, tables
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.data.tables import CategoricalRecipe, DateRecipe, Merge, NumericRecipe, build_domain
from ldp_core.designs import (
    Configuration,
    Population,
    UploadedData,
    audited_in_words,
    factor_in_words,
    guarantee,
    observed_parts,
    risk_in_words,
)
from ldp_core.mechanisms.base import Audit
from ldp_core.mechanisms.noise.gaussian_privacy import calibrated_scale
from tests.refused import refused

TRANSPORT = CategoricalAttribute(name="transport", values=("bus", "car", "foot"), origin="declared")
FULL = Configuration(
    domain=Domain(attributes=(TRANSPORT,)),
    population=Population(users=3000, origin="declared", shape="uniform"),
    mechanism={"name": "hierarchical"},
)

PURE = Audit(epsilon=0.99999, delta=0.0, method="exact: all outputs\nand types", worst_pair=(0, 1))


def test_guarantee_of_a_pure_mechanism():
    line = guarantee(FULL, PURE)
    assert "\n" not in line
    for part in [
        "Pure local differential privacy with epsilon = 1 per report; mechanism: Hierarchical; ",
        'privacy unit: one person\'s value of "transport" per report; one report per person',
        "audited epsilon 0.99999, computed from the mechanism's actual probabilities (exact: all outputs and types)",
        "secure random source (never the simulation seed)",
        "domain is fixed before collecting",
        "IP addresses and other metadata are outside",
    ]:
        assert part in line


def test_guarantee_adds_up_reports_and_delta():
    assert "3 reports per person, in total epsilon = 0.3 by" in guarantee(
        FULL.with_(epsilon="0.1", reports_per_user=3), Audit(0.1, 0.0, "exact", (0, 1))
    )
    line = guarantee(FULL.with_(reports_per_user=3), Audit(1.0, 1e-6, "exact", (0, 1)))
    assert line.startswith("Approximate local differential privacy with (epsilon, delta) = (1, 0.000001) per report")
    assert "in total (3, 0.000003) by basic composition" in line


@pytest.mark.parametrize("epsilon", [1.001, math.inf, math.nan])
def test_no_guarantee_is_given_for_more_than_was_asked(epsilon):
    refused("do not deploy it", lambda: guarantee(FULL, Audit(epsilon, 0.0, "exact", (0, 1))))


@pytest.mark.parametrize(
    ("epsilon", "factor"),
    [(0.001, "1.01"), (math.log(3), "3.00"), (13.8, "985,000")],
)
def test_risk_is_rounded_up_to_three_digits(epsilon, factor):
    assert risk_in_words(epsilon) == f"a report can change anyone's odds by at most a factor {factor}"


@pytest.mark.parametrize(("epsilon", "factor"), [(20.0, "4.86 × 10^8"), (1000.0, "1.98 × 10^434")])
def test_a_factor_that_limits_nothing_is_called_so(epsilon, factor):
    words = risk_in_words(epsilon)
    assert words.startswith(f"a report can change anyone's odds by at most a factor {factor}, more than a million")
    assert "no limit" in risk_in_words(epsilon, 1e-6)


@given(st.floats(0.001, 20_000))
def test_risk_never_understates(epsilon):
    factor = Decimal(factor_in_words(epsilon).replace(",", "").replace(" × 10^", "e"))
    true = Decimal(epsilon).exp()
    assert true * (1 - Decimal("1e-11")) <= factor <= true * Decimal("1.0101")
    assert len(risk_in_words(epsilon)) < 130


def test_a_mechanism_with_delta_promises_no_factor_for_every_report():
    """The statement about Gaussian noise holds, and that about pure mechanisms does not."""
    epsilon, delta = 1.0, 1e-6
    words = risk_in_words(epsilon, delta)
    assert words == (
        "with another true value, the chance of any conclusion from a report is at most 2.72 times as large plus delta = 0.000001"
    )
    assert "odds" not in words
    scale = calibrated_scale(epsilon, delta, 1.0)
    assert norm.logpdf(30, 1, scale) - norm.logpdf(30, 0, scale) > epsilon  # such a report changes the odds by more
    ends = np.linspace(-40, 40, 20_001)  # the likeliest conclusions under type 1 are those from reports above an end
    assert (norm.sf(ends, 1, scale) <= 2.72 * norm.sf(ends, 0, scale) + delta).all()
    unlikely = norm.sf(ends, 1, scale) > math.e * norm.sf(ends, 0, scale)
    assert unlikely.any()  # without delta it would be untrue
    # Nor is "pure except with probability delta" true: reports that break the factor are likelier than delta.
    broken = ends[norm.logpdf(ends, 1, scale) - norm.logpdf(ends, 0, scale) > epsilon][0]
    assert norm.sf(broken, 1, scale) > 5 * delta


def test_anything_above_the_claim_is_refused_and_said():
    refused(
        r"audited epsilon is 1\.0000000005\d*, more than the 1 asked for",
        lambda: guarantee(FULL, Audit(1 + 5e-10, 0.0, "exact", (0, 1))),
    )
    above = Audit(math.nextafter(1, 2), 0.0, "exact", (0, 1))
    refused("more than the 1 asked for", guarantee, FULL, above)
    assert audited_in_words(1.0, above) == "1 + 2.3\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁻¹⁶"


def named(*names: str) -> Domain:
    return Domain(attributes=tuple(CategoricalAttribute(name=name, values=("a", "b")) for name in names))


@pytest.mark.parametrize(
    ("names", "unit"),
    [
        (["age", "sex"], 'one person\'s record of "age" and "sex" per report'),
        (["age", "sex", "in\ncome"], 'one person\'s record of "age", "sex" and "in come" per report'),
    ],
)
def test_the_privacy_unit_is_the_whole_record(names, unit):
    line = guarantee(FULL.with_(domain=named(*names)), PURE)
    assert f"privacy unit: {unit};" in line
    assert "\n" not in line


# --- values taken from the data
# -----------------------------------------------------------------------------

TABLE = pd.DataFrame(
    {
        "age": ["17", "90", "31", "31", "40", "55"],
        "hours": ["0.5", "8.25", "3", "3", "4", "5"],
        "school": ["7th", "8th", "MA", "MA", "BA", "BA"],
        "day": ["2026-01-31", "2026-02-01", "2026-03-01", "2026-03-02", "2026-05-05", "2026-06-07"],
    }
)


def seen(*recipes) -> list[str]:
    """The disclosures of a design on TABLE, without the counts and the remedy."""
    domain = build_domain(list(recipes), TABLE)
    return observed_parts(FULL.with_(data=UploadedData(recipes=recipes), domain=domain))


def edited_categories(changes: dict, **settings):
    """The recipe after categories were taken from TABLE and edited in the table."""
    recipe = CategoricalRecipe(column="school", **settings)
    (attribute,) = build_domain(recipe, TABLE).attributes
    frame = tables.category_table(attribute, columns.parse(TABLE["school"]))
    frame["category"] = [
        changes.get(value, name) for value, name in zip(frame["value"], frame["category"], strict=True)
    ]
    return tables.recipe_of_categories(recipe, attribute, frame)


def edited_edges(method: str):
    (attribute,) = build_domain(NumericRecipe(column="age", method=method, bins=3), TABLE).attributes
    read = NumericRecipe(column="age", method="own_edges", edges=attribute.edges, origin="data")
    first, *others = tables.bins_as_text(read).split(", ")
    return tables.with_bins(read, ", ".join([str(float(first) - 1), *others]))


SEEN = {
    "categories": (
        CategoricalRecipe(column="school"),
        'The 4 categories of "school" were observed in the data: each of them shows that somebody has it.',
    ),
    "rare values": (
        CategoricalRecipe(column="school", rare_below=2),
        'The 2 categories of "school" were observed in the data: each of them shows that at least 2 people have it, and that '
        "fewer have any value that is left out.",
    ),
    "merged while read": (
        CategoricalRecipe(column="school", merges=[Merge(name="primary", texts=["7th", "8th"])]),
        'The 3 categories of "school" were observed in the data: each of them shows that somebody has it. The 2 values merged '
        "into them were observed as well.",
    ),
    "edited": (
        edited_categories({"7th": "primary", "8th": "primary"}),
        'The 3 categories of "school" were taken from the data and then edited. They, and the '
        "values merged into them, show what values people have.",
    ),
    "quantiles": (
        NumericRecipe(column="age", method="equal_count", bins=3),
        'The bin edges of "age" are quantiles of the data.',
    ),
    "range": (
        NumericRecipe(column="age", method="range", bins=4),
        'The range of "age", 17 to 90, was set by the smallest and the largest value in the data.',
    ),
    "range to a given end": (
        NumericRecipe(column="age", method="range", high=120, bins=4),
        'The range of "age", 17 to 120, was set by the smallest value in the data.',
    ),
    "range of most": (
        NumericRecipe(column="age", method="range", low=0, high=60, outside="clamp", origin="data"),
        'The range of "age", 0 to 60, was set by where most values in the data are.',
    ),
    "edited quantiles": (
        edited_edges("equal_count"),
        'The bin edges of "age" were taken from the data and then edited.',
    ),
    "dates": (
        DateRecipe(column="day"),
        'The range of "day", 2026-01 to 2026-06, was set by the first and the last date in the data.',
    ),
}
DECLARED = [
    CategoricalRecipe(column="school", categories=["7th", "8th", "MA", "BA", "PhD"]),
    NumericRecipe(column="age", method="own_edges", edges=[0, 50, 100]),
    NumericRecipe(column="age", method="range", low=0, high=99, bins=10),
    DateRecipe(column="day", first="2026-01", last="2026-12"),
]


@pytest.mark.parametrize("name", SEEN)
def test_what_was_read_off_the_data_is_said_with_the_way_out(name):
    recipe, sentence = SEEN[name]
    told = seen(recipe)
    assert told[0] == sentence
    assert len(told) == 2
    assert "declared beforehand reveal nothing" in told[1]


@pytest.mark.parametrize("recipe", DECLARED, ids=lambda recipe: f"{recipe.kind}-{recipe.column}")
def test_what_was_declared_reveals_nothing(recipe):
    assert seen(recipe) == []


def test_the_domain_alone_is_told_as_it_stands_and_none_reveals_nothing():
    domain = build_domain([SEEN["rare values"][0], SEEN["range"][0]], TABLE)
    told = observed_parts(FULL.with_(domain=domain))
    assert told[0] == 'The 2 categories of "school" were observed in the data: each of them shows that somebody has it.'
    assert told[1] == SEEN["range"][1]
    assert observed_parts(FULL) == observed_parts(Configuration()) == []


@pytest.mark.parametrize(
    ("population", "reason"),
    [
        (Population(users=3000, origin="data", shape="uniform"), "number of people, 3,000, was counted"),
        (Population(users=3000, origin="declared", shape="data"), "The counts are not exported: errors"),
    ],
)
def test_counts_of_the_data_are_said(population, reason):
    told = observed_parts(FULL.with_(population=population))
    assert reason in told[0]
    assert len(told) == 2


def test_a_strategy_optimised_for_the_data_tells_its_shares():
    population = Population(users=3000, origin="data", shape="data")
    aimed = FULL.with_(population=population, mechanism={"name": "optimized"}, optimizer={"aim": "people"})
    assert "exact share of every type" in observed_parts(aimed)[1]
    later = aimed.with_(mechanism={"name": "of_a_later_version"})
    assert "not exported" in observed_parts(later)[1]
    exact = observed_parts(later, figures=True)
    assert "may work out all counts" in exact[1]
    assert not any("not exported" in sentence for sentence in exact)
