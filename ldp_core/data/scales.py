"""The order of categories: amounts by their size, known scales by their meaning, other texts as in a dictionary.

An amount is a number or an interval of numbers ("under 18", "10k-50k", "65 or more"). A scale is a list of words ("never",
"sometimes", "always"), or one word and its opposite in several degrees ("very low", "low", "high"). Texts that give no answer, such
as "Don't know", come last: they have no place in an order. All words are in scales.toml.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

Key = tuple[float, ...]
"""The place of a text among the others."""

_WORDS = tomllib.loads(Path(__file__).with_name("scales.toml").read_text(encoding="utf-8").replace("ß", "ss"))


def _numbers_of(table: str) -> dict[str, float]:
    """The number of each word in a table of words by numbers."""
    return {word: float(number) for number, words in _WORDS[table].items() for word in words.split(", ")}


def _pattern(before: str, name: str, after: str) -> re.Pattern[str]:
    return re.compile(f"{before}(?:{'|'.join(_WORDS['patterns'][name])}){after}")


_DEGREES, _POLES, _UNITS, _WORDED = map(_numbers_of, ("degrees", "poles", "units", "numbers"))
_NO_ANSWER, _NEUTRAL = _pattern("", "no_answer", "$"), _pattern("", "neutral", "$")
_NOUGHT, _FILLERS = _pattern("^", "nought", r"\b"), _pattern(r"[\W_]+|\b", "fillers", r"\b")
_BELOW, _ABOVE = _pattern(r"[<≤]|\b", "below", r"\b"), _pattern(r"[>≥+]|\b", "above", r"\b")
_BETWEEN = _pattern(r"(?:^|\W)(?:-|,|\.\.+|", "between", r")(?=$|\W)")
_SIGNS = str.maketrans("\u2018\u2019\u02bc\u201c\u201d\u2010\u2011\u2012\u2013\u2014\u2212", "'''\"\"------")
_NUMBERED = re.compile(
    r"^[(\[]?\d{1,3}(?:[)\]]|\s*[-.:=])\s*(?=[^\W\d])|(?<=[^\W\d])(?:\s*[(\[]\d{1,3}[)\]]|\s+[-=]\s+\d{1,3}|:\s*\d{1,3})$"
)
"""The number of a place on a scale, before its words ("1 - never") or behind them ("never (1)")."""
_NUMBER = re.compile(
    r"(?<![^\W_])(?<!\w[.,:/])(?:(?P<groups>[1-9]\d{0,2}(?:[ ,.']\d{3})+)(?!\d)(?P<decimals>[.,]\d+)?|(?P<plain>\d+(?:[.,]\d+)?))"
    rf"(?:\s*\+?\s*(?P<unit>{'|'.join(_UNITS)})\b)?"
)
_YEAR = re.compile(r"[ ,/'-]*\b((?:19|20)\d\d)\b[ ,/'-]*")
_MOSTLY, _LONGEST = 2 / 3, 80
"""A scale holds two thirds of the answers or more; texts of more characters stand on none."""
_PLAIN = 3.5
"""The degree of a word that stands alone."""


def arranged(texts: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Categories in their order: that of the scale that holds most of them, two thirds or more, else the alphabet's.

    Parameters
    ----------
    texts : sequence of str

    Returns
    -------
    answers : tuple of str
        The texts that have a place in the order, from low to high.
    unplaced : tuple of str
        The last of these, whose place is only that of the alphabet; all, where they are no scale that is known.
    apart : tuple of str
        The texts that give no answer.
    """
    in_turn = sorted(texts, key=natural)
    apart = tuple(filter(is_no_answer, in_turn))
    answers = [text for text in in_turn if text not in set(apart)]
    short = [text for text in answers if len(text) <= _LONGEST]
    scales = [_numbered(short), _amounts(short)]
    for words in ({text: _words(text) for text in short}, _without_common(short)):
        scales += [_listed(words), _in_degrees(words)]
    places = max((scale for scale in scales if len(set(scale.values())) > 1), key=len, default={})
    if len(places) < min(len(answers), max(3, _MOSTLY * len(answers))):
        places = {}
    placed = sorted(places, key=places.__getitem__)  # stable: equal ones as in the alphabet
    unplaced = tuple(text for text in answers if text not in places)
    return (*placed, *unplaced), unplaced, apart


def natural(text: str) -> tuple[list[object], str]:
    """A key for the order of the alphabet in which numbers count as such: "a2" before "a10"."""
    # Pieces alternate between text and digits, so like is compared with like; 18 digits keep int() cheap.
    pieces = re.split(r"(\d{1,18})", text.casefold())
    return [int(piece) if i % 2 else piece for i, piece in enumerate(pieces)], text


def is_no_answer(text: str) -> bool:
    """True for texts such as "Don't know" or "9 - Prefer not to say", which have no place in an order."""
    words = _words(text[: _LONGEST + 1])
    return bool(_NO_ANSWER.match(words)) or all(map(_NO_ANSWER.match, re.split(r" ?/ ?| or ", words)))


def alike(text: str) -> str:
    """The same for texts that look alike: capitals, spaces, typographic signs and a last point make no difference."""
    plain = unicodedata.normalize("NFKC", text).translate(_SIGNS).casefold()
    return " ".join(plain.removesuffix(".").split())


def _words(text: str) -> str:
    """The words of a text, without the number of its place on a scale, and without remarks in brackets."""
    words = _NUMBERED.sub("", alike(text)).strip()
    words = re.sub(r"^not (.+) at all$", r"not at all \1", words)
    return re.sub(r"\s*\([^)]*\)$", "", words) or words


def _without_common(texts: Sequence[str]) -> dict[str, str]:
    """The words of each text without those that all of them begin or end with, such as "risk" in "low risk"."""
    words = [_words(text).split() for text in texts]
    for place in (-1, 0):
        while words and min(map(len, words)) > 1 and len({pieces[place] for pieces in words}) == 1:
            words = [pieces[:-1] if place else pieces[1:] for pieces in words]
    return dict(zip(texts, map(" ".join, words), strict=True))


def _numbered(texts: Sequence[str]) -> dict[str, Key]:
    """Texts that say their places on a scale themselves: "never (1)", "2", "always (5)"."""
    found = {text: _NUMBERED.search(alike(text)) or re.fullmatch(r"\d{1,3}", alike(text)) for text in texts}
    return {text: (float(re.sub(r"\D", "", number[0])),) for text, number in found.items() if number is not None}


def _listed(words: Mapping[str, str]) -> dict[str, Key]:
    """The places of texts, by their ``words``, in the list that holds most of them. A year beside a word, as in "Jan 2024", counts
    before the word."""
    parts = {text: (_YEAR.search(said), _YEAR.sub("", said)) for text, said in words.items()}
    found: list[dict[str, Key]] = [
        {text: (float(year[1] if year else 0), places[word]) for text, (year, word) in parts.items() if word in places}
        for places in _lists()
    ]
    return max(found, key=len)


@lru_cache(maxsize=1)
def _lists() -> list[dict[str, float]]:
    """The place of each word, for each list. Words in brackets take each other's place."""
    lists = []
    for line in _WORDS["lists"].splitlines():
        places: dict[str, float] = {}
        for place, words in enumerate(line.split(" < ")):
            for start, choices, end in re.findall(r"([^|(]*)(?:\(([^)]*)\))?([^|]*)(?:\||$)", words):
                places |= {f"{start}{choice}{end}".strip(): float(place) for choice in choices.split("|")}
        lists.append(places)
    return lists


def _in_degrees(words: Mapping[str, str]) -> dict[str, Key]:
    """The places of texts whose ``words`` are one, or one and its opposite, in several degrees, or between the two."""
    parts = {text: _degree(said) for text, said in words.items()}
    found: dict[str, Key] = {text: (0.0,) for text, said in words.items() if _NEUTRAL.match(said)}
    without = {word for _, word in parts.values()}
    signs = {word: sign for word in without if (sign := _sign(word, without))}
    if not signs:  # a single word without an opposite
        return {text: (degree,) for text, (degree, _) in parts.items()} if len(without) == 1 else {}
    for text, (degree, word) in parts.items():
        if word in signs:
            # "Not at all" of a word that has an opposite is the most of that.
            opposed = signs[word] > 0 and degree < 1 and -1 in signs.values()
            found[text] = (degree - 5,) if opposed else (signs[word] * (degree + 0.1),)
    return found


def _degree(words: str) -> tuple[float, str]:
    """How much of what a text says: "very low" is 4 of "low", "agree strongly" 4 of "agree", "a little" 1 of nothing else."""
    pieces = words.split(" ")
    for size in range(len(pieces), 0, -1) if words not in _POLES else ():
        first, last = " ".join(pieces[:size]), " ".join(pieces[-size:])
        if first in _DEGREES:
            return _DEGREES[first], " ".join(pieces[size:])
        if last in _DEGREES:
            return _DEGREES[last], " ".join(pieces[:-size])
    return _PLAIN, words


def _sign(word: str, words: set[str]) -> float:
    """-1 or 1 for a word whose opposite is, or may be, among the ``words``; 0 for others."""
    negations = _WORDS["negations"]
    if any(word.startswith(negation) and word.removeprefix(negation) in words for negation in negations):
        return -1
    negated = word and any(f"{negation}{word}" in words for negation in negations)
    return _POLES.get(word, 1 if negated else 0)


def _amounts(texts: Sequence[str]) -> dict[str, Key]:
    """The places of numbers and intervals of numbers that have the same words beside them."""
    found = {text: amount for text in texts if (amount := _amount(_words(text))) is not None}
    beside = {words[:2] for _, words in found.values() if words}
    return {} if len(beside) > 1 else {text: key for text, (key, _) in found.items()}


def _amount(text: str) -> tuple[Key, str] | None:
    """The key of a number or an interval, and the words beside it; None for other texts."""
    text = re.sub(r"^[(\[]([^,]+),\s*([^,]+)[)\]]$", r"\1 to \2", text)  # an interval as mathematicians write it
    text = re.sub(rf"\ban?(?= (?:{'|'.join(_UNITS)})\b)", "1", _NOUGHT.sub("0", text))
    text = re.sub(r"[^\W\d]+", lambda word: f"{_WORDED[word[0]]:g}" if word[0] in _WORDED else word[0], text)
    numbers, rest = list(_NUMBER.finditer(text)), _NUMBER.sub(" ", text)
    for pattern in (_ABOVE, _BELOW, _BETWEEN, _FILLERS):
        rest = pattern.sub(" ", rest)
    values, units = [_value(number) for number in numbers], [_UNITS.get(number["unit"]) for number in numbers]
    if len(numbers) == 1:
        minus = re.search(r"(?:^|[^\w)])-$", text[: numbers[0].start()])
        kind = -1.0 if _BELOW.search(text) else 2.0 if _ABOVE.search(text) else 0.0
        return (values[0] * (units[0] or 1) * (-1 if minus else 1), kind), " ".join(rest.split())
    if len(numbers) != 2 or not _BETWEEN.search(between := text[numbers[0].end() : numbers[1].start()]):
        return None
    low, high = values[0] * (units[0] or units[1] or 1), values[1] * (units[1] or 1)
    low = low if low <= high else values[0] * (units[0] or 1)
    low = -low if re.search(r"^\W*-$", text[: numbers[0].start()]) else low
    return (low, 1.0, -high if re.search(r"(?:-|\w)\s*-$", between) else high), " ".join(rest.split())


def _value(number: re.Match[str]) -> float:
    """A number as it is written: signs before three digits are between thousands, others begin decimals."""
    whole = re.sub(r"\D", "", number["groups"] or "") + (number["decimals"] or "")
    return float((number["plain"] or whole).replace(",", "."))
