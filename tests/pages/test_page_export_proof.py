"""Proofs leave with a design, on Export and Bounds, and come back only after they were checked."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest

from ldp_core.bounds import verify
from ldp_core.designs.zips import npz
from pages.ui.session import exchange
from pages.ui.tasks import work
from tests.deploy.kit.kits import members


def packed(contents):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def resealed(parts, arrays=None, **changes):
    """The design with another proof, its digest and words recomputed."""
    document = {**json.loads(parts["certificate.json"]), **changes}
    numbers = parts["certificate.npz"] if arrays is None else npz(arrays, zipfile.ZIP_STORED)
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
        (job.title, job.state, job.error) for job in ages.session.works.values()
    ]
    return ages


def case(app):
    return app.session.setting.aim(app.configuration.mechanism.name)


@pytest.mark.promise
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
