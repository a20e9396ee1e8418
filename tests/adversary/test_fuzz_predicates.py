"""Conditions: random ones against their meaning type by type, and damaged ones against what must hold of any."""

from itertools import product

import hostile
import numpy as np
import pytest
from fuzzing import attack, tried
from hypothesis import strategies as st

from ldp_core import limits
from ldp_core.data.domain import CategoricalAttribute, DateAttribute, Domain, NumericAttribute, RangeAttribute
from ldp_core.workloads import Predicate, PredicatesPart, expressions, parse

NAMES = ("place of birth", 'a "b" c', "and")
PEOPLE = Domain(
    attributes=(
        CategoricalAttribute(name=NAMES[0], values=("north", "it's", '"', "or", "5", "=1+1"), ordered=True),
        CategoricalAttribute(name=NAMES[1], values=("yes", "![x](http://example.invalid)"), outside="other"),
        RangeAttribute(name="age", low=0.0, high=9.0, bins=10, integer=True, missing="category"),
    )
)
LABELS = [attribute.labels for attribute in PEOPLE.attributes]
ORDINARY = (6, 2, 10)
TYPES = list(product(*map(range, PEOPLE.shape)))
OTHERS = Domain(
    attributes=(
        NumericAttribute(name="weight", edges=(-1e300, -0.5, 0.1 + 0.2, 7.0, 1e300), outside="other"),
        DateAttribute(name="day", unit="week", first="2024-W52", last="2025-W02", missing="category"),
        CategoricalAttribute(name="x" * 200, values=("(other)", "\0", "\ufeff"), outside="other"),
        NumericAttribute(name="1", edges=(0.5, 1.5, 2.5, 20.5), integer=True),
    )
)
WORDS = [
    "and", "or", "not", "in", "between", "(", ")", "{", "}", ",", "=", "!=", "<", "<=", ">", ">=", "==", "<>", "≠", "≤", "age",
    "weight", "day", "1", "0", "7", "0.3", "-0.5", "1e300", "1e400", "1e-400", "2024-W52", '"(other)"', "(missing)", "north",
    "'", '"', "`", "“", "”", "nan", "inf", "((", "))", "not not", "AND", "__import__('os')", "lambda: 0", "9" * 400,
]  # fmt: skip


def in_quotes(word):
    """A word as it may be written; bare where it needs no quotes, in any quotes otherwise."""
    written = [quote + word.replace(quote, quote * 2) + quote for quote in "\"'`"]
    return st.sampled_from(written + [word] * 4 * (word in ("north", "yes", "5", "age")))


@st.composite
def comparison(draw):
    """A comparison as text, and its meaning: the set of positions in TYPES that meet it."""
    axis = draw(st.integers(0, 2))
    name, labels, ordinary = draw(in_quotes(PEOPLE.attributes[axis].name)), LABELS[axis], ORDINARY[axis]
    sign = draw(st.sampled_from(["=", "!=", "in", "not in"] + ["<", "<=", ">", ">=", "between"] * (axis != 1)))
    scale = sign in ("<", "<=", ">", ">=", "between")
    values = draw(st.lists(st.integers(0, (ordinary if scale else len(labels)) - 1), min_size=2, max_size=3))
    written = [draw(in_quotes(labels[value])) for value in values]
    first, second, *_ = values
    holds = {
        "=": lambda v: v == first,
        "!=": lambda v: v != first,
        "in": lambda v: v in values,
        "not in": lambda v: v not in values,
        "<": lambda v: v < first,
        "<=": lambda v: v <= first,
        ">": lambda v: first < v < ordinary,
        ">=": lambda v: first <= v < ordinary,
        "between": lambda v: first <= v <= second and v < ordinary,
    }[sign]
    if sign in ("in", "not in"):
        text = f"{name} {sign} {{{', '.join(written)}}}"
    elif sign == "between":
        text = f"{name} between {written[0]} and {written[1]}"
    else:
        text = f"{name}{draw(space)}{sign}{draw(space)}{written[0]}"
    return text, {i for i, values_of in enumerate(TYPES) if holds(values_of[axis])}


def joined(word):
    """How two conditions are joined by a word."""
    both = word.lower() == "and"
    return lambda one, other: (f"({one[0]}) {word} ({other[0]})", one[1] & other[1] if both else one[1] | other[1])


def opposite(word):
    return lambda one: (f"{word} ({one[0]})", EVERYBODY - one[1])


EVERYBODY = set(range(len(TYPES)))
space = st.sampled_from(["", " ", "  "])
condition = st.recursive(
    comparison(),
    lambda inner: st.one_of(
        *(st.builds(joined(word), inner, inner) for word in ("and", "or", "AND", "Or")),
        *(inner.map(opposite(word)) for word in ("not", "NOT")),
    ),
    max_leaves=8,
)
words = st.lists(st.sampled_from(WORDS) | hostile.text, min_size=1, max_size=30)
damaged = st.one_of(
    condition.flatmap(lambda made: hostile.damaged(made[0])).map(lambda text: text[:20_000]),
    st.builds(lambda space, words: space.join(words), space, words),
    st.builds(
        lambda word, times, text: word * times + text,
        st.sampled_from(["not ", "("]),
        st.sampled_from([49, 51, 4000]),
        condition.map(lambda made: made[0]),
    ),
).map(lambda text: text.replace(hostile.LONE, ""))  # neither files nor browsers bring half a character here


@pytest.mark.promise
@attack(condition, seen=[True])
def test_conditions_mean_what_they_say(made):
    text, held = made
    found = expressions.row(parse(text, PEOPLE), PEOPLE.shape)
    assert found.shape == (PEOPLE.size,)
    assert set(np.flatnonzero(found)) == held, text
    return True


@pytest.mark.promise
@attack(damaged, st.sampled_from([PEOPLE, OTHERS]))
def test_damaged_conditions(text, domain):
    tried(PredicatesPart(predicates=[Predicate(expression=text[: limits.MOST_CONDITION_CHARACTERS])]).build, domain)
    parsed = tried(parse, text, domain)
    if parsed is None:
        return False
    found = expressions.row(parsed, domain.shape)
    assert found.shape == (domain.size,)
    assert set(found) <= {0.0, 1.0}
    other = tried(parse, f"not ({text})", domain)  # None where that is nested too deeply
    assert other is None or np.array_equal(expressions.row(other, domain.shape), 1 - found)
    return True
