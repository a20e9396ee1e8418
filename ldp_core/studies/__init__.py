"""Studies of a design: trials, single questions, views of whole collections, sweeps over epsilon
and types, curves, and the papers' theorems for it."""

from typing import TYPE_CHECKING

from ldp_core import parts

__all__ = [
    "asking",
    "curves",
    "outcomes",
    "simulate",
    "sweep",
    "theorems",
]

if TYPE_CHECKING:
    from ldp_core.studies import (
        asking,
        curves,
        outcomes,
        simulate,
        sweep,
        theorems,
    )
else:
    __getattr__ = parts.of(__name__, __all__)
