"""From a design to the world: the configuration and its file, and what it promises in words."""

from ldp_core.deploy.bundle import Bundle, BundleError, export, load
from ldp_core.deploy.configuration import (
    Configuration,
    DeclaredData,
    MechanismRecipe,
    Optimizer,
    Population,
    SampleData,
    Simulation,
    Treatment,
    UploadedData,
    WorkloadRecipe,
    load_configuration,
    parse_epsilon,
)
from ldp_core.deploy.link import from_link, to_link
from ldp_core.deploy.privacy_note import guarantee, observed_parts, risk_in_words
from ldp_core.deploy.problems import ConfigurationError

__all__ = [
    "Bundle",
    "BundleError",
    "Configuration",
    "ConfigurationError",
    "DeclaredData",
    "MechanismRecipe",
    "Optimizer",
    "Population",
    "SampleData",
    "Simulation",
    "Treatment",
    "UploadedData",
    "WorkloadRecipe",
    "export",
    "from_link",
    "guarantee",
    "load",
    "load_configuration",
    "observed_parts",
    "parse_epsilon",
    "risk_in_words",
    "to_link",
]
