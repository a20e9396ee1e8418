"""The order of categories: amounts by their size, known scales by their meaning, other texts as in a dictionary.

An amount is a number or an interval of numbers ("under 18", "10k-50k", "65 or more"). A scale is a line of scales.txt ("never",
"sometimes", "always"), or one word and its opposite in several degrees ("very low", "low", "high"). Texts that give no answer, such
as "Don't know", come last: they have no place in an order.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

Key = tuple[float, ...]
"""Where a text stands among the others."""

_SIGNS = str.maketrans("\u2018\u2019\u02bc\u201c\u201d\u2010\u2011\u2012\u2013\u2014\u2212", "'''\"\"------")
_NUMBERED = re.compile(
    r"^[(\[]?\d{1,3}(?:[)\]]|\s*[-.:=])\s*(?=[^\W\d])|(?<=[^\W\d])(?:\s*[(\[]\d{1,3}[)\]]|\s+[-=]\s+\d{1,3}|:\s*\d{1,3})$"
)
"""The number of a place on a scale, before its words ("1 - never") or behind them ("never (1)")."""

NO_ANSWERS = re.compile(
    r"(i )?(don't|dont|do not|can't|cannot) (know|say|remember|recall|wish to answer|want to (say|answer))( .*)?|d\.k\.|"
    r"(i'm |i am )?(not|un)( )?(sure|certain)|no (opinion|answer|response|idea)|hard to say|unable to (say|answer)|"
    r"(i( would|'d)? )?(prefer|rather|choose|wish) not( to)?( \w+)?|(i )?(refuse|decline|skip)(d|ped)?( to \w+)?|refusal|"
    r"(does )?not (applicable|asked|known|stated|specified|answered|reported|available|apply)|did not answer|unknown|undisclosed|"
    r"unspecified|missing( value)?|(ich )?wei(ß|ss) (ich )?nicht|kann ich nicht sagen|keine (angaben?|antwort|meinung)|k\. ?a\.|"
    r"unbekannt|verweigert|(möchte|will) (ich )?nicht \w+|(je )?ne sai[ts] pas|n\.s\.p\.|(sans|pas d'|aucune )(opinion|réponse|avis)|"
    r"(je )?préfère ne pas \w+|refus|ne se prononce pas|non (concerné|réponse)e?|inconnu|no (lo )?s(é|abe)|"
    r"no (contesta|responde|aplica)|no sabe ?[-/] ?no (contesta|responde)|(prefiero|prefiere) no \w+|sin (respuesta|opinión)|"
    r"desconocido|non (so|lo so|risponde|applicabile|saprei)|non sa( ?/ ?non risponde)?|preferisco non \w+|nessuna (risposta|opinione)|sconosciuto"
)
"""Texts that give no answer, in English, German, French, Spanish and Italian."""


DEGREES = {
    0.0: "not at all, not in the least, überhaupt nicht, gar nicht, pas du tout, nada, per niente, per nulla, para nada",
    0.3: "not, nicht, pas, no, non, not really, hardly, barely, kaum, à peine",
    0.6: "not very, not too, not so, not particularly, not that, wenig, nicht sehr, peu, pas très, poco, no muy, non molto",
    1.0: "slightly, a little, a little bit, a bit, mildly, minimally, to a small extent, ein wenig, etwas, un peu, un poco, un po'",
    2.0: "somewhat, rather, moderately, fairly, partly, partially, reasonably, tend to, to some extent, to a moderate extent, eher, teilweise, plutôt, algo, abbastanza, piuttosto",
    3.0: "quite, mostly, largely, generally, considerably, pretty, weitgehend, ziemlich, assez, bastante",
    4.0: "very, very much, strongly, highly, a lot, much, really, greatly, to a large extent, to a great extent, viel, beaucoup, mucho, sehr, stark, très, fortement, muy, molto, fortemente",
    5.0: "extremely, a great deal, exceptionally, completely, totally, fully, entirely, absolutely, definitely, far, äußerst, völlig, absolut, "
    "voll und ganz, vollkommen, extrem, extrêmement, tout à fait, totalement, extremadamente, totalmente, completamente, "
    "estremamente, del tutto",
}
"""Words before or behind another one that say how much of it there is."""
_PLAIN = 3.5
_DEGREE = {word: degree for degree, words in DEGREES.items() for word in words.split(", ")}
_LOW = (
    "disagree, bad, poor, low, negative, worse, oppose, against, dislike, disapprove, difficult, hard, useless, less, lower, fewer, "
    "smaller, decreased, decrease, declined, weak, weaker, slow, slower, small, cheap, boring, tense, sad, too little, too few, too low, "
    "too small, too short, en desacuerdo, in disaccordo, niedrig, gering, schlecht, schlechter, weniger, schwach, schwierig, schwer, "
    "traurig, bas, basse, faible, mauvais, pire, moins, difficile, mécontent, bajo, baja, malo, peor, menos, difícil, basso, bassa, "
    "cattivo, peggio, meno"
)
_HIGH = (
    "agree, good, high, positive, better, support, favor, favour, in favor, in favour, for, like, approve, easy, useful, more, higher, "
    "larger, bigger, increased, increase, grown, strong, stronger, fast, faster, large, expensive, interesting, relaxed, happy, too much, "
    "too many, too high, too large, too long, de acuerdo, d'accordo, hoch, gut, besser, mehr, stark, einfach, leicht, fröhlich, haut, "
    "haute, élevé, élevée, fort, forte, bon, mieux, plus, facile, content, alto, alta, bueno, mejor, más, fácil, buono, meglio, più"
)
_POLES = dict.fromkeys(_LOW.split(", "), -1) | dict.fromkeys(_HIGH.split(", "), 1)
_NEGATIONS = ("un", "in", "im", "dis", "il", "ir", "not ", "non-", "non ", "pas ", "no ", "nicht ", "des", "mis")
_NEUTRAL = re.compile(
    r"neutral.*|neither.*|(about |just )?right|as expected|undecided|indifferent|(stayed |remained |about )?(the )?same.*|no (change|difference)|unchanged|medium|"
    r"moderate|mid|middle|average|normal|mixed|it depends|(weder|teils|ni|né) ?.*|mittel.*|unverändert|gleich.*|moyen(ne)?|medi[oa]|"
    r"neutr[eoa]|indifférente?|indiferente|indifferente|regular|ok|okay"
)

_UNITS = {
    1.0: "sec secs second seconds sekunden secondes segundos secondi",
    60.0: "min mins minute minutes minuten minutos minuti",
    3_600.0: "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore",
    86_400.0: "day days tag tage tagen jour jours día días dia dias giorno giorni",
    604_800.0: "wk wks week weeks woche wochen semaine semaines semana semanas settimana settimane",
    2_629_800.0: "mo mos month months monat monate monaten mois mes meses mese mesi",
    31_557_600.0: "yr yrs year years jahr jahre jahren an ans année années año años anno anni",
    1e3: "k tsd thousand tausend kb mille mil mila",
    1e6: "m mio mn mm million millions millionen mb",
    1e9: "b bn mrd billion billions gb km",
    1e12: "tb",
}
"""What a unit multiplies a number by where the texts of a scale have several. A kilometre is a thousand metres, "m" being a million."""
_UNIT = {unit: factor for factor, units in _UNITS.items() for unit in units.split()}
_ANY_UNIT = "|".join(_UNIT)
_ONE_TO_TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORDED = {"once": "1", "twice": "2"} | {word: str(number) for number, word in enumerate(_ONE_TO_TEN, 1)}
_NOUGHT = re.compile(
    r"^(no|none|never|not any|nothing|nie|keine?r?|jamais|aucune?|nunca|ningun[oa]?|ningún|mai|nessun[oa]?)\b"
)
_NUMBER = re.compile(
    rf"(?<![^\W_])(?<!\w[.,:/])(?:(?P<groups>[1-9]\d{{0,2}}(?:[ ,.']\d{{3}})+)(?!\d)(?P<decimals>[.,]\d+)?|(?P<plain>\d+(?:[.,]\d+)?))"
    rf"(?:\s*\+?\s*(?P<unit>{_ANY_UNIT})\b)?"
)
_BELOW = re.compile(
    r"<|≤|\b(under|below|(less|fewer|younger|lower|smaller|no more|not more) than|up to|at most|before|max(imum)?|(or|and) "
    r"(less|fewer|under|below|younger|lower|earlier)|unter|bis|weniger als|höchstens|jünger als|(oder|und) (weniger|jünger)|moins|"
    r"jusqu'à|au plus|maximum|(ou|et) moins|menos|hasta|menor(es)?|como máximo|meno|fino a|sotto|al massimo|inferior(e|es)?|inférieur)\b"
)
_ABOVE = re.compile(
    r">|≥|\+|\b(over|above|(more|older|greater|higher|larger|longer) than|at least|from|after|since|plus|(or|and) (more|over|above|"
    r"older|up|higher|greater|later|longer|beyond|upwards?)|über|mehr|älter|mindestens|ab|(oder|und) (mehr|älter|darüber)|plus|au moins|"
    r"à partir|más|mayor(es)?|al menos|desde|a partir|oltre|più|almeno|superior(e|es)?|supérieur)\b"
)
_BETWEEN = re.compile(
    r"(?:^|[^\w])(-|to|through|thru|until|till|and|bis|und|à|et|a|y|al|hasta|e|ed|\.\.+|,)(?=$|[^\w])"
)
_FILLERS = re.compile(
    r"\b(st|nd|rd|th|between|of|age[ds]?|from|the|or|and|zwischen|und|oder|von|de|entre|tra|da|ou|et|o|y|e|i)\b|[\W_]+"
)
_YEAR = re.compile(r"[ ,/'-]*\b((?:19|20)\d\d)\b[ ,/'-]*")
_MOSTLY, _LONGEST = 2 / 3, 80
"""A scale holds two thirds of the answers or more; texts of more characters stand on none."""


@dataclass(frozen=True)
class Arranged:
    """Categories in their order.

    Attributes
    ----------
    answers : tuple of str
        Those that have a place in it, from low to high.
    unplaced : tuple of str
        Answers whose place is only that of the alphabet: all, where they are no scale that is known.
    apart : tuple of str
        Those that give no answer, which come last.
    """

    answers: tuple[str, ...]
    unplaced: tuple[str, ...]
    apart: tuple[str, ...]


def arranged(texts: Sequence[str]) -> Arranged:
    """The categories ``texts`` in their order: that of a scale that holds two thirds of the answers or more, else the alphabet's."""
    apart = sorted(filter(is_no_answer, texts), key=natural)
    answers = sorted((text for text in texts if not is_no_answer(text)), key=natural)
    short, places = [text for text in answers if len(text) <= _LONGEST], dict[str, Key]()
    for scale in (_numbered, _amounts, _listed, _in_degrees):
        found = scale(short)
        if len(found) > len(places) and len(set(found.values())) > 1:
            places = found
    if len(places) < min(len(answers), max(3, _MOSTLY * len(answers))):
        places = {}
    answers.sort(key=lambda text: (text not in places, places.get(text, ())))  # stable: equal ones as in the alphabet
    return Arranged(tuple(answers), tuple(text for text in answers if text not in places), tuple(apart))


def natural(text: str) -> tuple[list[object], str]:
    """A key for the order of the alphabet in which numbers count as such: "a2" before "a10"."""
    # Pieces alternate between text and digits, so like is compared with like; 18 digits keep int() cheap.
    pieces = re.split(r"(\d{1,18})", text.casefold())
    return [int(piece) if i % 2 else piece for i, piece in enumerate(pieces)], text


def is_no_answer(text: str) -> bool:
    """True for texts such as "Don't know" or "9 - Prefer not to say", which have no place in an order."""
    words = _words(text[: _LONGEST + 1])
    return words == "ns/nc" or all(map(NO_ANSWERS.fullmatch, re.split(r" ?/ ?| or ", words)))


def alike(text: str) -> str:
    """The same for texts that look alike: capitals, spaces, typographic signs and a last point make no difference."""
    plain = unicodedata.normalize("NFKC", text).translate(_SIGNS).casefold()
    return " ".join(plain.removesuffix(".").split())


def _words(text: str) -> str:
    """The words of a text, without the number of its place on a scale, and without remarks in brackets."""
    words = _NUMBERED.sub("", alike(text)).strip()
    return re.sub(r"\s*\([^)]*\)$", "", words) or words


def _numbered(texts: Sequence[str]) -> dict[str, Key]:
    """Texts that say their places on a scale themselves: "never (1)", "always (5)"."""
    found = {text: _NUMBERED.search(alike(text)) or re.fullmatch(r"\d{1,3}", alike(text)) for text in texts}
    return {text: (float(re.sub(r"\D", "", number[0])),) for text, number in found.items() if number is not None}


def _listed(texts: Sequence[str]) -> dict[str, Key]:
    """The places of texts in the list that holds most of them. A year beside a word, as in "Jan 2024", counts before the word."""
    best = dict[str, Key]()
    split = {text: (_YEAR.search(_words(text)), _YEAR.sub("", _words(text))) for text in texts}
    for places in _lists():
        found: dict[str, Key] = {
            text: (float(year[1]) if year else 0.0, places[word])
            for text, (year, word) in split.items()
            if word in places
        }
        best = max(best, found, key=len)
    return best


@lru_cache(maxsize=1)
def _lists() -> list[dict[str, float]]:
    """The place of each word, for each line of scales.txt."""
    lists = []
    for line in Path(__file__).with_name("scales.txt").read_text(encoding="utf-8").splitlines():
        places: dict[str, float] = {}
        for place, words in enumerate(line.split(" < ")):
            for start, choices, end in re.findall(r"([^|(]*)(?:\(([^)]*)\))?([^|]*)(?:\||$)", words):
                places |= {f"{start}{middle}{end}".strip(): float(place) for middle in choices.split("|")}
        lists.append(places)
    return lists


def _in_degrees(texts: Sequence[str]) -> dict[str, Key]:
    """The places of one word, or of a word and its opposite, in several degrees, with what is between the two."""
    parts = {text: _degree(_words(text)) for text in texts}
    words = {word for _, word in parts.values()}
    signs = {word: sign for word in words if (sign := _sign(word, words))}
    if not signs:  # a single word without an opposite
        return {text: (degree,) for text, (degree, _) in parts.items()} if len(words) == 1 else {}
    found: dict[str, Key] = {}
    for text, (degree, word) in parts.items():
        if word in signs:
            opposed = (
                signs[word] > 0 and degree < 1 and -1 in signs.values()
            )  # "not at all" of a word that has an opposite
            found[text] = (degree - 5,) if opposed else (signs[word] * (degree + 0.1),)
        elif _NEUTRAL.fullmatch(_words(text)):
            found[text] = (0.0,)
    return found


def _degree(words: str) -> tuple[float, str]:
    """How much of what a text says: "very low" is 4 of "low", "agree strongly" 4 of "agree", "a little" 1 of nothing else."""
    pieces = words.split(" ")
    if words in _POLES:
        return _PLAIN, words
    for size in range(len(pieces), 0, -1):
        first, last = " ".join(pieces[:size]), " ".join(pieces[-size:])
        if first in _DEGREE:
            return _DEGREE[first], " ".join(pieces[size:])
        if last in _DEGREE:
            return _DEGREE[last], " ".join(pieces[:-size])
    return _PLAIN, words


def _sign(word: str, words: set[str]) -> int:
    """-1 or 1 for a word whose opposite is, or may be, among the ``words``; 0 for others."""
    if any(word.startswith(negation) and word.removeprefix(negation) in words for negation in _NEGATIONS):
        return -1
    negated = word and any(f"{negation}{word}" in words for negation in _NEGATIONS)
    return _POLES.get(word, 1 if negated else 0)


def _amounts(texts: Sequence[str]) -> dict[str, Key]:
    """The places of numbers and intervals of numbers that have the same words beside them."""
    found = {text: amount for text in texts if (amount := _amount(_words(text))) is not None}
    beside = {words[:2] for _, words in found.values() if words}
    return {} if len(beside) > 1 else {text: key for text, (key, _) in found.items()}


def _amount(text: str) -> tuple[Key, str] | None:
    """The key of a number or an interval, and the words beside it; None for other texts."""
    text = re.sub(r"^[(\[]([^,]+),\s*([^,]+)[)\]]$", r"\1 to \2", text)  # an interval as mathematicians write it
    text = re.sub(rf"\ban?(?= (?:{_ANY_UNIT})\b)", "1", _NOUGHT.sub("0", text))
    text = re.sub(r"[^\W\d]+", lambda word: _WORDED.get(word[0], word[0]), text)
    numbers = list(_NUMBER.finditer(text))
    rest = _BETWEEN.sub(" ", _BELOW.sub(" ", _ABOVE.sub(" ", _NUMBER.sub(" ", text))))
    words = " ".join(_FILLERS.sub(" ", rest).split())
    if len(numbers) == 1:
        value, minus = _value(numbers[0]) * _UNIT.get(numbers[0]["unit"], 1), text[: numbers[0].start()]
        value = -value if re.search(r"(?:^|[^\w)])-$", minus) else value
        if _BELOW.search(text):
            return (value, -1.0, value), words
        return ((value, 2.0, math.inf), words) if _ABOVE.search(text) else ((value, 0.0, value), words)
    if len(numbers) != 2 or not _BETWEEN.search(text[numbers[0].end() : numbers[1].start()]):
        return None
    low, high = map(_value, numbers)
    low = -low if re.search(r"^\W*-$", text[: numbers[0].start()]) else low
    high = -high if re.search(r"(?:-|\w)\s*-$", text[numbers[0].end() : numbers[1].start()]) else high
    low_unit, high_unit = (_UNIT.get(number["unit"]) for number in numbers)
    low, high = low * (low_unit or high_unit or 1), high * (high_unit or 1)
    return (low if low <= high else low / (high_unit or 1), 1.0, high), words


def _value(number: re.Match[str]) -> float:
    """A number as it is written: signs before three digits are between thousands, others begin decimals."""
    whole = re.sub(r"\D", "", number["groups"] or "") + (number["decimals"] or "")
    return float((number["plain"] or whole).replace(",", "."))
