"""Designs in links: round trips, and refusals of what is no design."""

import base64
import zlib

import numpy as np
import pytest

from ldp_core import designs
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.designs import Configuration, WorkloadRecipe
from ldp_core.limits import MOST_LINK_CHARACTERS
from ldp_core.workloads import HistogramPart, MatrixPart


def pack(content: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(content, 9)).decode().rstrip("=")


def with_categories(values):
    attribute = CategoricalAttribute(name="place", values=values, origin="declared")
    workload = WorkloadRecipe(parts=(HistogramPart(attribute="place"),))
    return Configuration().with_(domain=Domain(attributes=(attribute,)), workload=workload)


def test_round_trip_in_safe_letters():
    configuration = with_categories(("Zürich", "<b>", "日本", "a&b=c")).with_(epsilon="0.35")
    link = designs.to_link(configuration)
    assert set(link) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert designs.from_link(link) == configuration


def test_a_large_matrix_is_too_long_for_a_link():
    matrix = MatrixPart.of(np.random.default_rng(1).random((40, 40)))
    with pytest.raises(designs.ConfigurationError, match="too long for a link"):
        designs.to_link(Configuration(workload=WorkloadRecipe(parts=(matrix,))))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x" * (MOST_LINK_CHARACTERS + 1),
        pack(b"{}")[:-3],
        pack(b"0" * 10**7),
    ],
)
def test_what_is_no_design_is_refused_in_a_sentence(text):
    with pytest.raises(designs.ConfigurationError, match="no complete design"):
        designs.from_link(text)
