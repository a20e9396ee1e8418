"""Bundles: exported designs with members, packing, strategies and records changed, their digests put right or not."""

import hashlib
import io
import json
import math
import zipfile
from fractions import Fraction

import designs
import hostile
import numpy as np
import pytest
from fuzzing import attack, tried
from hypothesis import strategies as st

from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.designs import Configuration, MechanismRecipe, export, load
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.privacy import exponential_below

HEADER = "{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}"
EPSILON = 1.0


def _exported(n):
    values = tuple(map(str, range(n)))
    configuration = Configuration(
        domain=Domain(attributes=(CategoricalAttribute(name="answer", values=values),)),
        mechanism=MechanismRecipe(name="optimized"),
        epsilon=str(EPSILON),
    )
    prior = np.arange(1.0, n + 1) if n % 2 else None
    prior = None if prior is None else prior / prior.sum()
    mechanism = ExplicitMechanism("optimized", _strategy(n), EPSILON, prior=prior)
    content = export(configuration, {"variance": 12.5}, mechanism)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _strategy(n):
    kept = math.exp(EPSILON) * (1 - 1e-12)
    return (np.ones((n, n)) + (kept - 1) * np.eye(n)) / (kept + n - 1)


EXPORTED = {n: _exported(n) for n in (2, 3, 4)}


of = st.sampled_from


@st.composite
def packed(draw, members):
    """A zip by any method; at times with a comment."""
    result = io.BytesIO()
    method = draw(of([zipfile.ZIP_DEFLATED] * 4 + [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2]))
    with zipfile.ZipFile(result, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
        archive.comment = draw(of([b""] * 19 + [b"=1+1"]))
    return result.getvalue()


@st.composite
def tampered(draw, strategy):
    """Another strategy: one that breaks epsilon by much or little, is no strategy, or is one for other types."""
    Q, entry = strategy.copy(), draw(st.tuples(*(st.integers(0, side - 1) for side in strategy.shape)))
    mixed = draw(st.floats(0, 1))
    raised, put = Q.copy(), Q.copy()
    raised[entry] *= 1 + draw(of([1e-3, -1e-3, 1e-10, -1e-12, 1, -1, 1e300]))
    put[0, 0] = draw(of([0, -0.0, math.nan, math.inf, 1e-320, -1e-17, 2]))
    return draw(
        of(
            [
                raised,
                raised,
                put,
                Q / Q.sum(axis=1)[:, None],
                Q / Q.sum(axis=1)[:, None] / 2,
                np.vstack([Q / 2, Q / 2])[draw(st.permutations(range(2 * len(Q))))],
                np.vstack([Q, np.zeros(Q.shape[1])]),
                Q[:, :1],
                np.full_like(Q, 1 / len(Q)),
                mixed * Q + (1 - mixed) / len(Q),
                np.eye(len(Q)) * (1 - 1e-16) + 1e-300,
            ]
        )
    )


@st.composite
def npz(draw, strategy):
    n = strategy.shape[1]
    arrays = {"strategy": strategy}
    if draw(hostile.chance(10)):
        strange = [np.ones(n), np.full(n, math.nan), -np.ones(n), np.eye(n)[0], np.full(n, 1 / n), np.ones((n, n))]
        arrays["prior"] = draw(of(strange))
    if draw(hostile.chance(20)):
        arrays[draw(of(["strategy2", "../x", "prior.npy"]))] = np.zeros(2)
    result = io.BytesIO()
    draw(of([np.savez, np.savez_compressed]))(result, **arrays)
    if not draw(hostile.chance(7)):
        return draw(hostile.at_times(lambda content: hostile.damaged_bytes(content, 2), st.just(result.getvalue()), 10))
    kind, shape = draw(of(["<f8", "|O", ">f8", "<f4"])), draw(of(["(2, 2)", "(99999, 99999)"]))
    header = HEADER.format(kind, draw(st.booleans()), shape).ljust(117).encode() + b"\n"
    member = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + draw(st.binary(min_size=32, max_size=32))
    return draw(packed([("strategy.npy", member)]))


@st.composite
def bundles(draw):
    n = draw(of([2, 3, 4]))
    members = dict(EXPORTED[n])
    if draw(st.booleans()):
        members["strategy.npz"] = draw(npz(draw(tampered(_strategy(n)) | st.just(_strategy(n)))))
    outcome = json.loads(members["outcome.json"])
    if not draw(hostile.chance(3)):
        outcome["strategy"]["sha256"] = hashlib.sha256(members["strategy.npz"]).hexdigest()
    changed = hostile.changed(st.just(outcome), draw(of([0, 0, 0, 0, 2])))
    members["outcome.json"] = draw(hostile.written(changed)).encode("utf-8", "surrogatepass")
    if draw(hostile.chance(3)):
        documents = st.just(json.loads(members["configuration.json"])) | designs.document()
        text = draw(hostile.written(hostile.changed(documents, 2)))
        members["configuration.json"] = text.encode("utf-8", "surrogatepass")
    names = draw(st.permutations(list(members)))[: draw(of([3, 3, 3, 3, 2, 1]))]
    listed = [(name, members[name]) for name in names]
    if draw(hostile.chance(10)):
        strange = ["../../x", "/etc/passwd", "CONFIGURATION.JSON", "a/", "strategy.npz ", "x" * 5000, "é\0"]
        listed.append((draw(of(strange)), b"x"))
    return draw(hostile.at_times(lambda content: hostile.damaged_bytes(content, 3), packed(listed)))


@pytest.mark.promise
@attack(bundles())
def test_bundles(content):
    bundle = tried(load, content)
    return bundle is not None and _check(bundle)


def _check(bundle):
    """The promise of an accepted bundle: its strategy keeps epsilon, and it is exported and loaded
    unchanged."""
    made = bundle.mechanism
    if made is not None:
        m, n = made.strategy.shape
        assert n == bundle.configuration.domain.size
        columns = [list(map(Fraction, column)) for column in made.strategy.T.tolist()]
        sums = [sum(column) for column in columns]
        assert all(total == 1 for total in sums)
        bound = exponential_below(bundle.configuration.epsilon)  # tests/mechanisms/test_quantised.py has its own
        for y in range(m):
            exact = [column[y] for column in columns]
            assert min(exact) > 0
            assert max(exact) <= bound * min(exact)
        assert made.prior is None or (made.prior.shape == (n,) and made.prior.min() >= 0)
    assert all(isinstance(warning, str) and warning for warning in bundle.warnings)
    again = load(export(bundle.configuration, {}, made))
    assert again.configuration == bundle.configuration
    assert (again.mechanism is None) == (made is None)
    assert made is None or _same(again.mechanism.strategy, made.strategy)
    assert made is None or _same(again.mechanism.prior, made.prior)
    return True


def _same(one, other):
    return (one is None and other is None) or np.array_equal(one, other)
