"""Text on a page: what comes from data, files or visitors is made safe where it is put in.

Streamlit draws text as Markdown. A page writes a literal, or a template with what is put into it by name: `info("{name} is empty.",
name=column)`. All that is put in is shown as it is, but numbers and what is `Markdown` already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ldp_core import wording

JOINER = "\N{WORD JOINER}"
"""A letter without width, put where a backslash does not help."""
_SPACES = re.compile(r"[^\S\N{NO-BREAK SPACE}]+")
_READ_LATER = re.compile(r":(?=[\w+/-]+:|//)|www|@|<(?=-)|-(?=[->])|[<>~](?==)", re.IGNORECASE)
_HARMLESS = re.compile(r"(?i:(?!.*(?:www|  ))(?:[a-z0-9](?:[a-z0-9 ,;'\"?/%=]|(?<=[a-z])[.:](?= |$))*)?)")
"""What needs no backslash: most sentences of ours."""
_SIGNS = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|$~:^&]")


class Markdown(str):
    """Text that is drawn as it is: our own words, with all that was put into them made safe."""

    def __add__(self, other: str) -> Markdown:
        return Markdown(str(self) + (other if isinstance(other, Markdown) else _escaped(other)))


def plain(text: object) -> Markdown:
    """Text of a user (labels, names, sentences that quote them) made safe to place in Markdown: shown as it is.

    Icons, emoji, arrows, addresses and e-mail are looked for in what is left once backslashes have been read, so these are
    taken apart by a letter no one sees.
    """
    if isinstance(text, Markdown):
        return text
    written = str(text).strip(" ")
    return Markdown(written if _HARMLESS.fullmatch(written) else _escaped(written).strip(" "))


def _escaped(text: str) -> str:
    line = _READ_LATER.sub(rf"\g<0>{JOINER}", wording.visible(_SPACES.sub(" ", text)))
    return _SIGNS.sub(r"\\\g<0>", line)


def text(template: str, /, **values: object) -> Markdown:
    """A literal ``template`` with ``values`` put in, all but numbers made safe."""
    if not values:
        return Markdown(template)
    return Markdown(template.format(**{k: v if isinstance(v, int | float) else plain(v) for k, v in values.items()}))


def join(between: str, parts: Iterable[object]) -> Markdown:
    """The ``parts``, each made safe, with a literal ``between`` them."""
    return Markdown(between.join(map(plain, parts)))


def listed(parts: Iterable[object], most: int = 3) -> Markdown:
    """At most ``most`` of the ``parts``, each made safe, as `wording.listed` lists names."""
    return Markdown(wording.listed(list(map(plain, parts)), most))


def spoken(sentence: str) -> str:
    """A sentence in Markdown as plain words, for screen readers; names made safe by `plain` come out as they are."""
    return re.sub(rf"\\(.)|[*_`${JOINER}]", r"\1", sentence)


def _drawn(kind: str) -> Callable[..., None]:
    """A function of Streamlit that takes a template, which is a literal, and what is put into it; nothing is drawn where nothing is said."""

    def draw(template: str, /, help: object = None, **values: object) -> None:
        if words := text(template, **values).strip():
            getattr(st, kind)(words, **({"help": plain(help)} if help else {}))

    return draw


markdown, caption, info, warning, error = map(_drawn, ("markdown", "caption", "info", "warning", "error"))


def metric(place: DeltaGenerator, label: str, value: object, help: str = "", **options: Any) -> None:
    """A number with a unit below its ``label``."""
    place.metric(plain(label), plain(value), help=plain(help), **options)
