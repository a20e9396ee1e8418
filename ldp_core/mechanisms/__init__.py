"""Mechanisms: the reports that people send, and the answers that the collector makes of them; one
file per family. What a report adds to questions gives all their errors (`ldp_core.mechanisms.moments`).
`ldp_core.library` lists them and builds one by its name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ldp_core.mechanisms.base import FLOATING_POINT as FLOATING_POINT
from ldp_core.mechanisms.base import Audit as Audit
from ldp_core.mechanisms.base import Estimate as Estimate
from ldp_core.mechanisms.base import FiniteOutput as FiniteOutput
from ldp_core.mechanisms.base import Mechanism as Mechanism
from ldp_core.mechanisms.base import Reports as Reports
from ldp_core.mechanisms.explicit import ExplicitMechanism as ExplicitMechanism
from ldp_core.mechanisms.on_classes import OnClasses as OnClasses
from ldp_core.mechanisms.strata import StratifiedMechanism as StratifiedMechanism
from ldp_core.mechanisms.surveys.pattern import Pattern as Pattern
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns as ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import SplitSurvey as SplitSurvey
from ldp_core.mechanisms.surveys.strata import StratifiedSurveyMechanism as StratifiedSurveyMechanism

if TYPE_CHECKING:
    from ldp_core.library import create as create
    from ldp_core.library import names as names
else:

    def __getattr__(name: str) -> Any:
        # People look for these two beside the mechanisms; the library, which also fits some, stands above them and is found
        # when asked.
        if name in ("create", "names"):
            return getattr(import_module("ldp_core.library"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
