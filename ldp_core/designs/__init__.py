"""From a design to the world: the configuration and its file, and what it promises in words."""

from ldp_core.designs.bundle import Bundle, BundleError, export, load
from ldp_core.designs.configuration import (
    Configuration,
    DataChoice,
    DeclaredData,
    MechanismRecipe,
    Optimizer,
    Population,
    SampleData,
    Simulation,
    UploadedData,
    WorkloadRecipe,
    load_configuration,
    parse_epsilon,
)
from ldp_core.designs.link import from_link, to_link
from ldp_core.designs.privacy_note import (
    DESIGN_ONLY,
    audited_in_words,
    factor_in_words,
    guarantee,
    observed_parts,
    risk_in_words,
)
from ldp_core.designs.problems import ConfigurationError
from ldp_core.designs.sharing import given_by_hand, revealing, shareable

__all__ = [
    "DESIGN_ONLY",
    "Bundle",
    "BundleError",
    "Configuration",
    "ConfigurationError",
    "DataChoice",
    "DeclaredData",
    "MechanismRecipe",
    "Optimizer",
    "Population",
    "SampleData",
    "Simulation",
    "UploadedData",
    "WorkloadRecipe",
    "audited_in_words",
    "export",
    "factor_in_words",
    "from_link",
    "given_by_hand",
    "guarantee",
    "load",
    "load_configuration",
    "observed_parts",
    "parse_epsilon",
    "revealing",
    "risk_in_words",
    "shareable",
    "to_link",
]
