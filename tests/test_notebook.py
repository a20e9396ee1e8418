"""The display of the main objects in a notebook, and the answer to a name that does not exist."""

import base64
import re
import struct
import zlib

import numpy as np
import pytest

import ldp_core as ldp
from tests.refused import refused

PREFIX = ldp.workloads.prefix(8)
COUNTS = np.arange(8)


def create(name, **parameters):
    return ldp.mechanisms.create(name, workload=PREFIX, epsilon=1.0, **parameters)


def estimate(name, **options):
    mechanism = create("hadamard")
    reports = mechanism.simulate(COUNTS, np.random.default_rng(0))
    return ldp.estimators.apply(name, reports, mechanism, PREFIX, **options)


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda: create("optimised"), "mechanism 'optimised'; did you mean 'optimized'"),
        (lambda: create("hierarchical", brancing=2), "no parameter 'brancing'; did you mean 'branching'"),
        (lambda: ldp.workloads.on_types("prefixes", 8), "workload 'prefixes'; did you mean 'prefix'"),
        (lambda: ldp.workloads.on_types("width_range", 8, widht=2), "no parameter 'widht'; did you mean 'width'"),
        (lambda: estimate("posterior", drows=300), "Posterior mean has no parameter 'drows'; did you mean 'draws'"),
        (lambda: ldp.estimators.spec("wnls"), "estimator 'wnls'; did you mean 'wnnls'"),
        (
            lambda: ldp.studies.planning.plan(PREFIX, ["haar"], 1.0, 9, case="worst"),
            "'worst'; did you mean 'worst_case'",
        ),
    ],
)
def test_an_unknown_name_is_answered_by_the_nearest_one(ask, answer):
    refused(answer, ask)


def pixels(page):
    """(height, width) brightness from 0 to 255 of the picture in ``page``, read by the rules of PNG."""
    content = base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', page)[1])
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    place, chunks = 8, {}
    while place < len(content):
        length, kind = struct.unpack(">I4s", content[place : place + 8])
        data = content[place + 8 : place + 8 + length]
        assert zlib.crc32(kind + data) == struct.unpack(">I", content[place + 8 + length : place + 12 + length])[0]
        chunks[kind], place = data, place + 12 + length
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 0)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), dtype=np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()  # no filter
    return rows[:, 1:]


def test_the_picture_of_a_workload_is_its_matrix():
    seen = pixels(PREFIX._repr_html_())
    assert np.array_equal(seen, np.where(PREFIX.matrix > 0, 0, 255))
    parity = ldp.workloads.parity(2)  # from -1 to 1
    assert np.array_equal(pixels(parity._repr_html_()), np.where(parity.matrix > 0, 0, 255))


def test_the_picture_of_a_strategy_is_its_commonest_reports_by_their_odds():
    strategy = np.array([[0.1, 0.2, 0.1], [0.6, 0.3, 0.3], [0.3, 0.5, 0.6]])
    mechanism = ldp.mechanisms.ExplicitMechanism('<b onload="x">&', strategy, 1.0)
    page = mechanism._repr_html_()
    assert "&lt;b onload=&quot;x&quot;&gt;&amp;" in page
    assert "<b " not in page
    middle = round(255 * (1 - np.log(5 / 3) / np.log(2)))
    assert pixels(page).tolist() == [[0, 255, 255], [255, 0, 255], [255, middle, 0]]
