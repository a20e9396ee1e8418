"""The display of the main objects in a notebook, and the answer to a name that does not exist."""

import base64
import re
import struct
import zlib

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import pictures

PREFIX = ldp.workloads.prefix(8)
OPTIMIZED = ldp.optimize.design(PREFIX, epsilon=1.0, time_limit=None, max_rounds=3)
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
        (lambda: create("RAPPOR"), "mechanism 'RAPPOR'; did you mean 'rappor'"),
        (lambda: create("hierarchical", brancing=2), "no parameter 'brancing'; did you mean 'branching'"),
        (lambda: create("hierarchical", oracle="hadamar"), "oracle 'hadamar'; did you mean 'hadamard'"),
        (lambda: ldp.workloads.on_types("prefixes", 8), "workload 'prefixes'; did you mean 'prefix'"),
        (lambda: ldp.workloads.on_types("width_range", 8, widht=2), "no parameter 'widht'; did you mean 'width'"),
        (lambda: ldp.workloads.from_spec({"kind": "all-range", "n": 8}), "'all-range'; did you mean 'all_range'"),
        (lambda: ldp.workloads.from_spec({"kind": "prefix", "N": 8}), "no parameter 'N'; did you mean 'n'"),
        (lambda: estimate("posterior", drows=300), "Posterior mean has no parameter 'drows'; did you mean 'draws'"),
        (lambda: estimate("wnnls", max_rounds=3), "no parameter 'max_rounds'; there are none"),
        (lambda: ldp.estimators.spec("wnls"), "estimator 'wnls'; did you mean 'wnnls'"),
        (
            lambda: ldp.studies.planning.plan(PREFIX, ["haar"], 1.0, 9, case="worst"),
            "'worst'; did you mean 'worst_case'",
        ),
        (lambda: ldp.studies.sweep.epsilons([], PREFIX, [1.0], bounds=["svt"]), "bound 'svt'; did you mean 'svd'"),
    ],
)
def test_an_unknown_name_is_answered_by_the_nearest_one(ask, answer):
    with pytest.raises(ValueError, match=answer):
        ask()


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, spec in ldp.library.REGISTRY.items()
        if not spec.surveys_only and "one number" not in spec.made_for
    ],
)
def test_every_mechanism_its_reports_and_its_estimate_take_one_line(name):
    fast = {"max_rounds": 1} if ldp.library.spec(name).fitted else {}
    told = {"shape": (2, 4)} if name == "hierarchical_2d" else {}
    mechanism = create(name, **fast, **told)
    reports = mechanism.simulate(COUNTS * 100, np.random.default_rng(0))
    for value in (mechanism, reports, mechanism.estimate(reports)):
        assert "\n" not in repr(value)
        assert len(repr(value)) < 160
    assert repr(mechanism).startswith(f"<{name} mechanism: 8 types, epsilon 1")


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


def test_larger_workloads_are_averaged_and_very_large_ones_thinned():
    page = ldp.workloads.prefix(192)._repr_html_()
    blocks = ldp.workloads.prefix(192).matrix.reshape(96, 2, 96, 2).mean(axis=(1, 3))
    assert np.array_equal(pixels(page), np.rint(255 * (1 - blocks)))
    assert "192 queries on 192 types&gt; · queries (rows)" in page
    page = ldp.workloads.prefix(2**12)._repr_html_()
    assert "4,096 types&gt; · 96 of 4,096 queries (rows)" in page
    kept = np.unique(np.linspace(0, 2**12 - 1, 96).astype(int))
    rows = ldp.workloads.prefix(2**12).rows(kept)
    assert np.all(pixels(page)[rows.all(axis=1)] == 0)
    assert np.all(np.diff((pixels(page) < 128).sum(axis=1)) >= 0)


def test_the_picture_of_a_strategy_is_its_commonest_reports_by_their_odds():
    strategy = np.array([[0.1, 0.2, 0.1], [0.6, 0.3, 0.3], [0.3, 0.5, 0.6]])
    mechanism = ldp.mechanisms.ExplicitMechanism('<b onload="x">&', strategy, 1.0)
    page = mechanism._repr_html_()
    assert "&lt;b onload=&quot;x&quot;&gt;&amp;" in page
    assert "<b " not in page
    middle = round(255 * (1 - np.log(5 / 3) / np.log(2)))
    assert pixels(page).tolist() == [[0, 255, 255], [255, 0, 255], [255, middle, 0]]


@pytest.mark.parametrize(
    "value",
    [
        ldp.workloads.all_range(300),
        ldp.workloads.custom(np.random.default_rng(0).normal(size=(300, 300))),
        ldp.workloads.prefix(2**16),
        ldp.mechanisms.ExplicitMechanism(
            "noise", (lambda x: x / x.sum(axis=0))(np.random.default_rng(0).uniform(1, 2, (500, 300))), 1.0
        ),
        OPTIMIZED,
    ],
    ids=["ranges", "random", "large", "strategy", "design"],
)
def test_pictures_are_small(value):
    page = value._repr_html_()
    assert len(page) < 20_000
    assert max(pixels(page).shape) <= pictures.SIDE


def test_what_would_take_too_large_rows_has_no_picture():
    assert ldp.workloads.prefix(2**22)._repr_html_() is None
