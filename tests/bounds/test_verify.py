"""The script that checks certificates with NumPy alone: what it accepts, rational arithmetic must accept too."""

import ast
import json
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_rounding import exactly, proved_exactly

from ldp_core import bounds, workloads
from ldp_core.bounds import verify
from ldp_core.bounds.general.certificate import closed_form
from ldp_core.bounds.surveys.certificate import closed_form as closed_form_of_survey
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.designs import certificate_file
from tests.refused import refused

SCRIPT = Path(verify.__file__)


def test_the_script_needs_numpy_and_the_standard_library_alone():
    imports = [
        node for node in ast.walk(ast.parse(SCRIPT.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = {name.name for node in imports if isinstance(node, ast.Import) for name in node.names}
    names |= {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    assert "numpy" in names
    assert {name.partition(".")[0] for name in names} - {"numpy"} <= set(sys.stdlib_module_names)


def test_the_script_says_what_is_proved_and_ends_with_1_where_nothing_is_and_with_2_where_it_read_nothing(tmp_path):
    written = certificate_file.write(closed_form(workloads.prefix(5), 1.0, np.full(5, 0.2)), "1.0")
    for name, content in written.members.items():
        (tmp_path / name).write_bytes(content)
    run = [sys.executable, "-I", tmp_path / "verify.py"]
    held = subprocess.run(run, capture_output=True, text=True, cwd="/")
    assert held.returncode == 0
    assert held.stdout.startswith(
        "The proof holds. With epsilon = 1, no mechanism with unbiased answers has a total variance below "
    )
    assert "The questions: running totals in the order of the types. The variance is in squared people" in held.stdout
    document = json.loads(written.document)
    (tmp_path / "certificate.json").write_text(json.dumps({**document, "value": document["value"] * 1.01}))
    refused = subprocess.run([*run, tmp_path / "certificate.json"], capture_output=True, text=True)
    assert refused.returncode == 1
    assert refused.stdout.startswith("The proof does not hold. The numbers prove ")
    (tmp_path / "certificate.npz").unlink()
    missing = [[*run, tmp_path / name] for name in ("nowhere.json", "certificate.json", "")]
    unread = [subprocess.run(one, capture_output=True, text=True) for one in missing]
    assert {(one.returncode, one.stdout[:22], one.stderr) for one in unread} == {(2, "Nothing was checked. /", "")}


def test_it_can_say_of_all_questions_which_they_are():
    assert set(verify.ASKED) == {*verify.NAMED, "array", *verify.KINDS} - {*verify.BY_TYPES}


@pytest.mark.parametrize("text", ["0.001", "0.3333333333333333333333", "1", "1.0", "7.25", "20"])
def test_the_spread_is_above_the_true_one_and_close_to_it(text):
    with localcontext() as context:
        context.prec = 80
        true = Fraction(Decimal(text).exp() - 1)
    assert 0 < verify.exp_epsilon_minus_one(text) - true < Fraction(1, 2**100)


@pytest.mark.parametrize(
    "text", ["0", "-1", "20.1", "nan", "inf", "1e0", "1/2", "", " 1", "1" * 60, 1.0, None, "1_0", "٣"]
)
def test_what_is_no_epsilon_is_refused(text):
    refused("decimal number", verify.exp_epsilon_minus_one, text)


@pytest.mark.parametrize("kind", verify.NAMED)
@pytest.mark.parametrize("n", [2, 7])
def test_named_questions_have_the_gram_matrix_of_the_workload(kind, n):
    found = verify.gram({"types": n, "workload": {"gram": kind}}, {})
    np.testing.assert_array_equal(found, getattr(workloads, kind)(n).gram_dense())


@pytest.mark.parametrize("d", [1, 2, 5])
def test_krawtchouk_numbers_are_eigenvalues(d):
    types = np.arange(2**d)
    differing = np.bitwise_count(types[:, None] ^ types)
    for j, row in enumerate(verify.krawtchouk(d)):
        character = (-1.0) ** np.bitwise_count(types & (2**j - 1))
        for i, value in enumerate(row):
            np.testing.assert_array_equal((differing == i) @ character, value * character)


# --- against rational arithmetic --------------------------------------------------------------------------------------

NOISE = st.sampled_from([0.0, 1e-16, 1e-12, 1e-6, 1e-2, 1.0])
SCALES = st.sampled_from([1e-30, 1e-6, 1.0, 1e6, 1e30])


def general(workload, epsilon, prior, **arrays):
    """A document that claims nothing yet."""
    n = workload.n
    about = {"gram": "array", "roundings": workload.gram_roundings}
    document = {"kind": "general", "types": n, "epsilon": epsilon, "workload": about, "prior": "array"}
    return document, {"prior": prior, "gram": workload.gram_dense()[np.tril_indices(n)], **arrays}


def proven(document, arrays):
    """The bound that the script proves, 0 if it refuses."""
    try:
        return verify.proven(document, arrays)
    except ValueError:
        return 0.0


@settings(max_examples=60, deadline=None)
@given(st.data(), NOISE, SCALES, st.sampled_from(["0.001", "0.5", "2", "6"]))
def test_no_arrays_prove_more_than_in_rational_arithmetic(data, noise, scale, epsilon):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n = data.draw(st.integers(2, 4))
    queries = rng.integers(-2, 3, (n + 1, n)) if data.draw(st.booleans()) else rng.random((n, n))
    queries[0, 0] = 1.0
    workload = workloads.custom(queries)
    prior = rng.dirichlet(np.full(n, data.draw(st.sampled_from([0.1, 1.0, 100.0]))))
    found = closed_form(workload, float(epsilon), np.maximum(prior, 1e-6) / np.maximum(prior, 1e-6).sum())

    def shaken(array):
        return array * (1 + noise * rng.standard_normal(array.shape))

    C, mu = (shaken(found.numbers[name]) * scale**k for name, k in (("inverse", 1), ("multipliers", 2)))
    arrays = {
        "inverse": C,
        "multipliers": mu,
        "diagonal": shaken(found.numbers["diagonal"]) * scale**2,
        "pairs": np.abs(shaken(np.zeros(len(C)) + noise)) * (data.draw(st.booleans()) * scale**2),
        "sizes": np.array([1.0]),
        "size_multipliers": np.array([noise * scale**2 * data.draw(st.booleans())]),
    }
    document, arrays = general(workload, epsilon, found.prior, **arrays)
    bound = proven(document, arrays)
    square = [[Fraction(x) for x in row] for row in verify.square(C, n).tolist()]
    # The shares p are known to sum to 1 but for rounding.
    exact = proved_exactly(workload, float(epsilon), found.prior, square, list(map(Fraction, mu.tolist())))
    exact = max(exact / Fraction(float(np.sum(found.prior))), Fraction(found.trivial))
    assert bound <= exact * (1 + Fraction(1, 2**48))
    if noise == 0:
        assert bound >= float(exact) * (1 - 1e-3)


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize(
    "workload", [workloads.histogram(5), workloads.parity(3, 2), workloads.all_marginals(3)], ids=repr
)
def test_classes_prove_what_rational_arithmetic_over_all_rows_does(workload, epsilon):
    found = symmetric_certificate(workload, float(epsilon))
    bound = verify.proven(*found.to_file(epsilon))
    assert bound <= exactly(found) * (1 + Fraction(1, 2**45))  # which takes epsilon for the float


@pytest.mark.promise
@settings(max_examples=8, deadline=None)
@given(
    st.integers(0, 2**32),
    NOISE,
    st.sampled_from(["inverse", "pairs", "cut_multipliers", "gram"]),
)
def test_shaken_classes_prove_no_more_than_rational_arithmetic_does(seed, noise, which):
    rng = np.random.default_rng(seed)
    workload = workloads.parity(3, 2)
    document, arrays = symmetric_certificate(workload, 1.0).to_file("1")
    arrays[which] = arrays[which] * (1 + noise * rng.standard_normal(arrays[which].shape))
    bound = proven(document, arrays)
    # C alone decides, with the best mu for all types alike: over all rows, for the Gram matrix in the file.
    K, n = verify.krawtchouk(3), 8
    whole = [Fraction(x) for x in arrays["inverse"].tolist()]
    gram = [Fraction(x) for x in arrays["gram"].tolist()]
    C = [sum(c * k for c, k in zip(whole, row, strict=True)) / n for row in K]
    spectrum = [sum(a * b for a, b in zip(row, gram, strict=True)) for row in K]
    trace = sum(many * c * g for many, c, g in zip(K[0], whole, spectrum, strict=True))
    X = [sum(c**2 * g * k for c, g, k in zip(whole, spectrum, row, strict=True)) / n for row in K]
    assert len(C) == 4
    least, D = Fraction(0), verify.exp_epsilon_minus_one("1")
    for high in range(2**n):
        bits = [u for u in range(n) if high >> u & 1]
        v = [1 + D if u in bits else Fraction(1) for u in range(n)]
        length = sum(X[(u ^ w).bit_count()] * v[u] * v[w] for u in range(n) for w in range(n))
        least = max(least, length / sum(v) ** 2)
    assert bound <= max(max(0, trace) ** 2 / (n * least), n * gram[0]) if bound > 0 else True


# --- tables and parts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_tables_prove_the_closed_form(epsilon):
    survey = workloads.survey([3, 4, 2, 1], ways=[(0, 1), (1, 2), (0, 3)], weights=[1.0, 0.3, 2.0])
    found = closed_form_of_survey(survey, float(epsilon))
    document, arrays = found.to_file(epsilon)
    closed = max(bounds.centred_svd(survey, float(epsilon)), survey.trace)
    assert abs(verify.proven(document, arrays) / closed - 1) < 2e-9
    assert abs(verify.mean_diagonal(document, arrays) / (survey.trace / survey.n) - 1) < 1e-12
    by_types = bounds.certificate(
        workloads.custom(survey.matrix * survey.query_weights()[:, None]), float(epsilon), None
    )
    assert by_types.verify()
    assert verify.proven(document, arrays) <= by_types.value * (1 + 1e-6)
