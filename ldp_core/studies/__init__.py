"""What a design would do: trials, questions one by one, views of whole collections, sweeps over epsilon and
types, plans, the two sides of epsilon, synthetic people, and what the papers' theorems say of it."""

from typing import TYPE_CHECKING

from ldp_core import parts

__all__ = [
    "asking",
    "outcomes",
    "planning",
    "privacy_accuracy",
    "simulate",
    "sweep",
    "synthetic",
    "theorems",
    "trial_frames",
]

if TYPE_CHECKING:
    from ldp_core.studies import (
        asking,
        outcomes,
        planning,
        privacy_accuracy,
        simulate,
        sweep,
        synthetic,
        theorems,
        trial_frames,
    )
else:
    __getattr__ = parts.of(__name__, __all__)
