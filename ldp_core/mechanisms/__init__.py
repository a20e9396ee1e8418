"""What people send and what the collector makes of it: a file a family. Which there are, and how to build one by its name,
stands in `ldp_core.library`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ldp_core.mechanisms.base import FLOATING_POINT, Audit, Estimate, FiniteOutput, Mechanism, Reports
from ldp_core.mechanisms.explicit import ExplicitMechanism

__all__ = [
    "FLOATING_POINT",
    "Audit",
    "Estimate",
    "ExplicitMechanism",
    "FiniteOutput",
    "Mechanism",
    "Reports",
    "create",
    "names",
]


def __getattr__(name: str) -> Any:
    # People look for these two beside the mechanisms; the library, which also fits some, stands above and is found when asked.
    if name in ("create", "names"):
        return getattr(import_module("ldp_core.library"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
