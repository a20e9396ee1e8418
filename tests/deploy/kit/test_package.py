"""The kit: what is in it, that it runs as it says, and that it opens again only as it was made."""

import csv
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from kits import NASTY, ages, device_of, kit_of, members, packed, survey

from ldp_core import designs, limits
from ldp_core.deploy.kit import devices, package
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.deploy.kit.readme import EXAMPLE_PEOPLE, count_sql
from ldp_core.designs import bundle, certificate_file
from tests.deploy.kit.samplers import again
from tests.refused import refused

ROOT = Path(package.__file__).parents[3]
SUBSET = ages()
KIT = kit_of(SUBSET)


def swapped(content, device):
    """The kit with another device.json, whose SHA-256 is recorded as it should be."""
    parts, written = members(content), json.dumps(device).encode()
    outcome = json.loads(parts["outcome.json"])
    outcome["kit"]["device.json"] = hashlib.sha256(written).hexdigest()
    return packed({**parts, "device.json": written, "outcome.json": json.dumps(outcome).encode()})


def test_a_kit_is_the_same_bytes_again_and_holds_what_it_says():
    assert kit_of(SUBSET) == KIT
    parts = members(KIT)
    assert set(parts) == {"configuration.json", "outcome.json", *bundle.KIT}
    recorded = json.loads(parts["outcome.json"])["kit"]
    assert recorded == {name: hashlib.sha256(parts[name]).hexdigest() for name in bundle.KIT}
    said = parts["README.md"].decode()
    assert all(f"`{name}`" in said for name in parts if name != "README.md")
    for name in package.COPIED:
        assert parts[name] == (ROOT / "ldp_core/deploy/kit" / name).read_bytes()
    assert device_of(KIT) == devices.describe(SUBSET.chosen_mechanism, "1.0", SUBSET.domain)


KINDS = {
    "fitted": lambda: ages("optimized_gradient", attribute=NASTY),
    "survey": survey,
    "fitted survey": lambda: survey("optimized"),
}


def test_an_altered_device_is_refused_in_one_sentence():
    device = device_of(KIT)
    altered = json.loads(json.dumps(device))
    altered["sampler"]["inside"] += 1
    careless = packed({**members(KIT), "device.json": json.dumps(altered).encode()})
    for read in (designs.load, open_kit):
        assert "does not match the SHA-256" in refused(r".", read, careless)
    careful = swapped(KIT, again(altered))
    assert designs.load(careful).configuration == SUBSET.configuration
    assert "does not draw reports as the design beside it does" in refused(r".", open_kit, careful)
    renamed = swapped(KIT, {**device, "mechanism": "another"})
    assert "does not draw reports as" in refused(r".", open_kit, renamed)
    assert "does not draw reports as" in refused(r".", open_kit, swapped(KIT, [[]]))
    reordered = swapped(KIT, dict(reversed(device.items())))
    assert open_kit(reordered).design == device["design"]


def test_what_else_changed_in_a_kit_is_said(tmp_path):
    files = members(KIT)
    assert open_kit(KIT).warnings == ()
    without = {name: content for name, content in files.items() if name != "outcome.json"}
    for read in (designs.load, open_kit):
        assert "lacks outcome.json" in refused(r".", read, packed(without))
    changed = {**files, "client.js": files["client.js"] + b" ", "vectors.json": b"{}"}
    del changed["audit.py"], changed["count.sql"]
    for name, content in changed.items():
        (tmp_path / name).write_bytes(content)
    for place in (packed(changed), tmp_path):
        (said,) = open_kit(place).warnings
        assert "audit.py and count.sql went missing and client.js and vectors.json changed" in said
    assert designs.load(packed(changed)).warnings == [said]


def test_what_is_no_kit_is_refused_in_one_sentence(tmp_path):
    alone = package.design(SUBSET.configuration, {}, SUBSET.chosen_mechanism)
    assert "no kit" in refused(r".", open_kit, alone)
    assert "damaged zip" in refused(r".", open_kit, KIT[: len(KIT) // 2])
    assert "cannot be read" in refused(r".", open_kit, tmp_path / "nowhere.zip")
    assert "no configuration.json" in refused(r".", open_kit, tmp_path)
    assert "holiday.jpg" in refused(r".", open_kit, packed({**members(KIT), "holiday.jpg": b""}))


def test_a_proof_in_a_kit_is_checked_by_its_script_and_comes_back(tmp_path):
    found = ages("randomized_response")
    assert package.certificate_of(found) is None  # it was not requested
    proof = found.prove(found.aim("randomized_response"))
    files = package.certificate_of(found)
    content = package.kit(found, files)
    parts = members(content)
    assert set(parts) == {"configuration.json", "outcome.json", *bundle.KIT, *bundle.PROOF}
    said = parts["README.md"].decode()
    assert all(f"`{name}`" in said for name in parts if name != "README.md")
    for name in parts:
        (tmp_path / name).write_bytes(parts[name])
    told = subprocess.run([sys.executable, "-I", tmp_path / "verify.py"], capture_output=True, text=True, check=True)
    assert told.stdout.startswith("The proof holds.")
    loaded = designs.load(content)
    assert loaded.certificate == files
    back = certificate_file.read(loaded.certificate, found.workload, "1.0")
    assert back.verify()
    assert abs(back.value / proof.certificate.value - 1) < 1e-9
    assert loaded.warnings == []
    cases = [({**parts, name: parts[name] + b" "}, f"{name} changed") for name in bundle.PROOF]
    cases.append(({name: parts[name] for name in parts if name != "verify.py"}, "verify.py went missing"))
    cases.append(({**members(package.kit(found)), "verify.py": b"print('The proof holds.')"}, "verify.py came in"))
    for changed, said in cases:
        for read in (designs.load, open_kit):
            assert [said in warning for warning in read(packed(changed)).warnings] == [True]
    (tmp_path / "verify.py").write_bytes(b"")
    assert "verify.py changed" in open_kit(tmp_path).warnings[0]
    assert open_kit(content).mechanism.digest == found.chosen_mechanism.digest
    for name in ("certificate.json", "certificate.npz"):
        half = packed({other: written for other, written in parts.items() if other != name})
        assert "one is missing" in refused(r".", designs.load, half)
    large = packed({**parts, "certificate.npz": bytes(limits.MOST_PROOF_BYTES + 1)})
    assert "too large for a proof" in refused(r".", designs.load, large)


# --- run as it says -----------------------------------------------------------------------------------------------------


def unpacked(content, folder):
    for name, written in members(content).items():
        (folder / name).write_bytes(written)
    python3 = Path(sys.executable).parent
    return {**os.environ, "PATH": f"{python3}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def examples(folder):
    """The commands that the README says to paste."""
    return re.findall(r"^```sh\n(.*?)^```$", (folder / "README.md").read_text(), re.DOTALL | re.MULTILINE)


def paste(text, folder, environment):
    run = subprocess.run(["bash", "-e"], input=text, cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.promise
@pytest.mark.parametrize("kind", ["fitted", pytest.param("survey", marks=pytest.mark.slow)])
def test_the_example_in_the_readme_runs_as_it_stands(kind, tmp_path):
    found = KINDS[kind]()
    environment = unpacked(kit_of(found), tmp_path)
    audited, made, counted, day_by_day = examples(tmp_path)
    told = paste(audited, tmp_path, environment)
    assert "The promise holds." in told
    assert len(found.chosen_mechanism.aggregate(_rows(told.splitlines()[-2:])).arrays)
    paste(made, tmp_path, environment)
    with open(tmp_path / "reports.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["id"] for row in rows}) == len(rows) == EXAMPLE_PEOPLE
    assert {row["design"] for row in rows} == {device_of(kit_of(found))["design"]}
    assert found.chosen_mechanism.aggregate(_rows([row["report"] for row in rows])).users == EXAMPLE_PEOPLE
    assert not (tmp_path / "gone").exists()
    told = paste(counted, tmp_path, environment)
    assert f"{EXAMPLE_PEOPLE:,} reports counted" in told
    lines = (tmp_path / "reports.csv").read_text().splitlines()
    for day, begin, end in (("monday", 1, 600), ("tuesday", 400, 900), ("wednesday", 800, 1001)):
        (tmp_path / f"{day}.csv").write_text("\n".join([lines[0], *lines[begin:end], ""]))
    told = paste(day_by_day, tmp_path, environment)
    assert "wednesday.csv: 101 reports counted, 100 left out" in told
    assert pd.read_csv(tmp_path / "answers.csv")["adds_up_to"][0] == pytest.approx(EXAMPLE_PEOPLE)


def _rows(reports):
    rows = np.array([list(map(int, report.split())) for report in reports])
    return rows[:, 0] if rows.shape[1] == 1 else rows


def test_nothing_that_can_be_pasted_holds_a_name_from_data(tmp_path):
    unpacked(kit_of(ages(attribute=NASTY)), tmp_path)
    for example in examples(tmp_path):
        assert "touch" not in example
        assert "script" not in example
    said = (tmp_path / "README.md").read_text()
    assert all(line.startswith("    ") for line in said.splitlines() if "touch" in line)


@pytest.mark.parametrize(
    ("flags", "path", "said"),
    [([], "", "set PYTHONPATH"), (["-S"], str(ROOT), "install the program's requirements.txt")],
)
def test_collecting_without_the_program_says_what_to_do(flags, path, said, tmp_path):
    environment = unpacked(KIT, tmp_path)
    command = [sys.executable, *flags, "collect.py", "reports.csv"]  # -S: without packages
    run = subprocess.run(
        command, cwd=tmp_path, env={**environment, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert said in run.stderr


def test_reports_sent_again_do_not_move_the_counts_of_the_statement():
    """A fifth of 5,000 devices sends another report, higher or lower; also where an index has them in order. The smallest of each id
    would make 500 more of the lower ones: 16 standard errors."""
    design, people = "0123456789abcdef", 5000
    rows = [(str(i), design, str(i % 2), i) for i in range(people)]
    rows += [(str(i), design, str(1 - i % 2), people + i) for i in range(0, people, 5)]
    for engine in (duckdb.connect(), sqlite3.connect(":memory:")):
        engine.execute(
            "CREATE TABLE reports (id TEXT, design TEXT, report TEXT, arrived INTEGER, UNIQUE (id, design, report))"
        )
        engine.executemany("INSERT INTO reports VALUES (?, ?, ?, ?)", rows)
        found = dict(engine.execute(count_sql(design)).fetchall())
        assert sum(found.values()) == people
        assert abs(found["0"] - people / 2) < 6 * (people / 5 / 4) ** 0.5
        first = engine.execute(count_sql(design).replace(" RANDOM() AS", " arrived AS")).fetchall()
        assert dict(first) == {"0": people / 2, "1": people / 2}
