"""Proofs leave with a design, on Export and Bounds, and come back only after they were checked."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest

from ldp_core import designs, workloads
from ldp_core.bounds import verify
from ldp_core.bounds.general.certificate import closed_form
from ldp_core.data.domain import Domain, NumericAttribute
from ldp_core.designs import certificate_file
from ldp_core.designs.setting import Proof
from ldp_core.workloads import RangesPart
from pages.ui.bounds import panels
from pages.ui.session import exchange
from pages.ui.tasks import work
from pages.ui.tasks.jobs import jobs
from tests.certificates import triples


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(contents):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def resealed(parts, arrays=None, **changes):
    """The design with another proof, its digest and words recomputed."""
    document = {**json.loads(parts["certificate.json"]), **changes}
    numbers = parts["certificate.npz"] if arrays is None else certificate_file._packed(arrays)
    document["sha256"] = hashlib.sha256(numbers).hexdigest()
    document["meaning"] = verify.meaning(document, verify.arrays(numbers))
    return packed({**parts, "certificate.json": json.dumps(document).encode(), "certificate.npz": numbers})


@pytest.fixture
def proved(ages):
    """Subset selection on the ages, with the proofs beside it."""
    ages.go("design").enter("selectbox", "mechanism", "subset_selection").finish().go("bounds").finish()
    work.start_certificate(ages.session, case(ages))
    ages.finish()
    assert ages.session.setting.proof(case(ages)) is not None, [
        (job.title, job.state, job.error) for job in jobs().of(ages.session.id)
    ]
    return ages


def case(app):
    return app.session.setting.aim(app.configuration.mechanism.name)


def test_the_proof_leaves_with_the_design_and_is_there_at_once_elsewhere(proved, another):
    proved.go("export").finish()
    assert proved.has("download_button", "download-proof")
    assert "a script that checks them with NumPy alone" in proved.words
    content = exchange.export(proved.session)
    parts = members(content)
    assert {"certificate.json", "certificate.npz", "verify.py"} <= set(parts)
    assert verify.verified(parts["certificate.json"], parts["certificate.npz"])
    other = another()
    other.load(content)
    assert "It was checked here, and it holds." in other.words
    ours, theirs = (app.session.setting.proof(case(app)).certificate for app in (proved, other))
    assert abs(theirs.value / ours.value - 1) < 1e-9
    assert theirs.verify()


@pytest.fixture
def slow_to_write(monkeypatch):
    for module in (exchange, panels):
        monkeypatch.setattr(module, "UNASKED_TYPES", 2)


def test_a_proof_that_takes_long_to_write_is_written_in_the_background(slow_to_write, proved):
    assert b"certificate.npz" not in exchange.export(proved.session), "nothing waits for it"
    proved.go("export").finish()
    assert not proved.has("button", "writing")
    assert proved.has("download_button", "download-proof")
    parts = members(exchange.export(proved.session))
    assert verify.verified(parts["certificate.json"], parts["certificate.npz"])


def test_the_bounds_page_offers_the_proof(proved):
    assert proved.has("download_button", "download-proof"), proved.words


def test_forged_proofs_are_refused_and_the_design_is_loaded_all_the_same(proved, another):
    parts = members(exchange.export(proved.session))
    numbers, value = dict(verify.arrays(parts["certificate.npz"])), json.loads(parts["certificate.json"])["value"]
    scaled = {**numbers, "multipliers": numbers["multipliers"] * 0.9}
    forgeries = [
        resealed(parts, value=value * 1.01),
        resealed(parts, scaled, value=value * 1.1),
        resealed(parts, epsilon="2"),
        resealed(parts, {**numbers, "prior": np.roll(np.eye(25)[0], 3)}, prior="array"),
        packed({**parts, "certificate.npz": parts["certificate.npz"][:-9]}),
    ]
    for forged in forgeries:
        other = another()
        other.load(forged)
        assert "The design was loaded." in other.words
        assert "The proof in the file cannot be used" in other.words
        assert "it holds" not in other.words
        assert other.configuration == proved.configuration


def test_a_proof_too_large_to_check_is_not_taken(proved, another, monkeypatch):
    content = exchange.export(proved.session)
    assert designs.load(content).certificate is not None
    monkeypatch.setattr(exchange, "MOST_EXACT_TYPES", 1)
    other = another()
    other.load(content)
    assert "too large to be checked while it is loaded" in other.words


def test_a_proof_for_more_than_a_thousand_types_is_taken_over(app, another):
    n = 1100
    people = designs.Population(users=10_000, origin="declared", shape="uniform")
    domain = Domain(attributes=[NumericAttribute(name="x", edges=tuple(range(n + 1)), origin="declared")])
    made = designs.Configuration(
        domain=domain, workload=designs.WorkloadRecipe(parts=(RangesPart(attribute="x"),)), population=people
    )
    app.load(made.model_dump(mode="json"))
    design = app.session.setting
    found = closed_form(design.workload, design.epsilon, np.full(n, 1 / n))
    content = designs.export(made, {}, certificate=certificate_file.write(found, made.epsilon))
    other = another()
    other.load(content)
    assert "It was checked here, and it holds." in other.words


def test_what_a_proof_by_triples_holds_counts_when_results_are_kept():
    found = triples(workloads.parity(6, 3), 3.0)
    assert Proof(found, (), True).size > 8 * len(found.numbers["triples_values"]) * 84
