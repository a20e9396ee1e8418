"""Histogram mechanisms that a report on the joint value of a few attributes can be made with."""

from __future__ import annotations

from collections.abc import Callable

from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.unary import UnaryEncoding

Oracle = RandomizedResponse | SubsetSelection | UnaryEncoding
ORACLES: dict[str, tuple[str, Callable[[int, float], Oracle]]] = {
    "subset_selection": ("subset selection", SubsetSelection),
    "oue": ("optimised unary encoding", lambda n, epsilon: UnaryEncoding("oue", n, epsilon)),
    "randomized_response": ("randomized response", RandomizedResponse),
}
"""The name of each oracle in a sentence, and its constructor."""


def numbers_sent(oracle: Oracle) -> int:
    """Numbers in a report."""
    if isinstance(oracle, RandomizedResponse):
        return 1
    return oracle.size if isinstance(oracle, SubsetSelection) else oracle.n


def kept_numbers(oracle: Oracle) -> int:
    """Numbers that reports are added up to."""
    return oracle.n if oracle.channel is None else int(oracle.channel.shape[0])
