"""What a design would do: trials, views of whole collections, sweeps over epsilon and types, and plans."""

from typing import TYPE_CHECKING

from ldp_core import parts

if TYPE_CHECKING:
    from ldp_core.studies import outcomes, planning, simulate, sweep
else:
    __getattr__ = parts.of(__name__, {name: name for name in ["outcomes", "planning", "simulate", "sweep"]})

__all__ = ["outcomes", "planning", "simulate", "sweep"]
