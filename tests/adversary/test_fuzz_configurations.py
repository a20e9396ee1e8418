"""Configuration files: valid designs with values, keys and texts changed."""

import designs
import hostile
import pytest
from fuzzing import attack, tried
from hypothesis import strategies as st

from ldp_core.data.tables import build_domain
from ldp_core.designs import load_configuration
from ldp_core.designs.inputs import chosen_targets
from ldp_core.workloads import over_attributes

SMALL = 300
"""The questions of an accepted design are built up to this number of types."""
texts = hostile.written(hostile.changed(designs.document()))
encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"])
encoded = st.builds(lambda text, encoding: text.encode(encoding, "replace"), texts, encodings)


@pytest.mark.promise
@attack(texts | hostile.written(designs.document()) | hostile.at_times(hostile.damaged_bytes, encoded, 3))
def test_configurations(content):
    configuration = tried(load_configuration, content)
    if configuration is None:
        return False
    again = load_configuration(configuration.to_json())
    assert again == configuration
    assert again.digest() == configuration.digest()
    _build(configuration)
    return True


def _build(configuration):
    """The steps of pages with a design: its domain from its declarations, and the questions about its domain."""
    if configuration.data is not None and configuration.data.source == "declared":
        domain = tried(build_domain, list(configuration.data.recipes))
        assert domain is None or domain.size >= 1
    if configuration.domain is not None and configuration.workload is not None and configuration.domain.size <= SMALL:
        parts, held = configuration.parts, configuration.rates or ()
        rates = [one and one.rates for one in held] if len(held) == len(parts) else None
        workload = tried(over_attributes, parts, configuration.domain, chosen_targets(configuration), rates)
        assert workload is None or workload.n == configuration.domain.size
