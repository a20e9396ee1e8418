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
from fuzzing import fuzz, tried

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


def packed(rng, members):
    """A zip; at times with a member twice, another method, or a comment."""
    result = io.BytesIO()
    method = rng.choice([zipfile.ZIP_DEFLATED] * 4 + [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2])
    with zipfile.ZipFile(result, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
        if rng.random() < 0.05:
            archive.comment = b"=1+1"
    return result.getvalue()


def tampered(rng, strategy):
    """Another strategy: one that breaks epsilon by much or little, is no strategy, or is one for other types."""
    Q = strategy.copy()
    how = rng.randrange(9)
    if how < 2:
        Q[rng.randrange(len(Q)), rng.randrange(Q.shape[1])] *= 1 + rng.choice(
            [1e-3, -1e-3, 1e-10, -1e-12, 1, -1, 1e300]
        )
    elif how == 2:
        Q[0, 0] = rng.choice([0, -0.0, math.nan, math.inf, 1e-320, -1e-17, 2])
    elif how == 3:
        Q /= Q.sum(axis=1)[:, None] * rng.choice([1, 2])
    elif how == 4:
        Q = np.vstack([Q / 2, Q / 2])[rng.sample(range(2 * len(Q)), 2 * len(Q))]
    elif how == 5:
        Q = np.vstack([Q, np.zeros(Q.shape[1])])
    elif how == 6:
        Q = Q[:, :1] if rng.random() < 0.3 else np.full_like(Q, 1 / len(Q))
    elif how == 7:
        mixed = rng.random()
        Q = mixed * Q + (1 - mixed) / len(Q)
    else:
        Q = np.eye(len(Q)) * (1 - 1e-16) + 1e-300
    return Q


def npz(rng, strategy, prior):
    arrays = {"strategy": strategy}
    if prior is not None or rng.random() < 0.1:
        n = strategy.shape[1]
        strange = [np.ones(n), np.full(n, math.nan), -np.ones(n), np.eye(n)[0], np.full(n, 1 / n), np.ones((n, n))]
        arrays["prior"] = rng.choice([np.full(n, 1 / n), *strange])
    if rng.random() < 0.05:
        arrays[rng.choice(["strategy2", "../x", "prior.npy"])] = np.zeros(2)
    result = io.BytesIO()
    rng.choice([np.savez, np.savez_compressed])(result, **arrays)
    content = result.getvalue()
    if rng.random() < 0.15:
        kind, order, shape = (
            rng.choice(["<f8", "|O", ">f8", "<f4"]),
            rng.random() < 0.5,
            rng.choice(["(2, 2)", "(99999, 99999)"]),
        )
        header = HEADER.format(kind, order, shape).ljust(117).encode() + b"\n"
        member = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + rng.randbytes(32)
        content = packed(rng, [("strategy.npy", member)])
    return hostile.damaged_bytes(rng, content, 2) if rng.random() < 0.1 else content


@fuzz(750)
def test_bundles(rng):
    members = dict(EXPORTED[rng.choice([2, 3, 4])])
    n = len(json.loads(members["configuration.json"])["domain"]["attributes"][0]["values"])
    if rng.random() < 0.6:
        members["strategy.npz"] = npz(rng, tampered(rng, _strategy(n)) if rng.random() < 0.8 else _strategy(n), None)
    outcome = json.loads(members["outcome.json"])
    if rng.random() < 0.7:
        outcome["strategy"]["sha256"] = hashlib.sha256(members["strategy.npz"]).hexdigest()
    if rng.random() < 0.2:
        outcome = hostile.changed(rng, outcome, 2)
    members["outcome.json"] = hostile.written(rng, outcome).encode("utf-8", "surrogatepass")
    if rng.random() < 0.3:
        document = json.loads(members["configuration.json"]) if rng.random() < 0.7 else designs.document(rng)
        changed = hostile.written(rng, hostile.changed(rng, document, rng.choice([1, 2])))
        members["configuration.json"] = changed.encode("utf-8", "surrogatepass")
    names = rng.sample(list(members), rng.choice([3, 3, 3, 3, 2, 1]))
    listed = [(name, members[name]) for name in names]
    if rng.random() < 0.1:
        strange = rng.choice(["../../x", "/etc/passwd", "CONFIGURATION.JSON", "a/", "strategy.npz ", "x" * 5000, "é\0"])
        listed.append((strange, b"x"))
    content = packed(rng, listed)
    content = hostile.damaged_bytes(rng, content, 3) if rng.random() < 0.15 else content
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
