"""Configuration files: valid designs with values, keys and texts changed."""

import designs
import hostile
from fuzzing import fuzz, tried

from ldp_core.data.tables import build_domain
from ldp_core.designs import load_configuration
from ldp_core.designs.design import chosen_targets
from ldp_core.workloads import over_attributes

SMALL = 300
"""The questions of an accepted design are built up to this number of types."""


@fuzz(2_000)
def test_configurations(rng):
    document = designs.document(rng)
    content = hostile.written(rng, hostile.changed(rng, document, rng.choice([0, 0, 1, 1, 2, 3])))
    if rng.random() < 0.3:
        content = content.encode(rng.choice(["utf-8", "utf-8-sig", "utf-16", "latin-1"]), "replace")
        content = hostile.damaged_bytes(rng, content, 3) if rng.random() < 0.3 else content
    configuration = tried(load_configuration, content)
    if configuration is None:
        return False
    again = load_configuration(configuration.to_json())
    assert again == configuration
    assert again.digest() == configuration.digest()
    _build(configuration)
    return True


def _build(configuration):
    """The steps of pages with a design: its domain from its declarations, and the questions about
    its domain."""
    if configuration.data is not None and configuration.data.source == "declared":
        domain = tried(build_domain, list(configuration.data.recipes))
        assert domain is None or domain.size >= 1
    if configuration.domain is not None and configuration.workload is not None and configuration.domain.size <= SMALL:
        parts, held = configuration.parts, configuration.rates or ()
        rates = [one and one.rates for one in held] if len(held) == len(parts) else None
        workload = tried(over_attributes, parts, configuration.domain, chosen_targets(configuration), rates)
        assert workload is None or workload.n == configuration.domain.size
