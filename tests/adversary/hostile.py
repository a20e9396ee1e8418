"""Hostile numbers, texts and JSON documents, drawn from a random.Random."""

import json
import random
import string
from typing import Any

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


def text(rng: random.Random) -> str:
    """A hostile text, or a short ordinary one, or two joined."""
    kind = rng.random()
    if kind < 0.6:
        return rng.choice(TEXTS)
    if kind < 0.8:
        return "".join(rng.choices(string.ascii_letters + string.digits + " _.-", k=rng.randint(1, 12)))
    return rng.choice(TEXTS)[:40] + rng.choice(TEXTS)[:40]


def value(rng: random.Random, depth: int = 0) -> Any:
    """A JSON value of any kind."""
    kind = rng.randrange(9 if depth < 3 else 6)
    if kind < 2:
        return rng.choice(NUMBERS)
    if kind < 4:
        return text(rng)
    if kind == 4:
        return rng.choice([None, True, False, [], {}])
    if kind == 5:
        return _MARK.format(rng.randrange(len(RAW)))
    if kind == 6:
        return [value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    if kind == 7:
        return {text(rng): value(rng, depth + 1) for _ in range(rng.randint(0, 3))}
    return rng.choice([[rng.choice(NUMBERS)] * rng.choice([2, 101, 3000]), {f"k{i}": i for i in range(50)}])


def paths(document: Any, found: list | None = None, here: tuple = ()) -> list[tuple]:
    """The places of a document: the keys that lead to each value below the top."""
    found = [] if found is None else found
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, item in items:
        found.append((*here, key))
        paths(item, found, (*here, key))
    return found


def changed(rng: random.Random, document: Any, changes: int) -> Any:
    """The document (which is changed) after some mutations at places of its own."""
    for _ in range(changes):
        places = paths(document)
        if not places:
            break
        *steps, key = rng.choice(places)
        within = document
        for step in steps:
            within = within[step]
        _change(rng, within, key, document, places)
    return document


def _change(rng: random.Random, within: Any, key: Any, document: Any, places: list[tuple]) -> None:
    how = rng.randrange(10)
    if how < 3:
        within[key] = value(rng)
    elif how == 3:
        within[key] = _like(rng, within[key])
    elif how == 4:
        del within[key]
    elif how == 5 and isinstance(within, dict):
        within[text(rng)] = value(rng)
    elif how == 5:
        within.insert(key, within[key])
    elif how == 6 and isinstance(within, dict):
        within[rng.choice(["Name", "kind ", "__class__", str(key).upper(), text(rng)])] = within.pop(key)
    elif how == 6:
        within.extend([within[key]] * rng.choice([1, 70, 200]))
    elif how == 7:
        within[key] = [within[key]] if rng.random() < 0.5 else {"kind": within[key]}
    elif how == 8:  # what belongs elsewhere
        target = document
        for step in rng.choice(places):
            target = target[step]
        within[key] = json.loads(json.dumps(target))
    else:
        nested: Any = within[key]
        for _ in range(rng.choice([3, 50, 200])):
            nested = [nested]
        within[key] = nested


def _like(rng: random.Random, item: Any) -> Any:
    """Another value of the same kind, which gets past the check of types."""
    if isinstance(item, bool):
        return not item
    if isinstance(item, int | float) and abs(item) < 2**1000:
        return rng.choice([item + 1, -item, item * 2, item + 0.5, rng.choice(NUMBERS)])
    if isinstance(item, str):
        return text(rng)
    if isinstance(item, list) and item:
        return rng.choice([item[::-1], item[:1], item + item, rng.sample(item, len(item))])
    return value(rng)


def written(rng: random.Random, document: Any) -> str:
    """The JSON text of a document, hostile numbers as they are, at times damaged as a text."""
    content = json.dumps(document, ensure_ascii=rng.random() < 0.3)
    for i, raw in enumerate(RAW):
        for mark in (_MARK.format(i), json.dumps(_MARK.format(i))[1:-1]):
            content = content.replace(f'"{mark}"', raw)
    return damaged(rng, content) if rng.random() < 0.15 else content


def damaged(rng: random.Random, content: str) -> str:
    """A text cut, doubled, or with a piece of something else in it."""
    place = rng.randrange(len(content) + 1)
    how = rng.randrange(7)
    if how == 0:
        return content[:place]
    if how == 1:
        return content[:place] + rng.choice(TEXTS) + content[place:]
    if how == 2:
        return content + content
    if how == 3:
        return content.replace(":", ": {" * 3, 1)
    if how == 4:
        return rng.choice(["[" * 3000, '{"a":' * 3000]) + content
    if how == 5:
        return content[:place] + LONE + content[place:]
    return content.replace("{", '{"format": "ldp-design", ', rng.randint(1, 2))  # a key twice


def damaged_bytes(rng: random.Random, content: bytes, most: int = 8) -> bytes:
    """Bytes with some flipped, cut, put in, repeated or zeroed."""
    data = bytearray(content)
    for _ in range(rng.randint(1, most)):
        if not data:
            break
        place, how = rng.randrange(len(data)), rng.randrange(6)
        if how < 2:
            data[place] = rng.randrange(256)
        elif how == 2:
            data[place] ^= 1 << rng.randrange(8)
        elif how == 3:
            data[place:place] = rng.choice([b"\0", b"\xff\xff\xff\xff", b"\r", b"'", b"\xed\xa0\x80", b"PK\x03\x04"])
        elif how == 4:
            del data[place : place + rng.choice([1, 4, 64])]
        else:
            data[place : place + 4] = rng.choice([b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff"])
    return bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.15 else data)
