"""Mechanisms outside the app: the description of a device, which `client.py` and `client.js` draw
reports from and `audit.py` recomputes.

A description holds whole numbers only. The grammar of its samplers stands in `ldp_core.deploy.kit.client`; a report is exactly the row that the
mechanism's `privatize` gives and its `aggregate` takes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import singledispatch

import numpy as np

from ldp_core import library
from ldp_core.data import columns
from ldp_core.data.domain import CategoricalAttribute, CombinedAttribute, DateAttribute, Domain, RangeAttribute
from ldp_core.data.domain.dates import first_day, period_of
from ldp_core.data.domain.product import Attribute
from ldp_core.deploy.kit.client import ONE, design_id, domain_id, format_of
from ldp_core.limits import MOST_DEVICE_ENTRIES, MOST_DEVICE_LABELS, MOST_ROW_CELLS
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.hrr import HadamardRandomizedResponse, sign_probabilities
from ldp_core.mechanisms.local_hashing import LocalHashing
from ldp_core.mechanisms.noise.additive import VectorMechanism
from ldp_core.mechanisms.on_classes import OnClasses
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.strata import InStrata
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.surveys.face import SurveyMechanism
from ldp_core.mechanisms.surveys.sampled import SampledSets
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import SplitSurvey
from ldp_core.mechanisms.trees.haar import Haar
from ldp_core.mechanisms.trees.node_reports import HierarchicalTree
from ldp_core.mechanisms.trees.tables import Grid
from ldp_core.mechanisms.unary import UnaryEncoding

Sampler = dict[str, object]
Terms = list[list[int]]
_WRITTEN = {
    "optimized": "Optimized (column generation)",
    "optimized_gradient": "Optimized (projected gradient)",
}  # as in the kits that are out: the id of a design is made of it


class NoDevice(ValueError):
    """A mechanism whose reports no device can draw exactly."""


def describe(mechanism: Mechanism, epsilon: str, domain: Domain | None = None) -> dict[str, object]:
    """The description of the device of ``mechanism``, a JSON object; ``epsilon`` is that of one report, as the decimal number entered.

    ``domain`` says how people's own values become types (or, for surveys, value indices). NoDevice for continuous noise and tables that
    are too large, ValueError for an epsilon or domain that is not the mechanism's.
    """
    written_epsilon = epsilon.strip()
    if not math.isclose(float(Fraction(written_epsilon)), mechanism.epsilon, rel_tol=1e-9):
        raise ValueError(
            f"The mechanism has epsilon {mechanism.epsilon:g}, not {written_epsilon}: describe it with its own."
        )
    if domain is not None and not mechanism.fits(domain.shape):
        raise ValueError(
            "The domain has other types than the mechanism: describe it with the domain that it was built for."
        )
    entry = library.known(mechanism.name)
    clear = isinstance(mechanism, InStrata)  # a column of one value makes no groups
    some = not mechanism.protects_all
    values = None if domain is None else {"attributes": [_attribute(one, clear, some) for one in domain.attributes]}
    drawn: Sampler = {"sizes": list(mechanism.sizes), **sampler(mechanism)}
    description: dict[str, object] = {
        "format": format_of(drawn),
        "epsilon": written_epsilon,
        "mechanism": _WRITTEN.get(mechanism.name) or (mechanism.name if entry is None else entry.title),
        "domain": values,
        "domain_id": domain_id(values),
        "signature": None,
        "sampler": drawn,
    }
    return {"design": design_id(description), **description}


# --- the domain --------------------------------------------------------------------------------------------------------


def _attribute(attribute: Attribute, clear: bool = False, some: bool = False) -> dict[str, object]:
    """What `ldp_core.deploy.kit.client.encode` asks of an attribute; what the collector knows is said in the ``clear``. Where only ``some`` values are
    protected, which ones."""
    other, missing = attribute.outside == "other", attribute.missing == "category"
    ordinary = attribute.size - other - missing
    special = [ordinary] * other + [attribute.size - 1] * missing
    words = dict(zip(attribute.decode(np.array(special, dtype=np.int64)), special, strict=True))
    description: dict[str, object]
    if isinstance(attribute, CategoricalAttribute | CombinedAttribute):
        places = {value: i for i, value in enumerate(attribute.values)}
        words |= places | {text: places[category] for text, category in attribute.merged}
        words = {columns.plain(text): place for text, place in words.items()} | words
        description = {"kind": "categories"}
        if isinstance(attribute, CombinedAttribute):
            parts = {"parts": list(attribute.parts), "sign": attribute.sign, "between": attribute.between}
            description |= {"holds": attribute.holds, **parts}
    elif isinstance(attribute, DateAttribute):
        description = {
            "kind": "dates",
            "unit": attribute.unit,
            "first": period_of(first_day(attribute.first, attribute.unit), attribute.unit),
            "day_first": attribute.day_first,
            "unread": attribute.non_dates == "missing",
        }
    else:
        if ordinary <= MOST_DEVICE_LABELS:
            words |= {label: i for i, label in enumerate(attribute.decode(np.arange(ordinary)))}
        description = {"kind": "numbers", "unread": attribute.non_numbers == "missing"}
        if isinstance(attribute, RangeAttribute):
            ends = {"low": attribute.low, "high": attribute.high, "bins": attribute.bins, "integer": attribute.integer}
            description |= {"kind": "range", **ends}
        else:
            description["edges"] = list(attribute.edges)
        if attribute.no_answer:
            description["no_answer"] = list(attribute.no_answer)
    return {
        "name": attribute.name,
        "size": attribute.size,
        "ordinary": ordinary,
        "words": words,
        "clamp": attribute.outside == "clamp",
        "other": ordinary if other else None,
        "missing": attribute.size - 1 if missing else None,
        **({"known": True} if attribute.known and clear else {}),
        **({"secret": np.flatnonzero(attribute.secret_types).tolist()} if some and attribute.secret_types else {}),
        **description,
    }


# --- samplers ----------------------------------------------------------------------------------------------------------


@singledispatch
def sampler(mechanism: object) -> Sampler:
    """The sampler of the reports of ``mechanism``. NoDevice where nothing does."""
    raise NoDevice(f"No device can draw the reports of {type(mechanism).__name__}: its sampler is not known.")


@sampler.register
def _continuous(mechanism: VectorMechanism) -> Sampler:
    entry = library.known(mechanism.name)
    raise NoDevice(
        f"{mechanism.name if entry is None else entry.title} adds continuous noise, which no device can draw exactly, and rounded noise "
        "can give people away. Choose a mechanism with a finite number of reports, such as the optimized one."
    )


@sampler.register
def _stratified(mechanism: InStrata) -> Sampler:
    return {
        "kind": "known",
        "sizes": [len(mechanism.strata), *mechanism.drawn_by_design[0].sizes],
        "draws": [sampler(made) for made in mechanism.drawn_by_design],
        "which": mechanism.which.tolist(),
        "width": 1 + mechanism.width,
    }


@sampler.register
def _on_classes(mechanism: OnClasses) -> Sampler:
    """The class of the type first: by dividing, where the questions use some neighbouring attributes, and by a list of
    what is left."""
    divide, modulo = _runs(mechanism.classes)
    classes = mechanism.classes[: divide * modulo : divide]
    drawn = sampler(mechanism.drawn)
    if not np.array_equal(classes, np.arange(modulo)):
        drawn = {"kind": "classes", "classes": classes.tolist(), "draw": drawn}
    if modulo == mechanism.n:
        return drawn
    return {"kind": "each", **_parts([([[0, divide * modulo, divide, 1]], drawn)])}


def _runs(classes: np.ndarray) -> tuple[int, int]:
    """The largest d and the least m such that the class of type u depends on u // d modulo m only, where d m divides n."""
    n = len(classes)
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    divide = max(d for d in divisors if (classes.reshape(-1, d) == classes[::d, None]).all())
    left = classes[::divide]
    return divide, min(m for m in divisors if len(left) % m == 0 and (left.reshape(-1, m) == left[:m]).all())


@sampler.register
def _explicit(mechanism: ExplicitMechanism) -> Sampler:
    Q, secret = mechanism.strategy, mechanism.promised
    if Q.size > MOST_DEVICE_ENTRIES:
        return _two_valued(Q)
    steps = Q.T * float(ONE)
    whole = steps.astype(np.int64)
    if (whole != steps).any() or (whole.sum(axis=1) != ONE).any():
        raise ValueError(
            "The strategy is not a table of whole numbers of 2^-53 whose columns sum to 1: quantise it first."
        )
    some = {} if secret.all() else {"secret": np.flatnonzero(secret).tolist()}
    return {"kind": "table", "columns": whole.tolist(), **some}


def _two_valued(Q: np.ndarray) -> Sampler:
    """A large table in bits, where all rows but the last one have two values."""
    rows = Q[:-1]
    low, high = rows.min(axis=1), rows.max(axis=1)
    raised = rows > low[:, None]
    if (rows != np.where(raised, high[:, None], low[:, None])).any():
        raise NoDevice(
            f"The table of this mechanism has {Q.shape[0]:,} x {Q.shape[1]:,} chances, more than the {MOST_DEVICE_ENTRIES:,} that fit into a device. "
            "Use coarser bins, or another mechanism, such as the optimized one."
        )
    low, high, rest = ((chances * float(ONE)).astype(np.int64).tolist() for chances in (low, high, Q[-1]))
    cells = [column.tobytes().hex() for column in np.packbits(raised.T, axis=1)]
    return {"kind": "two_valued", "low": low, "high": high, "cells": cells, "rest": rest}


@sampler.register
def _randomized_response(mechanism: RandomizedResponse) -> Sampler:
    return {"kind": "response", "n": mechanism.n, "truth": _steps(mechanism.truthful)}


@sampler.register
def _subset_selection(mechanism: SubsetSelection) -> Sampler:
    return {"kind": "subset", "n": mechanism.n, "size": mechanism.size, "inside": _steps(mechanism.p)}


@sampler.register
def _unary_encoding(mechanism: UnaryEncoding) -> Sampler:
    return {"kind": "bits", "n": mechanism.n, "own": _steps(mechanism.p), "other": _steps(mechanism.q)}


@sampler.register
def _local_hashing(mechanism: LocalHashing) -> Sampler:
    keep = _steps(mechanism.keep)
    return {"kind": "hash", "n": mechanism.n, "buckets": mechanism.buckets, "digits": mechanism.digits, "keep": keep}


@sampler.register
def _hadamard_randomized_response(mechanism: HadamardRandomizedResponse) -> Sampler:
    return _signs(mechanism.n, mechanism.coefficients, mechanism.epsilon)


def _signs(n: int, coefficients: range, epsilon: float) -> Sampler:
    flip = _steps(sign_probabilities(epsilon)[1])
    return {"kind": "sign", "n": n, "first": coefficients.start, "count": len(coefficients), "flip": flip}


@sampler.register
def _haar(mechanism: Haar) -> Sampler:
    """A level, and there the half block as a signed block: b is block b, and b + m when the value is in its right half."""
    parts = []
    for level, blocks in enumerate(mechanism.blocks):
        block, half = 2 ** (level + 1), 2**level
        terms = [[0, mechanism.tree.n, block, 1], [0, block, half, blocks]]
        parts.append((terms, _signs(2 * blocks, range(blocks, 2 * blocks), mechanism.epsilon)))
    return _one_of(parts, width=2)


@sampler.register
def _tree(mechanism: HierarchicalTree) -> Sampler:
    tree = mechanism.tree
    nodes = _cells(tree) if isinstance(tree, Grid) else [[[0, tree.n, width, 1]] for width in tree.widths]
    parts = [(terms, sampler(oracle)) for terms, oracle in zip(nodes, mechanism.oracles, strict=True)]
    shares = None if isinstance(tree, Grid) or tree.level_shares is None else np.array(tree.level_shares)
    return _one_of(parts, width=1 + mechanism.width, shares=shares)


def _cells(grid: Grid) -> list[Terms]:
    """The cell of a type in each table: the node of its first value, times the columns of the table, and the node of its second."""
    n, second = grid.n, grid.second.n
    widths = [(a, b) for a in (*grid.first.widths, grid.first.n) for b in (*grid.second.widths, second)]
    return [
        [[0, n, second * a, columns], [0, second, b, 1]]
        for (a, b), (_, columns) in zip(widths, grid.tables, strict=False)  # that of the two roots is left out
    ]


@sampler.register
def _sampled_sets(mechanism: SampledSets) -> Sampler:
    parts = [(_table_of(mechanism, members), sampler(oracle)) for members, _, oracle in mechanism.table_reports]
    return _one_of(parts, width=1 + mechanism.width, shares=mechanism.shares, fill=-1)


@sampler.register
def _scrambled_patterns(mechanism: ScrambledPatterns) -> Sampler:
    cells = sum({id(sent.cells): sent.cells.size for sent in mechanism.patterns}.values())
    if cells > MOST_ROW_CELLS:
        raise NoDevice(
            f"The patterns of this mechanism have {cells:,} cells, more than the {MOST_ROW_CELLS:,} that fit into a device: use coarser bins."
        )
    known: dict[tuple[int, float], Sampler] = {}
    parts = []
    for sent, p in zip(mechanism.patterns, mechanism.true_probability.tolist(), strict=True):
        key = id(sent.cells), p  # patterns of many sets share their cells
        if key not in known:
            digits = "".join(np.where(sent.cells.ravel(), "1", "0").tolist())
            known[key] = {"kind": "pattern", "sizes": list(sent.cells.shape), "cells": digits, "inside": _steps(p)}
        parts.append((_table_of(mechanism, sent.attributes), known[key]))
    return _one_of(parts, width=1 + mechanism.width, shares=mechanism.shares, fill=-1)


@sampler.register
def _split_survey(mechanism: SplitSurvey) -> Sampler:
    parts: list[tuple[Terms | None, Sampler]] = [
        (_table_of(mechanism, group.attributes), sampler(group.mechanism)) for group in mechanism.tables
    ]
    if mechanism.rest is not None:
        parts.append((None, sampler(mechanism.rest)))
    return _one_of(parts, width=1 + mechanism.width, shares=mechanism.shares, fill=-1)


# --- what they are made of ---------------------------------------------------------------------------------------------


def _steps(probability: float) -> int:
    """A probability of a mechanism as a whole number of 2^-53, which it is."""
    steps = Fraction(probability) * ONE
    if steps.denominator != 1:
        raise ValueError(f"The probability {probability!r} is no whole number of 2^-53.")
    return steps.numerator


def _table_of(mechanism: SurveyMechanism, attributes: Sequence[int]) -> Terms:
    """The cell of a record in the table of some attributes, the last one fastest."""
    sizes = [mechanism.sizes[i] for i in attributes]
    return [[i, size, 1, math.prod(sizes[k + 1 :])] for k, (i, size) in enumerate(zip(attributes, sizes, strict=True))]


def _one_of(
    parts: Sequence[tuple[Terms | None, Sampler]], *, width: int, shares: np.ndarray | None = None, fill: int = 0
) -> Sampler:
    """One of some samplers, evenly or with ``shares``."""
    steps = None if shares is None else [_steps(share) for share in shares.tolist()]
    return {"kind": "one_of", **_parts(parts), "shares": steps, "width": width, "fill": fill}


def _parts(parts: Sequence[tuple[Terms | None, Sampler]]) -> Sampler:
    """The parts, each different sampler written once."""
    draws: dict[str, int] = {}
    different: list[Sampler] = []
    described = []
    texts = {id(draw): json.dumps(draw, sort_keys=True) for _, draw in parts}
    for terms, draw in parts:
        text = texts[id(draw)]
        if text not in draws:
            draws[text] = len(different)
            different.append(draw)
        described.append({"draw": draws[text], "value": terms})
    return {"draws": different, "parts": described}
