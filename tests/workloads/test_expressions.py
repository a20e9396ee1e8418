"""Conditions as text: against their meaning on every type, and the sentences for those that cannot be read."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import workloads
from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute, bin_labels
from ldp_core.workloads import Axis, PredicateError, expressions, parse
from tests.refused import refused

PEOPLE = Domain(
    attributes=(
        NumericAttribute(name="age", edges=(16.5, 29.5, 39.5, 40.5, 90.5), integer=True, missing="category"),
        NumericAttribute(name="weight", edges=(40, 60 + 1 / 3, 80, 120.5)),
        CategoricalAttribute(name="marital status", values=("Never-married", "Married-civ", 'it\'s "odd" 🙂 <b>')),
        CategoricalAttribute(name="sex", values=("female", "male")),
        CategoricalAttribute(name="education", values=("school", "college", "degree"), ordered=True),
    )
)
AXES = workloads.axes_of(PEOPLE)
SHAPE = PEOPLE.shape


def types_where(text):
    """Values (as sets) of each attribute that is concerned, for a condition that is a product."""
    found = expressions.factors(parse(text, PEOPLE), SHAPE)
    return {
        AXES[i].name: np.flatnonzero(table).tolist()
        for attributes, table in found
        for i in attributes
        if table.ndim == 1
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age = 17-29", {"age": [0]}),
        ("age = 40", {"age": [2]}),
        ("age == '17-29'", {"age": [0]}),
        ("age != 17-29", {"age": [1, 2, 3, 4]}),
        ("age < 30", {"age": [0]}),
        ("age <= 29.5", {"age": [0]}),
        ("age <= 30-39", {"age": [0, 1]}),
        ("age > 39", {"age": [2, 3]}),
        ("age ≥ 40", {"age": [2, 3]}),
        ("age >= 17 and age <= 1e9", {"age": [0, 1, 2, 3]}),
        ("not age >= 40", {"age": [0, 1, 4]}),
        ("30 <= age < 41", {"age": [1, 2]}),
        ("39 < age", {"age": [2, 3]}),
        ("age between 30 and 40", {"age": [1, 2]}),
        ("age NOT BETWEEN 30 AND 40", {"age": [0, 3, 4]}),
        ("age in {40, 17-29, `(missing)`}", {"age": [0, 2, 4]}),
        ("age in (40, 17-29)", {"age": [0, 2]}),
        ("age not in {40}", {"age": [0, 1, 3, 4]}),
        ("weight < 60.3", {"weight": [0]}),
        ('weight >= "[60.3, 80)"', {"weight": [1, 2]}),
        ("weight <= 120.5", {}),
        ("“marital status” = Married-civ", {"marital status": [1]}),
        ('\'marital status\' = "it\'s ""odd"" 🙂 <b>"', {"marital status": [2]}),
        ("education > school", {"education": [1, 2]}),
        ("sex=male and(age<30)", {"sex": [1], "age": [0]}),
        ("not (sex = male or age < 30)", {"sex": [0], "age": [1, 2, 3, 4]}),
        ("not not sex = male", {"sex": [1]}),
        ("age < 30 and (age > 39 or age < 40) and sex = male", {"age": [0], "sex": [1]}),
    ],
)
def test_conditions_mean_what_they_say(text, expected):
    assert types_where(text) == expected


def test_a_conjunction_is_a_product_of_small_tables():
    text = "sex = male and (age < 30 or education = degree) and not (weight < 80 or 'marital status' = Married-civ)"
    found = expressions.factors(parse(text, PEOPLE), SHAPE)
    assert {attributes: table.shape for attributes, table in found} == {
        (3,): (2,),
        (0, 4): (5, 3),
        (1,): (3,),
        (2,): (3,),
    }
    many = [Axis(f"q{i}", ("no", "yes"), 2) for i in range(60)]
    all_yes = expressions.factors(parse(" and ".join(f"q{i} = yes" for i in range(60)), many), [2] * 60)
    assert [table.tolist() for _, table in all_yes] == [[False, True]] * 60
    refused(
        "ties 60 attributes",
        lambda: expressions.factors(parse(" or ".join(f"q{i} = yes" for i in range(60)), many), [2] * 60),
    )


@settings(max_examples=100)
@given(st.data(), st.booleans())
def test_numbers_part_bins_or_are_refused(data, integer):
    edges = sorted(data.draw(st.sets(st.integers(-20, 20), min_size=2, max_size=5)))
    edges = [edge - 0.5 for edge in edges] if integer else [edge / 4 for edge in edges]
    axis = Axis("x", bin_labels(tuple(edges), integer), len(edges) - 1, True, tuple(edges), integer)
    number = data.draw(st.integers(-24, 24)) / (1 if integer else 4)
    sign = data.draw(st.sampled_from(["<", "<=", ">", ">="]))
    holds = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[sign]
    # All values there are near the number and the edges; quarters of a step stand for the others.
    grid = np.arange(-24, 25, 1.0) if integer else np.arange(-24, 24.001, 0.25) / 4
    grid = grid[(grid >= edges[0]) & (grid <= edges[-1])]
    bins = np.minimum(np.searchsorted(edges, grid, side="right") - 1, axis.size - 1)
    inside = [holds(grid[bins == i], number) for i in range(axis.size)]
    text = f"x {sign} {number:g}"
    if any(part.any() and not part.all() for part in inside):
        said = refused("would cut the bin", parse, text, [axis], kind=PredicateError)
        for way in said.partition("; use ")[2].partition(". Or ")[0].rstrip(".").split(" or "):
            assert expressions.row(parse(way, [axis]), [axis.size]).any()  # what it suggests can be asked
    else:
        found = expressions.row(parse(text, [axis]), [axis.size])
        assert found.tolist() == [float(part.all()) for part in inside]


@pytest.mark.parametrize(
    ("text", "position", "sentence"),
    [
        ("", 0, "there is no condition; write one such as age = 17-29"),
        (
            "age <= 35",
            7,
            "would cut the bin 30-39, .* use age <= 29 or age <= 39. Or give age an edge at 36 on the Data page",
        ),
        ("age < 35", 6, "use age < 30 or age < 40"),
        ("age > 35", 6, "use age > 29 or age > 39"),
        ("age >= 35", 7, "use age >= 30 or age >= 40"),
        ("age < 20", 6, "use age < 30\\."),
        ("age >= 50", 7, "use age >= 41\\."),
        ("age = 35", 6, "would cut the bin 30-39, .* use age = 30-39"),
        ("weight = 50", 9, r"use weight = \"\[40, 60.3\)\""),
        ("weight <= 60.3", 10, "use weight < 60.3 or weight < 80"),
        ("weight < 120.5", 9, "use weight < 80 or weight <= 120.5"),
        ("age = 200", 6, "age is never 200; its values range from 17 to 90"),
        ("weight = 1e999", 9, "its values range from 40 to 120.5"),
        ("agee < 30", 0, "no attribute agee; did you mean age?"),
        ("zip = 3", 0, 'the attributes are age, weight, "marital status", sex, education'),
        ("sex = femal", 6, "sex has no value femal; did you mean female?"),
        ("age = old", 6, "old is neither a value of age nor a number"),
        ("'marital status' = never", 19, "did you mean Never-married?"),
        ("marital status = Married-civ", 0, 'put names with spaces in quotes: "marital status"'),
        ("weight = [40, 60.3)", 9, r"did you mean \"\[40, 60.3\)\""),
        ("female", 0, "female is a value; write sex = female"),
        ("sex < male", 6, "sex has no order"),
        ("age < '(missing)'", 6, "no place in the order of age"),
        ("age", 3, "must be compared with a value"),
        ("age is 30", 4, "expected =, !=, <, <=, >, >=, in or between after age, found is"),
        ("age not 30", 8, "expected in or between after not, found 30"),
        ("age <", 5, "expected a value, found the end"),
        ("age in 30", 7, "expected { before the values"),
        ("age in {40", 10, "expected } after the values"),
        ("age between 30 or 40", 15, "expected and between the two ends"),
        ("(age < 30", 9, "close the parenthesis at character 1"),
        ("age < 30)", 8, "never opened"),
        ("age < 30 sex = male", 9, "expected and, or, or the end, found sex"),
        ("sex = 'male", 6, "is never closed"),
        ("age ! 30", 4, "the sign ! means nothing"),
        ("and", 0, "expected the name of an attribute, found and"),
        ("not", 3, "found the end"),
        ("x" * 10_001, 10_000, "at most 10,000"),
        ("(" * 51 + "age < 30" + ")" * 51, 50, "more than 50"),
        ("__import__('os').system('x') = 1", 0, "no attribute __import__"),
    ],
)
def test_errors_say_where_and_what_to_do(text, position, sentence):
    with pytest.raises(PredicateError, match=sentence) as caught:
        parse(text, PEOPLE)
    assert caught.value.position == position
    message = str(caught.value)
    assert message.startswith(f"At character {position + 1}: ")
    assert len(message) < 400
    assert "\n" not in message
