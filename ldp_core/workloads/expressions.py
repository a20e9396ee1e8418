"""Conditions on people as text, such as ``age >= 30 and not (sex = male or "marital status" in {Divorced, Widowed})``.

    condition  = term {"or" term}
    term       = factor {"and" factor}
    factor     = "not" factor | "(" condition ")" | comparison
    comparison = attribute ("=" | "!=" | "<" | "<=" | ">" | ">=") value
               | attribute ["not"] "in" "{" value {"," value} "}"
                 (round brackets as in SQL will do)
               | attribute ["not"] "between" value "and" value          both ends included
               | number ("<" | "<=" | ">" | ">=") attribute [("<" | "<=" | ">" | ">=") value]

Names and values of letters, digits and most signs stand as they are; others, and the words above,
in double or single quotes or backticks, where a doubled quote stands for one. Values are labels, or
numbers where types are bins of numbers: a comparison that would cut a bin is refused, since its
users are not distinguished. "!=" and "not" mean everyone else, "(missing)" included; "<", ">" and
ranges hold for no one in "(other)" and "(missing)". Text is parsed by recursive descent, never
evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ldp_core import anova, wording
from ldp_core.limits import MOST_CONDITION_CHARACTERS, MOST_CONDITION_DEPTH, MOST_WORKLOAD_ENTRIES
from ldp_core.workloads.axes import Axis, axes_of
from ldp_core.workloads.comparisons import SEARCHED, SHORTENED_LENGTH, compare, nearest, shortened

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<quoted>"(?:[^"]|"")*" | '(?:[^']|'')*' | `(?:[^`]|``)*` | “[^”]*”)
    | (?P<sign><=|>=|==|!=|<>|≤|≥|≠|=|<|>)
    | (?P<mark>[(){},])
    | (?P<word>[^\s"'`“<>=!≤≥≠(){},][^\s"`“<>=!≤≥≠(){},]*)""",
    re.VERBOSE,
)
_SIGNS = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_WORDS = ("and", "or", "not", "in", "between")


class PredicateError(ValueError):
    """A condition that cannot be read; the message is one sentence, ``position`` the character it is about (from 0)."""

    def __init__(self, sentence: str, position: int):
        super().__init__(f"At character {position + 1}: {sentence}")
        self.position = position


@dataclass(frozen=True)
class Among:
    """The value of one attribute is among those where ``mask`` is true."""

    axis: int
    mask: tuple[bool, ...]


@dataclass(frozen=True)
class Some:
    """At least one of the conditions holds."""

    options: tuple[Condition, ...]


Condition = tuple[Among | Some, ...]
"""All of these hold. "Not" is carried to the comparisons as they are read."""


def parse(text: str, attributes: Any) -> Condition:
    """The condition that ``text`` states about the attributes of a `Domain` (or a sequence of attributes or axes).

    Raises `PredicateError`, a ValueError: one sentence saying where and what is wrong, and the nearest name that
    exists.
    """
    return _Parser(text, axes_of(attributes)).whole()


def factors(condition: Condition, shape: Sequence[int]) -> list[tuple[tuple[int, ...], np.ndarray]]:
    """The condition as a product: boolean tables over different attributes (increasing), all of
    them required.

    Tables that are all true are left out. ValueError when a table would have more than `MOST_WORKLOAD_ENTRIES` entries.
    """
    tables, mentioned = [], [_mentioned((term,)) for term in condition]
    for attributes in anova.tied_together(mentioned):
        terms = tuple(term for term, places in zip(condition, mentioned, strict=True) if places <= set(attributes))
        sizes = [shape[i] for i in attributes]
        if np.prod(sizes, dtype=float) > MOST_WORKLOAD_ENTRIES:
            raise ValueError(
                f"A condition ties {len(sizes)} attributes of {np.prod(sizes, dtype=float):,.0f} values together, too many: "
                "split it, or use coarser bins."
            )
        table = np.broadcast_to(_table(terms, attributes, shape), sizes)
        if not table.all():
            tables.append((attributes, table))
    return tables


def row(condition: Condition, shape: Sequence[int]) -> np.ndarray:
    """(n,) 1 for the types that meet the condition, 0 for the others."""
    shape = tuple(shape)
    met = np.ones(shape)
    for attributes, table in factors(condition, shape):
        met *= table.reshape([size if i in attributes else 1 for i, size in enumerate(shape)])
    return met.ravel()


def _mentioned(condition: Condition) -> set[int]:
    each = ({t.axis} if isinstance(t, Among) else set().union(*map(_mentioned, t.options)) for t in condition)
    return set().union(*each)


def _table(condition: Condition, attributes: tuple[int, ...], shape: Sequence[int]) -> np.ndarray:
    """Truth by the values of ``attributes``, one axis each, of length 1 where the attribute does not matter."""

    def of(term: Among | Some) -> np.ndarray:
        if isinstance(term, Some):
            return reduce(np.logical_or, (_table(option, attributes, shape) for option in term.options))
        return np.array(term.mask).reshape([shape[i] if i == term.axis else 1 for i in attributes])

    return reduce(np.logical_and, map(of, condition))


def _joined(terms: Sequence[Condition], every: bool) -> Condition:
    """All of the ``terms``, or one of them at least."""
    return tuple(t for term in terms for t in term) if every or len(terms) == 1 else (Some(tuple(terms)),)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int

    def is_(self, *words: str) -> bool:
        """True if this is one of the language's words or marks."""
        return self.kind in ("word", "mark", "sign") and self.text.lower() in words

    @property
    def shown(self) -> str:
        if self.kind == "quoted":
            return shortened(self.text)
        return wording.shortened(self.text, SHORTENED_LENGTH) if self.text else "the end"

    @property
    def number(self) -> float | None:
        return float(self.text) if wording.NUMBER.fullmatch(self.text) else None


def _tokens(text: str) -> list[_Token]:
    if len(text) > MOST_CONDITION_CHARACTERS:
        raise PredicateError(
            f"the condition goes on for {len(text):,} characters; at most {MOST_CONDITION_CHARACTERS:,} are read.",
            MOST_CONDITION_CHARACTERS,
        )
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            sign = text[position]
            if sign in "\"'`“":
                raise PredicateError(
                    f"the quote {sign} is never closed; close it, or double it within quotes.", position
                )
            raise PredicateError(f"the sign {sign} means nothing here; use != for other values, or quotes.", position)
        kind, word = match.lastgroup or "space", match.group()
        if kind == "quoted":
            word = word[1:-1].replace(word[0] * 2, word[0]) if word[0] != "“" else word[1:-1]
        elif kind == "sign":
            word = _SIGNS.get(word, word)
        if kind != "space":
            tokens.append(_Token(kind, word, position))
        position = match.end()
    return [*tokens, _Token("end", "", len(text))]


class _Parser:
    """Recursive descent, one method per rule of the grammar above."""

    def __init__(self, text: str, axes: tuple[Axis, ...]):
        self._tokens, self._next, self._depth = _tokens(text), 0, 0
        self._axes = axes
        self._places = {axis.name: i for i, axis in enumerate(axes)}

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._token
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _took(self, *words: str) -> bool:
        """True if the next token is one of the language's ``words``, which is then taken."""
        if self._token.is_(*words):
            self._take()
            return True
        return False

    def _expect(self, word: str, why: str) -> None:
        if not self._took(word):
            raise PredicateError(f"expected {word} {why}, found {self._token.shown}.", self._token.position)

    def whole(self) -> Condition:
        if self._token.kind == "end":
            raise PredicateError("there is no condition; write one such as " + self._example() + ".", 0)
        condition = self._condition()
        token = self._token
        if token.kind != "end":
            before = self._tokens[self._next - 1]
            both = f"{before.text} {token.text}"
            known = (name for axis in self._axes for name in (axis.name, *axis.labels[:SEARCHED]))
            names = {name for name in known if name.startswith(both)}
            if names and token.kind == "word":
                mended = f"put names with spaces in quotes, such as {shortened(min(names, key=len))}."
            elif token.is_(")"):
                mended = "this parenthesis was never opened."
            else:
                mended = f"expected and, or, or the end, found {token.shown}."
            raise PredicateError(mended, before.position if names and token.kind == "word" else token.position)
        return condition

    def _example(self) -> str:
        axis = self._axes[0]
        return f"{shortened(axis.name)} = {shortened(axis.labels[0])}"

    def _condition(self, negated: bool = False) -> Condition:
        terms = [self._term(negated)]
        while self._took("or"):
            terms.append(self._term(negated))
        return _joined(terms, every=negated)

    def _term(self, negated: bool) -> Condition:
        terms = [self._factor(negated)]
        while self._took("and"):
            terms.append(self._factor(negated))
        return _joined(terms, every=not negated)

    def _factor(self, negated: bool) -> Condition:
        position = self._token.position
        if not self._token.is_("not", "("):
            return self._comparison(negated)
        self._depth += 1
        if self._depth > MOST_CONDITION_DEPTH:
            raise PredicateError(
                f"more than {MOST_CONDITION_DEPTH} parentheses or nots are nested within each other.", position
            )
        if self._took("not"):
            condition = self._factor(not negated)
        else:
            self._take()
            condition = self._condition(negated)
            self._expect(")", f"to close the parenthesis at character {position + 1}")
        self._depth -= 1
        return condition

    def _comparison(self, negated: bool) -> Condition:
        first = self._token
        is_number = first.kind == "word" and first.number is not None and first.text not in self._places
        if is_number and self._tokens[self._next + 1].is_(*_TURNED):
            return self._number_first(negated)
        place, axis = self._attribute()
        turned = self._took("not")
        if self._took("in"):
            holds = self._set(axis)
        elif self._took("between"):
            low = self._value("the lower end")
            self._expect("and", "between the two ends")
            high = self._value("the upper end")
            holds = self._compared(axis, ">=", low) & self._compared(axis, "<=", high)
        elif turned:
            raise PredicateError(f"expected in or between after not, found {self._token.shown}.", self._token.position)
        elif self._token.kind == "sign":
            sign, value = self._take().text, self._value("a value")
            holds = self._compared(axis, sign, value)
        else:
            raise PredicateError(self._no_comparison(first), self._token.position)
        return (_among(place, holds, negated != turned),)

    def _no_comparison(self, first: _Token) -> str:
        if self._token.kind == "word" and not self._token.is_(*_WORDS):
            return f"expected =, !=, <, <=, >, >=, in or between after {first.shown}, found {self._token.shown}."
        axis = self._axes[self._places[first.text]]
        return f"{first.shown} must be compared with a value, such as {shortened(axis.name)} = {shortened(axis.labels[0])}."

    def _number_first(self, negated: bool) -> Condition:
        low, sign = self._take(), self._take().text
        place, axis = self._attribute()
        terms = [(_among(place, self._compared(axis, _TURNED[sign], low), negated),)]
        if self._token.is_(*_TURNED):
            sign = self._take().text
            terms.append((_among(place, self._compared(axis, sign, self._value("a value")), negated),))
        return _joined(terms, every=not negated)

    def _attribute(self) -> tuple[int, Axis]:
        token = self._take()
        if token.kind not in ("word", "quoted") or (token.is_(*_WORDS) and token.text not in self._places):
            raise PredicateError(f"expected the name of an attribute, found {token.shown}.", token.position)
        place = self._places.get(token.text)
        if place is None:
            raise PredicateError(self._unknown(token), token.position)
        return place, self._axes[place]

    def _unknown(self, token: _Token) -> str:
        words = [token.text]
        for later in self._tokens[self._next :]:
            if later.kind != "word":
                break
            words.append(later.text)
            if " ".join(words) in self._places:
                return f"put names with spaces in quotes: {shortened(' '.join(words))}."
        for axis in self._axes:
            if axis.find(token.text) is not None:
                return f"{token.shown} is a value; write {shortened(axis.name)} = {shortened(token.text)}."
        return f"there is no attribute {token.shown}; {nearest(token.text, list(self._places), 'the attributes are')}"

    def _value(self, what: str) -> _Token:
        token = self._take()
        if token.kind not in ("word", "quoted"):
            raise PredicateError(f"expected {what}, found {token.shown}; put other signs in quotes.", token.position)
        return token

    def _compared(self, axis: Axis, sign: str, value: _Token) -> np.ndarray:
        try:
            return compare(axis, sign, value.text, value.number)
        except ValueError as error:
            raise PredicateError(str(error), value.position) from None

    def _set(self, axis: Axis) -> np.ndarray:
        closing = ")" if self._took("(") else "}"
        if closing == "}":
            self._expect("{", "before the values, as in {a, b}")
        members = self._compared(axis, "=", self._value("a value"))
        while self._took(","):
            members = members | self._compared(axis, "=", self._value("a value"))
        self._expect(closing, "after the values")
        return members


def _among(place: int, holds: np.ndarray, negated: bool) -> Among:
    return Among(place, tuple((holds != negated).tolist()))
