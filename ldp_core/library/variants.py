"""Variants: mechanisms with some of their parameters fixed, by names such as ``hierarchical(branching=16, oracle=oue)``.

A variant has an entry like any mechanism, so whatever works by name (sweeps, charts) works with several of one mechanism.
``hierarchical()`` is the mechanism with nothing fixed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

from ldp_core.library.specification import Spec
from ldp_core.limits import MOST_MECHANISM_NAME
from ldp_core.wording import check_parameters, shortened

NAME = re.compile(r"\s*(\w+)\s*\(([^()]*)\)\s*", re.ASCII)
"""A mechanism with its parameters in brackets."""
FILLS = ("-open", "-open-dot")
DASHES = ("dash", "dot", "dashdot", "longdash", "longdashdot")
"""Marks that distinguish variants of one mechanism in charts; they keep its colour and the shape of
its marker."""


def split(name: str) -> tuple[str, dict[str, str]] | None:
    """The mechanism and the texts of its parameters, None where ``name`` is not written like that of a variant. ValueError, one
    sentence, where the parameters are not."""
    match = NAME.fullmatch(name) if len(name) <= MOST_MECHANISM_NAME else None
    if match is None:
        return None
    mechanism, inside = match.groups()
    texts: dict[str, str] = {}
    for pair in inside.split(",") if inside.strip() else ():
        parameter, equals, text = (part.strip() for part in pair.partition("="))
        if not (parameter and equals and text):
            raise ValueError(
                f"{shortened(name)!r} is not the name of a variant: write each parameter with its value, as in "
                "hierarchical(branching=16, oracle=oue)."
            )
        if parameter in texts:
            raise ValueError(f"{shortened(name)!r} gives {parameter} twice: leave one of them out.")
        texts[parameter] = text
    return mechanism, texts


def read(spec: Spec, texts: Mapping[str, str]) -> Spec:
    """The variant of ``spec`` whose parameters are written as ``texts``. ValueError, one sentence, as for `variant`."""
    check_parameters(spec.title, texts, spec.settings)
    return variant(spec, {name: spec.settings[name].read(name, text) for name, text in texts.items()})


def variant(spec: Spec, parameters: Mapping[str, Any]) -> Spec:
    """``spec`` with ``parameters`` fixed, as an entry of its own: its name (in one order, whatever theirs), title and look.

    ValueError, one sentence, for parameters that an analyst cannot set, and for values that the mechanism cannot have.
    """
    check_parameters(spec.title, parameters, spec.settings)
    for name, value in parameters.items():
        spec.settings[name].check(name, value)
    kinds = {name: kind for name, kind in spec.settings.items() if name in parameters}
    fixed = {name: kind.written(parameters[name]) for name, kind in kinds.items()}
    full, brief = (
        "".join(f", {kind.label(name, fixed[name], short)}" for name, kind in kinds.items()) for short in (False, True)
    )
    colour, marker = spec.style
    place = _place(spec, fixed)
    return replace(
        spec,
        name=f"{spec.name}({', '.join(f'{name}={value}' for name, value in fixed.items())})",
        title=spec.title + full,
        legend=(spec.legend or spec.title) + brief,
        build=partial(spec.build, **fixed),
        parameters={name: kind for name, kind in spec.parameters.items() if name not in fixed},
        style=(colour, marker + FILLS[place % len(FILLS)] if place else marker),
        dash=DASHES[place % len(DASHES)] if place else spec.dash,
        variant_of=spec.name,
        fixed=fixed,
    )


def _place(spec: Spec, fixed: Mapping[str, Any]) -> int:
    """The place of a variant among the ten looks that `FILLS` and `DASHES` make, 0 for the
    mechanism itself. Those that differ in one
    choice look different, and so do numbers up to a factor of five apart, or one to nine decades below 1."""
    parameters, place = spec.chosen(fixed), 0
    for order, (name, kind) in enumerate(spec.settings.items()):
        value, offered = parameters.get(name), kind.offered or ()
        if value in offered:
            place += 3**order * (1 + offered.index(value))
        elif isinstance(value, Real):
            size = float(value)
            place += 3**order * (1 + round(4 * math.log2(size) if size >= 1 else -math.log10(size)))
    return place
