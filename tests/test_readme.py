"""The examples of the README run, and the things that it names exist."""

import json
import re
import subprocess
import sys
import zipfile
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

import ldp_core
from ldp_core.data.domain import Domain, NumericAttribute
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit.client import Device
from ldp_core.designs import Configuration, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer

ROOT = Path(__file__).parents[1]
FILES = [
    "README.md",
    "ldp_core/README.md",
    "ldp_core/data/README.md",
    "ldp_core/deploy/README.md",
    "pages/README.md",
    "tests/README.md",
]
TEXTS = {name: (ROOT / name).read_text() for name in FILES}
README, EVERYTHING = TEXTS["README.md"], "\n".join(TEXTS.values())
BLOCKS = [
    re.sub("^    ", "", block, flags=re.M) for block in re.findall(r"(?:^(?:    .*)?\n)+", EVERYTHING, flags=re.M)
]
EXAMPLES = [block for block in BLOCKS if "ldp." in block and "kit.zip" not in block]
COMMANDS, KIT = (block for block in BLOCKS if "kit.zip" in block)


def test_examples_run(tmp_path, monkeypatch, clock):
    clock.step = 0.004  # ten seconds are 2,500 looks at it, on any machine
    monkeypatch.chdir(tmp_path)
    survey = "age,sex\n" + "\n".join(f"{20 + i % 50},{'Female' if i % 3 else 'Male'}" for i in range(200))
    Path("survey.csv").write_text(survey)
    names = {}
    assert len(EXAMPLES) == 8
    for block in EXAMPLES:
        exec(block.replace("64", "12"), names)  # the same for fewer types
    best, proof = names["best"], names["proof"]
    assert proof.verify()
    assert 0 <= best.objective / proof.value - 1 < 0.02
    assert names["counts"].sum() == names["found"].users == 200
    secret = ldp_core.bounds.centred_svd(names["groups"].without_strata, epsilon=1.0)
    assert round(names["in_groups"].objective / secret, 2) == 0.35
    assert names["saved"].mechanism().audit().promise == "secret"
    everything = ldp_core.optimize.exact(ldp_core.workloads.histogram(2), epsilon=1.0).objective
    assert round((names["saved"].objective - 2) / (everything - 2), 2) == 0.32
    by_region, proved, trace = names["by_region"], names["proved"], names["pairs"].trace
    assert round((by_region.objective - trace) / (proved.value - trace) - 1, 4) == 0.0002


def test_a_design_becomes_a_kit_and_its_reports_become_answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    age = NumericAttribute(name="age", edges=(0, 20, 40, 60), origin="declared")
    asked = WorkloadRecipe(parts=(ldp_core.workloads.PrefixPart(attribute="age"),))
    chosen = Configuration(domain=Domain(attributes=(age,)), workload=asked, optimizer=Optimizer(max_rounds=3))
    Path("configuration.json").write_bytes(chosen.to_json())
    for line in COMMANDS.strip().splitlines():
        command = line.partition("#")[0].split()
        if command[3] == "collect":
            Path("monday.csv").write_text(
                "report\n" + "\n".join(Device(described("kit.zip")).report(0) for _ in range(500)) + "\n"
            )
        assert command[:3] == ["python", "-m", "ldp_core"]
        assert main(command[3:]) == 0
    assert len(Path("answers.csv").read_text().splitlines()) == 4
    names = {"ldp": ldp_core}
    exec(KIT, names)
    assert names["collection"].reports.users == 500


def described(kit):
    return json.loads(zipfile.ZipFile(kit).read("device.json"))


def test_the_package_is_found_from_another_folder(tmp_path):
    line = re.search("`(import sys; sys.path[^`]+)`", README)[1].replace("/path/to/this/folder", ROOT.as_posix())
    program = f"{line}; import ldp_core; print(ldp_core.__file__)"
    command = [sys.executable, "-I", "-c", program]  # without the working directory or PYTHONPATH
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert Path(run.stdout.strip()) == ROOT / "ldp_core" / "__init__.py"


@pytest.mark.parametrize(
    "name",
    re.findall(r"`((?:[a-z_]+/)*test_[a-z_]+\.py|adversary/|browser/|papers/|benchmarks/)`", TEXTS["tests/README.md"]),
)
def test_what_is_named_among_the_tests_is_there(name):
    assert (ROOT / "tests" / name).exists()


def without_promises():
    """All texts but that of the tests, which names files within their folder."""
    return "\n".join(text for name, text in TEXTS.items() if name != "tests/README.md")


@pytest.mark.parametrize(
    "place", sorted(set(re.findall(r"`((?:ldp_core|pages|tests|sample_data)/[a-zA-Z_/.]*)`", without_promises())))
)
def test_places_are_there(place):
    assert (ROOT / place).exists()


def test_it_is_short():
    assert len(README.splitlines()) <= 140


def test_every_folder_of_the_core_has_its_line():
    folders = {path.parent.name for path in (ROOT / "ldp_core").glob("*/__init__.py")}
    assert folders <= set(re.findall(r"`ldp_core/([a-z]+)/`", README))


@pytest.mark.parametrize(
    ("file", "name"), re.findall(r"^\| .+ \| `(ldp_core/\S+)\.py` \| `([\w.]+)` \|$", TEXTS["ldp_core/README.md"], re.M)
)
def test_formulas_stand_where_they_are_said_to(file, name):
    assert callable(attrgetter(name)(import_module(file.replace("/", "."))))
