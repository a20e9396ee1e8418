"""Conditions: random ones against their meaning type by type, and damaged ones against what must hold of any."""

from itertools import product

import hostile
import numpy as np
from fuzzing import fuzz, tried

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


def in_quotes(rng, word):
    """A word as it may be written; bare where it needs no quotes, in any quotes otherwise."""
    if word in ("north", "yes", "5", "age") and rng.random() < 0.6:
        return word
    quote = rng.choice("\"'`")
    return quote + word.replace(quote, quote * 2) + quote


def condition(rng, depth=0):
    """A condition as text, and its meaning: the set of positions in TYPES that meet it."""
    how = rng.randrange(4 if depth < 4 else 1)
    if how == 0:
        return comparison(rng)
    text, held = condition(rng, depth + 1)
    if how == 1:
        return f"{rng.choice(['not', 'NOT'])} ({text})", set(range(len(TYPES))) - held
    other, also = condition(rng, depth + 1)
    word = rng.choice(["and", "or", "AND", "Or"])
    return f"({text}) {word} ({other})", held & also if word.lower() == "and" else held | also


def comparison(rng):
    axis = rng.randrange(3)
    name, labels, ordinary = in_quotes(rng, PEOPLE.attributes[axis].name), LABELS[axis], ORDINARY[axis]
    values = [rng.randrange(len(labels)) for _ in range(rng.randint(1, 3))]
    sign = rng.choice(
        ["=", "!=", "in", "not in"] if axis == 1 else ["=", "!=", "in", "not in", "<", "<=", ">", ">=", "between"]
    )
    if sign in ("<", "<=", ">", ">=", "between"):
        values = [rng.randrange(ordinary) for _ in range(2)]
    written = [in_quotes(rng, labels[value]) for value in values]
    first = values[0]
    holds = {
        "=": lambda v: v == first,
        "!=": lambda v: v != first,
        "in": lambda v: v in values,
        "not in": lambda v: v not in values,
        "<": lambda v: v < first,
        "<=": lambda v: v <= first,
        ">": lambda v: first < v < ordinary,
        ">=": lambda v: first <= v < ordinary,
        "between": lambda v: first <= v <= values[1] and v < ordinary,
    }[sign]
    if sign in ("in", "not in"):
        text = f"{name} {sign} {{{', '.join(written)}}}"
    elif sign == "between":
        text = f"{name} between {written[0]} and {written[1]}"
    else:
        text = f"{name}{rng.choice(['', ' '])}{sign}{rng.choice(['', '  '])}{written[0]}"
    return text, {i for i, values_of in enumerate(TYPES) if holds(values_of[axis])}


@fuzz(1_250, accepted=(1, 1))
def test_conditions_mean_what_they_say(rng):
    text, held = condition(rng)
    found = expressions.row(parse(text, PEOPLE), PEOPLE.shape)
    assert found.shape == (PEOPLE.size,)
    assert set(np.flatnonzero(found)) == held, text
    return True


@fuzz(1_500)
def test_damaged_conditions(rng):
    domain = rng.choice([PEOPLE, OTHERS])
    if rng.random() < 0.5:
        text = hostile.damaged(rng, condition(rng)[0])[:20_000]
    else:
        text = rng.choice([" ", " ", ""]).join(
            rng.choice(WORDS) if rng.random() < 0.9 else hostile.text(rng)
            for _ in range(rng.choice([1, 3, 3, 3, 4, 5, 7, 30]))
        )
    if rng.random() < 0.02:
        text = rng.choice(["not ", "("]) * rng.choice([49, 51, 4000]) + text
    text = text.replace(hostile.LONE, "")  # neither files nor browsers bring half a character here
    tried(PredicatesPart(predicates=[Predicate(expression=text[: limits.MOST_CONDITION_CHARACTERS])]).build, domain)
    parsed = tried(parse, text, domain)
    if parsed is None:
        return False
    found = expressions.row(parsed, domain.shape)
    assert found.shape == (domain.size,)
    assert set(found) <= {0.0, 1.0}
    opposite = tried(parse, f"not ({text})", domain)  # None where that is nested too deeply
    assert opposite is None or np.array_equal(expressions.row(opposite, domain.shape), 1 - found)
    return True
