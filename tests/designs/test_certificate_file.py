"""Proofs as files: they come back as they were, for their own questions alone, and what is forged is refused everywhere."""

import hashlib
import io
import json
import math
import re
import sys
import zipfile
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ldp_core import bounds, limits, workloads
from ldp_core.bounds import verify
from ldp_core.bounds.general.certificate import closed_form
from ldp_core.bounds.proof import NUMBERS, READERS
from ldp_core.bounds.surveys.certificate import closed_form as closed_form_of_survey
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.data.domain import CategoricalAttribute, RangeAttribute
from ldp_core.designs import certificate_file
from ldp_core.designs.certificate_file import Written
from ldp_core.designs.proofs import Proof
from ldp_core.designs.zips import npz
from ldp_core.workloads import (
    DifferencePart,
    HistogramPart,
    ParityPart,
    PredicatesPart,
    PrefixPart,
    Survey,
    over_attributes,
)
from ldp_core.workloads.surveys import Group
from tests.certificates import MIXED, blocks, columns
from tests.refused import refused

N = 6
PRIOR = np.array([0.3, 0.05, 0.2, 0.1, 0.3, 0.05])
SHARES = np.random.default_rng(4).dirichlet(np.ones(3 * N))
YES_NO = workloads.survey([2] * 6, 2)
CONDITIONS = Survey(
    (9, 20, 7, 30),
    [
        Group((0, 1), workloads.Custom(np.outer(np.arange(9) < 4, np.arange(20) < 5).reshape(1, -1)), 0.3),
        Group((1, 2), workloads.Custom(np.add.outer(np.arange(20) > 12, np.arange(7) % 3 == 1).reshape(1, -1))),
    ],
)
ARMS = [CategoricalAttribute(name="arm", values=("a", "b", "c"), known=True)]
LIKE = [PrefixPart(attribute="score", by=("arm",))]
UNLIKE = [*LIKE, DifferencePart(of=HistogramPart(attribute="score"), attribute="arm", first="a", second="c", weight=2)]


def known(parts, sizes=(N,)):
    """Questions about ``sizes`` values of secret columns in three groups that the collector knows."""
    names = ("score", "second", "third", "fourth", "fifth", "sixth")
    columns = [
        RangeAttribute(name=name, low=1, high=many, bins=many, integer=True)
        for name, many in zip(names, sizes, strict=False)
    ]
    return over_attributes(parts, [*columns[:1], *ARMS, *columns[1:]])


def conditions():
    return known([PredicatesPart(predicates=[{"expression": f"score < {k}"} for k in (30, 100)], by=("arm",))], (520,))


KINDS = {
    "running totals": lambda: bounds.certificate(workloads.prefix(N), 1.0, None),
    "a given prior": lambda: bounds.certificate(workloads.prefix(N), 1.0, None, PRIOR),
    "worst case": lambda: bounds.worst_case(workloads.prefix(N), 1.0, None),
    "questions of one's own": lambda: closed_form(
        workloads.custom(np.random.default_rng(0).random((4, N))), 1.0, np.full(N, 1 / N)
    ),
    "few questions": lambda: bounds.certificate(
        workloads.custom(np.random.default_rng(1).standard_normal((2, 7))), 1.0, None
    ),
    "one question": lambda: bounds.certificate(workloads.custom(np.arange(N)[None] ** 2), 1.0, None),
    "one question, a prior": lambda: bounds.certificate(workloads.custom([[1, -1, 0, 0, 0, 0]]), 2.0, None, PRIOR),
    "all alike": lambda: symmetric_certificate(workloads.histogram(9), 1.0),
    "bits": lambda: symmetric_certificate(workloads.parity(4, 2), 1.0),
    "tables": lambda: closed_form_of_survey(workloads.survey([3, 4, 5], 2), 1.0),
    "yes or no by pairs": lambda: symmetric_certificate(YES_NO, 0.5),
    "one at a time": lambda: columns([3, 2, 4, 2], 2.0),
    "blocks": blocks,
    "few told apart": lambda: bounds.certificate(CONDITIONS, 1.0, None),
    "groups alike": lambda: bounds.certificate(known(LIKE), 1.0, None),
    "groups": lambda: bounds.certificate(known(UNLIKE), 1.0, None),
    "groups, a prior": lambda: bounds.certificate(known(UNLIKE), 1.0, None, SHARES),
    "the worst group": lambda: bounds.worst_case(known(UNLIKE), 1.0, None),
    "groups of bits": lambda: bounds.certificate(known([ParityPart(max_weight=3, by=("arm",))], (2,) * 6), 3.0, None),
    "groups of few told apart": lambda: bounds.certificate(conditions(), 1.0, None),
}


@cache
def proof(kind):
    return KINDS[kind]()


@cache
def written(kind):
    return certificate_file.write(proof(kind), epsilon(kind))


def epsilon(kind):
    return f"{proof(kind).epsilon:g}"


def refusal(files, kind, workload=None, asked=None):
    """Why the files are not taken for a proof of a kind; the script must not take them either."""
    return refused(
        r"cannot be used|JSON|too large|twice",
        lambda: certificate_file.read(files, workload or proof(kind).workload, asked or epsilon(kind)),
    )


def disproved(files):
    return refused(r".", verify.verified, files.document, files.arrays)


def sealed(files, arrays=None, **changes):
    """The files with other contents, the digest and the words being those that belong to them."""
    document = {**json.loads(files.document), **changes}
    packed = files.arrays if arrays is None else npz(arrays, zipfile.ZIP_STORED)
    document["sha256"] = hashlib.sha256(packed).hexdigest()
    with suppress(ValueError, KeyError, OverflowError, TypeError):
        document["meaning"] = verify.meaning(document, verify.arrays(packed))
    return Written(json.dumps(document).encode(), packed)


@pytest.mark.promise
@pytest.mark.parametrize("kind", KINDS)
def test_the_readme_of_a_proof_tells_its_questions_from_others(kind, tmp_path, monkeypatch, capsys):
    """The program that it gives to paste, with the questions of the proof and with one of them a little larger."""
    workload = proof(kind).workload
    with zipfile.ZipFile(io.BytesIO(written(kind).zipped())) as archive:
        archive.extractall(tmp_path)
    (program,) = re.findall(r"^```python\n(.*?)^```$", (tmp_path / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "verify", verify)
    W = workload.rows(np.arange(workload.num_queries))
    W = W if workload.strata is None else W[:, workload.strata.types.ravel()]
    for larger, near in ((0.0, True), (1e-3, False)):
        np.savetxt("questions.csv", W * (1 + larger * (np.arange(len(W)) == 0)[:, None]), delimiter=",", fmt="%.17g")
        exec(program, {})
        assert (float(capsys.readouterr().out) < 1e-9) is near


@pytest.mark.parametrize("kind", KINDS)
def test_a_proof_comes_back_from_its_files_and_the_script_agrees(kind):
    files, found = written(kind), proof(kind)
    again = certificate_file.read(files, found.workload, epsilon(kind))
    assert type(again) is type(found)
    assert again.verify()
    assert abs(again.value / found.value - 1) < 1e-8
    assert certificate_file.write(again, epsilon(kind)) == files  # the same bytes
    document = json.loads(files.document)
    assert verify.verified(files.document, files.arrays) == document["meaning"]
    value, proved = document["value"] / document["types"], found.value / found.workload.n
    assert value <= proved * (1 + 1e-14)
    assert document["sha256"] == hashlib.sha256(files.arrays).hexdigest()
    if "stronger" not in document:
        assert abs(value / proved - 1) < 1e-6
    else:
        assert document["value"] < document["stronger"]["value"] <= found.value


ASKED = {
    "several questions": (workloads.union([workloads.histogram(9), workloads.prefix(9)], [0.3, 1.7]), "2"),
    "pairs of many bits": (workloads.k_way_marginals(12, 2), "3"),
    "single bits": (workloads.k_way_marginals(12, 1), "0.5"),
    "parities": (workloads.parity(13, 1), "4"),
    "everybody": (workloads.parity(12, 0), "1"),
    "bits of several kinds": (
        workloads.union([workloads.k_way_marginals(12, 1), workloads.parity(12, 2)], [0.3, 1.7]),
        "1",
    ),
    "rectangles": (workloads.product([workloads.prefix(3), workloads.all_range(4)]), "0.1"),
    "widths": (workloads.width_range(12, 3), "9.5"),
    "columns": (workloads.k_way_marginals([3, 2, 4], 2), "16"),
    "a constant": (workloads.custom(np.ones((1, 5))), "7"),
    "a survey": (MIXED, "11"),
}


@pytest.mark.promise
@pytest.mark.parametrize(("workload", "epsilon"), ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("case", ["even", "worst", "prior"])
def test_whatever_is_written_is_read_back_for_the_questions_that_were_asked(workload, epsilon, case):
    if case != "even" and workload.n > 100:
        pytest.skip("types are alike, or too many")
    prior = np.random.default_rng(0).dirichlet(np.ones(workload.n)) if case == "prior" else None
    prove = bounds.worst_case if case == "worst" else bounds.certificate
    found = prove(workload, float(epsilon), None, prior)
    files = certificate_file.write(found, epsilon)
    again = certificate_file.read(files, workloads.from_spec(workload.spec), epsilon)
    assert type(again) is type(found)
    assert certificate_file.write(again, epsilon) == files
    verify.verified(files.document, files.arrays)


@pytest.mark.parametrize("kind", ["bits", "yes or no by pairs", "groups of bits"])
def test_of_a_bound_by_triples_the_smaller_one_is_read(kind):
    """Files of earlier versions, whose larger bound this one cannot check: nothing of it is believed."""
    files, found = written(kind), proof(kind)
    document, arrays = json.loads(files.document), dict(verify.arrays(files.arrays))
    assert certificate_file.left_out(files) == ""
    for place, part in enumerate(document.get("parts", [document])):
        part["proof"] = "triples"
        start = f"{place}." if "parts" in document else ""
        arrays |= {f"{start}triples_weights": np.ones(6), f"{start}triples_sizes": np.array([[0.0, 32.0]])}
    document["stronger"] = {"value": 1e6 * document["value"], "meaning": certificate_file.STRONGER}
    before = sealed(files, arrays, **document)
    again = certificate_file.read(before, found.workload, epsilon(kind))
    assert again.verify()
    assert certificate_file.write(again, epsilon(kind)) == files
    assert certificate_file.left_out(before) == certificate_file.TRIPLES
    refusal(sealed(before, value=document["value"] * (1 + 1e-7)), kind)


def test_every_class_of_certificates_reads_the_files_that_it_writes():
    """One registry by kind: no class without a kind, and each kind has its own class."""
    assert set(READERS.values()) == {type(proof(name)) for name in KINDS}
    assert {proof(name).kind for name in KINDS if hasattr(proof(name), "kind")} == set(NUMBERS)


def test_the_number_in_words_is_the_variance_rounded_down():
    for kind in KINDS:
        document = json.loads(written(kind).document)
        told = float(document["meaning"].split("below ")[1].split(" per person")[0])
        true = document["value"] / document["types"] - (
            proof(kind).value / proof(kind).workload.n - proof(kind).variance
        )
        assert true * (1 - 2e-5) < told <= true * (1 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_proof_of_other_questions_or_another_epsilon_is_refused(kind):
    other = workloads.prefix(N + 1) if proof(kind).workload.n != N + 1 else workloads.prefix(N)
    for workload in (other, workloads.histogram(N), workloads.all_range(N), workloads.survey([3, 4, 6], 2)):
        refusal(written(kind), kind, workload)
    for asked in ("0.9", "1.0000000001", "4.1"):
        assert "epsilon" in refusal(written(kind), kind, None, asked)
        with pytest.raises(ValueError, match="epsilon"):
            certificate_file.write(proof(kind), asked)
    larger = sealed(written(kind), epsilon="6")
    disproved(larger)
    refusal(larger, kind, None, "6")


def test_epsilon_is_the_decimal_number_that_was_meant():
    found = closed_form(workloads.prefix(N), 0.1, np.full(N, 1 / N))
    for text in ("0.1", " .10", "1e-1"):
        assert json.loads(certificate_file.write(found, text).document)["epsilon"] == "0.1"


@pytest.mark.promise
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [1 + 1e-7, 1e6])
def test_claims_of_more_are_refused(kind, factor):
    document = json.loads(written(kind).document)
    forged = sealed(written(kind), value=document["value"] * factor)
    disproved(forged)
    refusal(forged, kind)
    assert not replace(proof(kind), value=proof(kind).value * factor).verify()
    if "stronger" in document:
        stronger = {**document["stronger"], "value": document["stronger"]["value"] * factor}
        refusal(sealed(written(kind), stronger=stronger), kind)
    for value in (math.nan, math.inf, "1", None, [1.0]):
        forged = sealed(written(kind), value=value)
        disproved(forged)
        refusal(forged, kind)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([kind for kind in KINDS if kind != "tables"]))
def test_changed_numbers_prove_nothing_that_is_not_so(data, kind):
    """A number changed, scaled, or replaced by what is none: refused, unless the claim holds all the same."""
    arrays = {name: array.copy() for name, array in verify.arrays(written(kind).arrays).items()}
    name = data.draw(st.sampled_from(sorted(name for name, array in arrays.items() if array.size)))
    array, how = arrays[name], data.draw(st.sampled_from(["one", "all", "nan", "inf", "huge", "sign"]))
    place = data.draw(st.integers(0, array.size - 1))
    factor = data.draw(st.sampled_from([0.5, 0.99, 1.01, 3.0]))
    before = array.copy()
    array.flat[place if how != "all" else slice(None)] *= factor if how in ("one", "all") else -1
    if how in ("nan", "inf", "huge"):
        array.flat[place] = {"nan": math.nan, "inf": math.inf, "huge": 1e150}[how]
    assume(not np.array_equal(before, array))
    forged = sealed(written(kind), arrays)
    if how in ("nan", "inf", "huge"):
        disproved(forged)
        refusal(forged, kind)
        return
    try:
        found = certificate_file.read(forged, proof(kind).workload, epsilon(kind))
    except ValueError:
        pass
    else:
        # Other weights of single columns may prove more: those in the file are the first ones of a search.
        assert found.verify()
        assert found.value <= proof(kind).value * (1.05 if kind == "one at a time" else 1 + 1e-6)
        assert not name.startswith("gram")
    try:
        verify.verified(forged.document, forged.arrays)
    except ValueError:
        return
    # A smaller prior or Gram matrix is one of somebody else's questions; of these the claim may be true.
    assert name != "inverse" or factor > 0.9


def test_groups_are_those_of_the_design_in_their_scales_their_sizes_and_their_order():
    """The script takes other groups for what they are, questions of somebody else; the program does not take them for those of the design."""
    arrays, document = verify.arrays(written("groups").arrays), json.loads(written("groups").document)
    for name, array in (
        ("scales", 1.01 * arrays["scales"]),
        ("constants", arrays["constants"] + 1.0),
        ("which", np.where(arrays["which"] == 1, 1.0, np.array([0.0, 0.0, 1.0]))),
    ):
        forged = sealed(written("groups"), {**arrays, name: array})
        proved = verify.proven(document, verify.arrays(forged.arrays))
        forged = sealed(forged, value=proved)
        assert verify.verified(forged.document, forged.arrays)
        assert "other questions" in refusal(forged, "groups")
    few = known(UNLIKE, (N + 1,))
    refusal(written("groups"), "groups", few)
    refusal(written("groups"), "groups", few.without_strata)
    refusal(written("groups alike"), "groups alike", few.strata.designs[0])


def test_what_is_proved_of_groups_is_the_sum_to_the_last_bit():
    """In fractions, of what the script says of each part."""
    arrays, document = verify.arrays(written("groups, a prior").arrays), json.loads(written("groups, a prior").document)
    parts = verify.parts_of(document, arrays)
    each = [Fraction(verify.proven({**part, "format": verify.FORMAT}, own)) / N for part, own in parts]
    which, scales, constants, shares = (
        [Fraction(x) for x in arrays[name].tolist()] for name in ("which", "scales", "constants", "shares")
    )
    total = sum(s * (a * a * each[int(k)] + c) for s, a, c, k in zip(shares, scales, constants, which, strict=True))
    exact, found = 3 * N * total / sum(shares), verify.proven(document, arrays)
    assert Fraction(found) <= exact < Fraction(math.nextafter(math.nextafter(found, math.inf), math.inf))


def test_memory_is_counted_with_that_of_the_proofs_inside():
    for kind, inside in (("groups", proof("groups").parts), ("few told apart", [proof("few told apart").types])):
        assert Proof(proof(kind), (), True).size == sum(Proof(part, (), True).size for part in inside) > 0


@pytest.mark.parametrize("content", [b"", b"PK", written("tables").document])
def test_damaged_files_are_refused_in_a_sentence(content):
    files = written("running totals")
    for damaged in (Written(files.document, content), Written(content, files.arrays), sealed_raw(files, content)):
        disproved(damaged)
        refusal(damaged, "running totals")


def sealed_raw(files, packed):
    document = {**json.loads(files.document), "sha256": hashlib.sha256(packed).hexdigest()}
    return Written(json.dumps(document).encode(), packed)


def test_what_is_not_written_says_why(lower):
    running = proof("running totals")
    lower(MOST_MATRIX_TYPES=N - 1)
    refused("for at most 5 types; there are 6", certificate_file.write, running, "1")
    assert len(written("blocks").document) < limits.MOST_JSON_BYTES
