"""Hostile numbers, texts, bytes and JSON documents, as strategies of Hypothesis."""

import copy
import json
import string

from hypothesis import strategies as st

TEXTS = [
    "", " ", "\t", "\n", "\0", "a\0b", "\x1b[31m", "\u202eabc", "\ufeff", "\u200b", "\U0001f600", "e\u0301", "ß", "İ",
    "(other)", "(missing)", "NaN", "nan", "null", "None", "True", "inf", "-0", "1e400", "1,5", "٣", "²", "0o17", "1_000",
    "=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "-2+3", "![x](http://example.invalid/x.png)", "[a](javascript:alert(1))",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "$x$", ":smile:", "# title", "a | b", "`a`", '"', "'",
    '""', "“a”", "and", "or", "not", "in", "between", "../../etc/passwd", "C:\\x", "%s%n", "{0}", "{x.__class__}",
    "__proto__", "kind", "source", "a" * 300, "é" * 5000, "age", "[0, 10)", "2026-13-45", "9999-12-31", "0000-00-00",
    "01/02/2025", "1e-400", "9" * 30, "\u2028", "\x85",
]  # fmt: skip
"""Names and values of people's data, and texts of files."""
LONE = "\ud800"
NUMBERS = [
    0, 1, -1, 2, 3, 7, 0.5, -0.0, 1e-320, 5e-324, 1e-9, 1.7976931348623157e308, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63,
    -(2**63), 10**19, 10**21, 10**400, 1e308, -1e308, 0.1, 1e16, 20, 20.000001, 0.001, 1000, 4096, 10_001, 60, 101,
]  # fmt: skip
RAW = [
    "NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "9" * 25, "9" * 5000, "0" * 30, "01", "+1", ".5", "1.",
    "0o1F", "1_0", "'a'", "undefined", "None", "True", '"\\ud800"', '"\\udfff\\ud800"', '"\\u0000"', '"\\x"', "//", "{,}",
    '{"a": 1, "a": 2}', "[[[[[[1]]]]]]",
]  # fmt: skip
"""Pieces of text in place of a JSON value."""
_MARK = "\ue000{}\ue001"  # a value that is to be replaced by the raw text of that number

numbers, some = st.sampled_from(NUMBERS), st.sampled_from(TEXTS)
ordinary = st.text(string.ascii_letters + string.digits + " _.-", min_size=1, max_size=12)
text = some | ordinary | st.builds(lambda one, other: one[:40] + other[:40], some, some)
"""A hostile text, or a short ordinary one, or two joined."""
_leaves = numbers | text | st.sampled_from([None, True, False]) | st.integers(0, len(RAW) - 1).map(_MARK.format)
value = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
) | st.builds(lambda item, times: [item] * times, numbers, st.sampled_from([2, 101, 3000]))
"""A JSON value of any kind."""


def chance(one_in):
    """True once in so many times."""
    return st.sampled_from([False] * (one_in - 1) + [True])


def paths(document, here=()):
    """The keys that lead to each value below the top."""
    items = (
        document.items() if isinstance(document, dict) else enumerate(document if isinstance(document, list) else ())
    )
    for key, item in items:
        yield (*here, key)
        yield from paths(item, (*here, key))


@st.composite
def changed(draw, documents, most=3):
    """A document with up to so many values, keys and items changed, moved or left out."""
    document = copy.deepcopy(draw(documents))
    for _ in range(draw(st.integers(0, most))):
        places = list(paths(document))
        if places:
            _change(draw, document, places)
    return document


def _change(draw, document, places):
    *steps, key = draw(st.sampled_from(places))
    within = _at(document, steps)
    before = within[key]
    how = draw(st.integers(0, 9))
    if how == 0:
        del within[key]
    elif how == 1 and isinstance(within, list):
        within.extend([before] * draw(st.sampled_from([1, 70, 200])))
    elif how == 1:
        within[draw(st.sampled_from(["Name", "kind ", "__class__", key.upper()]) | text)] = within.pop(key)
    elif how == 2:
        within[key] = copy.deepcopy(_at(document, draw(st.sampled_from(places))))  # what belongs elsewhere
    elif how == 3:
        within[key] = _nested(before, draw(st.sampled_from([1, 3, 50, 200])))
    elif how == 4:
        within[key] = {"kind": before}
    else:
        within[key] = draw(value if how < 8 else _like(before))


def _at(document, steps):
    for step in steps:
        document = document[step]
    return document


def _nested(item, depth):
    for _ in range(depth):
        item = [item]
    return item


def _like(item):
    """Another value of the same kind, which gets past the check of types."""
    if isinstance(item, bool):
        return st.just(not item)
    if isinstance(item, int | float) and abs(item) < 2**1000:
        return st.sampled_from([item + 1, -item, item * 2, item + 0.5]) | numbers
    if isinstance(item, str):
        return text
    if isinstance(item, list) and item:
        return st.sampled_from([item[::-1], item[:1], item + item]) | st.permutations(item)
    return value


@st.composite
def written(draw, documents):
    """The JSON text of a document, hostile numbers as they are, at times damaged as a text."""
    content = json.dumps(draw(documents), ensure_ascii=draw(st.booleans()))
    for i, raw in enumerate(RAW):
        for mark in (_MARK.format(i), json.dumps(_MARK.format(i))[1:-1]):
            content = content.replace(f'"{mark}"', raw)
    return draw(damaged(content)) if draw(chance(7)) else content


def damaged(content):
    """A text cut, doubled, or with a piece of something else in it."""
    piece = some | st.just(LONE)
    return st.integers(
        0, len(content)
    ).flatmap(
        lambda place: (
            st.sampled_from(
                [
                    content[:place],
                    content + content,
                    content.replace(":", ": {" * 3, 1),
                    "[" * 3000 + content,
                    '{"a":' * 3000 + content,
                    content.replace("{", '{"format": "ldp-design", ', 2),  # a key twice
                ]
            )
            | piece.map(lambda put: content[:place] + put + content[place:])
        )
    )


@st.composite
def damaged_bytes(draw, content, most=8):
    """Bytes with some replaced, flipped, cut, put in or left out."""
    for _ in range(draw(st.integers(1, most))):
        place, cut = draw(st.integers(0, len(content))), draw(st.sampled_from([0, 0, 1, 4, 64]))
        put = draw(
            st.sampled_from([b"", b"\0", b"\r", b"'", b"\xed\xa0\x80", b"PK\x03\x04", b"\xff" * 4])
            | st.binary(max_size=2)
        )
        content = content[:place] + put + content[place + (cut or len(put)) :]
    return content[: draw(st.integers(0, len(content)))] if draw(chance(7)) else content


def at_times(damage, contents, one_in=7):
    """What ``contents`` draws, once in so many times after ``damage``."""
    return st.tuples(contents, chance(one_in)).flatmap(
        lambda drawn: damage(drawn[0]) if drawn[1] else st.just(drawn[0])
    )
