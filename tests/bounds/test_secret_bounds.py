"""What no mechanism beats that protects some values alone: proofs, whom they are about, and the bounds of LDP that say nothing then."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import bounds
from ldp_core.bounds import promise, verify
from ldp_core.designs import certificate_file
from ldp_core.workloads import PartlySecret
from tests.refused import refused

MASK = np.array([1, 0, 1, 1, 0, 0, 1, 0], dtype=bool)
ASKED = PartlySecret(ldp.workloads.prefix(8), MASK)


def lifted(mask):
    """All covered rows at epsilon 1 as D t, t in {0, 1}."""
    s = int(mask.sum())
    bits = (np.arange(2**s)[:, None] >> np.arange(s)) & 1
    rows = np.ones((len(bits), len(mask)))
    rows[:, mask] += (math.e - 1) * bits
    return rows


@pytest.mark.parametrize("kind", ["histogram", "prefix", "all_range"])
@pytest.mark.parametrize("prior", [None, np.array([1, 3, 2, 2, 4, 1, 5, 2.0]) / 20])
def test_the_numbers_of_a_proof_hold_for_every_row(kind, prior):
    asked = PartlySecret(getattr(ldp.workloads, kind)(8), MASK)
    proof = bounds.certificate(asked, 1.0, None, prior)
    C, mu = verify.square(proof.numbers["inverse"], 8), proof.numbers["multipliers"]
    X, r, v = C @ asked.gram_dense() @ C, 8 * (np.full(8, 1 / 8) if prior is None else prior), lifted(MASK)
    lacking = np.einsum("ki,ij,kj->k", v, X, v) / ((v @ r) * (v @ mu)) - 1
    assert lacking.max() <= 1e-9
    assert np.all(X.diagonal()[~MASK] <= r[~MASK] * mu[~MASK] * (1 + 1e-9))
    assert proof.verify()
    best = ldp.optimize.design(asked, 1.0, time_limit=None, max_rounds=100, prior=prior)
    trivial = 8 * float(r @ asked.gram_diag) / 8
    assert proof.value <= best.objective
    assert best.objective - trivial <= 1.02 * (proof.value - trivial)


def test_no_random_mechanism_of_the_promise_is_below_a_proof():
    rng, proof = np.random.default_rng(0), bounds.certificate(ASKED, 1.0, None)
    everything = bounds.certificate(ASKED.all_secret, 1.0, None)
    below = 0
    for _ in range(200):
        covered = lifted(MASK)[rng.integers(1, 16, 40)]
        covered[:, MASK] = rng.uniform(1, covered[:, MASK])
        w = rng.dirichlet(np.full(40, 0.2)) * 0.4
        columns = (covered * w[:, None])[:, MASK].sum(axis=0)
        extra = np.where(np.eye(8, dtype=bool)[MASK], math.e, 1.0)
        needed = np.linalg.solve(extra[:, MASK].T, 1 - columns)
        if needed.min() < 0:
            continue
        rows = np.vstack([covered * w[:, None], extra * needed[:, None]])
        open_rows = np.diag(1 - rows.sum(axis=0))[~MASK]
        strategy = np.vstack([rows, open_rows])
        if open_rows.min() < 0:
            continue
        M = strategy.T @ (strategy / strategy.sum(axis=1, keepdims=True))
        L = float(np.trace(np.linalg.solve(M, ASKED.gram_dense())))
        assert proof.value <= L
        below += everything.value > L
    assert below > 20  # what bounds mechanisms that protect everything bounds none of these


@pytest.mark.parametrize(("kind", "secret"), [("histogram", 8), ("prefix", 16), ("all_range", 8)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_designs_are_within_two_per_cent_of_their_proof(kind, secret, epsilon):
    asked = PartlySecret(getattr(ldp.workloads, kind)(32), np.arange(32) < secret)
    proof = bounds.certificate(asked, epsilon, time_limit=None)
    best = ldp.optimize.design(asked, epsilon, time_limit=None, max_rounds=60)
    assert proof.verify()
    assert best.objective - asked.trace <= 1.02 * (proof.value - asked.trace)


def test_the_worst_type_of_a_design_is_near_its_proof():
    asked = PartlySecret(ldp.workloads.prefix(16), np.arange(16) < 8)
    best = ldp.optimize.worst_case_design(asked, 1.0, ldp.optimize.SearchLimits(None, 100))
    proof = bounds.worst_case(asked, 1.0, None, prior=best.prior)
    assert proof.verify()
    variance = best.mechanism().variance_profile(asked).max()
    assert proof.variance <= variance <= 1.03 * proof.variance


def test_a_forged_proof_is_refused():
    proof = bounds.certificate(ASKED, 1.0, None)
    assert not replace(proof, value=proof.value * 1.01).verify()
    assert not replace(proof, workload=ASKED.all_secret).verify()
    one_more = MASK.copy()
    one_more[0] = False
    assert not replace(proof, workload=PartlySecret(ASKED.base, one_more)).verify()
    assert not replace(bounds.certificate(ASKED.all_secret, 1.0, None), workload=ASKED).verify()
    scaled = dict(proof.numbers)
    scaled["multipliers"] = proof.numbers["multipliers"] * 0.99
    assert replace(proof, numbers=scaled).proven() < proof.value
    scaled["multipliers"] = proof.numbers["multipliers"] * (1 - 0.1 * ~MASK)  # open types alone
    assert replace(proof, numbers=scaled).proven() < proof.value


def test_files_of_one_promise_are_refused_for_the_other():
    proof, whole = bounds.certificate(ASKED, 1.0, None), bounds.certificate(ASKED.all_secret, 1.0, None)
    written, other = certificate_file.write(proof, "1"), certificate_file.write(whole, "1")
    document = json.loads(written.document)
    assert document["format"] == "ldp-certificate/2"
    assert json.loads(other.document)["format"] == "ldp-certificate/1"
    assert "people with a secret type alone (4 of 8: 1, 3-4, 7)" in document["meaning"]
    assert "secret" not in json.loads(other.document)["meaning"]
    assert verify.verified(written.document, written.arrays) == document["meaning"]
    assert certificate_file.read(written, ASKED, "1").value == proof.value
    for files, asked in ((written, ASKED.all_secret), (other, ASKED)):
        refused("other questions", certificate_file.read, files, asked, "1")
    for change in ({"promise": None}, {"format": "ldp-certificate/1"}, {"promise": "all"}):
        forged = {name: value for name, value in {**document, **change}.items() if value is not None}
        refused(r".", verify.verified, json.dumps(forged), written.arrays)


def test_every_public_bound_refuses_open_types_or_is_new():
    mechanism = ldp.mechanisms.create("optimized", workload=ASKED, epsilon=1.0, time_limit=None, max_rounds=3)
    refuse = {
        "svd": lambda: bounds.svd(ASKED, 1.0),
        "centred_svd": lambda: bounds.centred_svd(ASKED, 1.0),
        "worst_case_variance": lambda: bounds.worst_case_variance(ASKED, 1.0),
        "least_favourable_prior": lambda: bounds.least_favourable_prior(ASKED, 1.0),
        "worst_from_average": lambda: bounds.worst_from_average(1.0, ASKED, 1.0),
    }
    new = {"certificate", "worst_case", "every_value_is_secret"}
    of_mechanism = {"efficient_of", "large_sample_of"}  # about the reports of one mechanism, whatever it protects
    of_numbers = {
        "best_branching",
        "few_users",
        "frequency",
        "large_sample",
        "range_error",
        "ranges",
    }  # about LDP, as they say
    no_bounds = {
        "STATEMENTS",
        "statements",
        "Statement",
        "Certificate",
        "MergedCertificate",
        "Proof",
        "SinglesCertificate",
    }
    scales = {"average_variance", "equivalent_objective"}
    assert {*bounds.__all__} == {*refuse} | new | of_mechanism | of_numbers | no_bounds | scales
    for call in refuse.values():
        refused("some values are not secret", call)
    assert bounds.every_value_is_secret(ASKED.base)
    assert not bounds.every_value_is_secret(ASKED)
    for made in (mechanism, None):
        setting = bounds.statements.Setting(ASKED, 1.0, 1000, made)
        said = {name for name, statement in bounds.STATEMENTS.items() if statement.reason(setting) != promise.ONLY_SOME}
        assert said == {"certificate"}
    assert ldp.frames.users_bounds(ASKED, 1.0, 1.0) == {"certificate": 0.0}  # until one is proved
    refused("not secret", ldp.analysis.shuffled, mechanism, users=1000)
