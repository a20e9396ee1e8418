"""No output of a command is one of its inputs, and all of them can be written: known before any work, by whatever name or link."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from designs_of_commands import HIERARCHICAL, YES_NO

import ldp_core
from ldp_core.deploy.kit.client import Device
from ldp_core.deploy.kit.opening import open_kit

ROOT = Path(ldp_core.__file__).parents[1]


@pytest.fixture
def used(shell, monkeypatch):
    """Files of all kinds that commands read, in the working folder, and what they hold."""
    monkeypatch.chdir(shell.folder)
    shell.file(YES_NO, "c.json")
    shell.result("kit", "c.json", "-o", "k.zip")
    device = Device(open_kit("k.zip").device)
    shell.holding("report\n" + "".join(f"{device.report(i % 2)}\n" for i in range(50)), "r.csv")
    shell.holding("sex\nfemale\nmale\n", "people.csv")
    shell.holding("no key", "key.pem")
    Path("unpacked").mkdir()
    subprocess.run([sys.executable, "-m", "zipfile", "-e", "k.zip", "unpacked"], check=True)
    os.symlink("r.csv", "link.csv")
    os.link("r.csv", "hard.csv")
    os.link("k.zip", "hard.zip")
    os.symlink(".", "here")
    os.link("unpacked/device.json", "device of the kit.json")
    assert shell.run("collect", "k.zip", "r.csv", "--state", "s.npz") == 0
    shell.holding("report\n1\n", ".new.npz.lock")
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.promise
@pytest.mark.parametrize(
    "arguments",
    [
        "collect k.zip r.csv -o r.csv",
        "collect k.zip r.csv -o link.csv",
        "collect k.zip r.csv -o hard.csv",
        "collect k.zip r.csv -o k.zip",
        "collect k.zip r.csv -o hard.zip",
        "collect unpacked r.csv -o unpacked/client.py",
        "collect unpacked r.csv|-o|device of the kit.json",
        "collect k.zip r.csv --state s.npz -o s.npz",
        "collect k.zip r.csv --state new.npz -o new.npz",
        "collect k.zip r.csv --state hard.zip",
        "collect k.zip .new.npz.lock --state new.npz",
        "collect k.zip r.csv --state new.npz -o .new.npz.lock",
        "design c.json -o c.json",
        "design c.json --data people.csv -o people.csv",
        "design k.zip -o hard.zip",
        "kit c.json -o key.pem --sign key.pem",
        "kit c.json -o people.csv --data people.csv",
    ],
)
def test_no_output_is_an_input(shell, used, arguments):
    command, *rest = arguments.split("|")
    assert "choose another name" in shell.refused(*command.split(), *rest)
    assert all(path.read_bytes() == content for path, content in used.items())


def test_the_same_holds_for_the_collector_in_a_kit(used):
    run = subprocess.run(
        [sys.executable, "collect.py", "../r.csv", "-o", "device.json"],
        cwd="unpacked",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "choose another name" in run.stderr
    assert all(path.read_bytes() == content for path, content in used.items())


@pytest.mark.parametrize("option", ["-o", "--state"])
@pytest.mark.parametrize("place", ["nowhere/made", "unpacked"])
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_counted(shell, used, monkeypatch, option, place):
    monkeypatch.setattr("ldp_core.deploy.collector.collect", lambda *_, **__: pytest.fail("counted before"))
    assert "folder" in shell.refused("collect", "k.zip", "r.csv", option, place)


def test_outputs_are_written_again_and_again(shell, used):
    for _ in range(2):
        assert shell.run("collect", "unpacked", "r.csv", "--state", "s.npz", "-o", "unpacked/answers.csv") == 0
        assert shell.run("design", "c.json", "-o", "made.zip") == 0


@pytest.mark.parametrize(("encoding", "flags"), [("ascii", []), ("cp1252", ["--json"])])
def test_any_encoding_of_the_output_will_do(shell, encoding, flags):
    """Of standard output as of standard error, with names that the encoding lacks."""
    given = HIERARCHICAL.domain.attributes[0].model_copy(update={"name": "возраст ≥ 日本"})
    parts = [part.model_copy(update={"attribute": given.name}) for part in HIERARCHICAL.workload.parts]
    changed = HIERARCHICAL.with_(
        domain=HIERARCHICAL.domain.model_copy(update={"attributes": (given,)}),
        workload=HIERARCHICAL.workload.model_copy(update={"parts": tuple(parts)}),
    )
    command = [sys.executable, "-m", "ldp_core", "design", shell.file(changed), *flags]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.decode(encoding)
    assert b"Traceback" not in run.stderr
