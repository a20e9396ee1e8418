"""Bad input is one sentence and exit code 2; Ctrl-C is 130, with what there is."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from designs_of_commands import HIERARCHICAL, YES_NO

from ldp_core import designs
from ldp_core.deploy.commands import COMMANDS
from ldp_core.deploy.commands.terminal import plain

ROOT = Path(__file__).parents[3]


@pytest.mark.crossed
@pytest.mark.parametrize("command", ["design", "audit"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"format": "other"}', "not a configuration"),
        (b"{", "not valid JSON"),
        (b"PK\x03\x04 and nothing more", "damaged zip"),
        (HIERARCHICAL.with_(domain=None).to_json(), "has no domain"),
        (HIERARCHICAL.with_(workload=None).to_json(), "asks no questions"),
    ],
    ids=["other", "half", "zip", "domain", "questions"],
)
def test_files_that_are_no_designs(shell, command, content, said):
    assert said in shell.refused(command, shell.holding(content, "design.json"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("desing",), "invalid choice"),
        (("design",), "CONFIG"),
        (("design", "nowhere.json"), "nowhere.json: No such file"),
        (("design", ROOT), "is a folder"),
        (("design", "{file}", "--seed", "-1"), "seed"),
        (("design", "{file}", "--data", "nowhere.csv"), "nowhere.csv"),
        (("design", "{file}", "-o", "nowhere/made.zip"), "nowhere/made.zip"),
        (("audit", "{file}", "--questions", "{file}"), "questions of its own"),
        (("kit", "{file}"), "-o"),
        (("collect", "{file}", "reports.csv"), "no kit"),
    ],
    ids=str,
)
def test_arguments_that_cannot_be(shell, monkeypatch, arguments, said):
    monkeypatch.chdir(shell.folder)
    file = shell.file(HIERARCHICAL)
    assert said in shell.refused(*(str(one).replace("{file}", file) for one in arguments))


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        (np.full((8, 8), 0.2), "sum to 1"),
        (np.full((3, 7), 1 / 3), "7 columns and there are 8 types"),
        (np.vstack([np.full((2, 8), 0.5), np.zeros((1, 8))]), "never sent"),
        (np.vstack([np.full((1, 8), 1.5), np.full((1, 8), -0.5)]), "not negative"),
    ],
)
def test_matrices_that_are_no_strategy(shell, strategy, said):
    own = shell.holding("\n".join(",".join(map(str, row)) for row in strategy.tolist()), "own.csv")
    told = shell.refused("audit", own, "--questions", shell.file(HIERARCHICAL))
    assert said in told
    assert "quer" not in told


def test_a_table_of_other_people_is_refused(shell):
    table = shell.holding("height\n5\n", "people.csv")
    assert "age" in shell.refused("design", shell.file(HIERARCHICAL), "--data", table)


def test_a_design_without_a_kit_is_refused_and_nothing_is_written(shell):
    gaussian = HIERARCHICAL.with_(mechanism=designs.MechanismRecipe(name="gaussian"))
    assert "continuous noise" in shell.refused("kit", shell.file(gaussian), "-o", shell.folder / "kit.zip")
    assert not list(shell.folder.glob("*.zip*"))


def test_nothing_written_is_left_half_done(shell, monkeypatch):
    kept = shell.holding("what was there before", "made.zip")

    def fail(self, target):
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(Path, "replace", fail)
    assert f"{kept}: There is no room left" in shell.refused("design", shell.file(YES_NO), "-o", kept)
    assert Path(kept).read_text() == "what was there before"
    assert not list(shell.folder.glob("*.part"))


@pytest.mark.parametrize("typed", ["--help", *(f"{name} --help" for name in COMMANDS), "desing", "design --colour"])
def test_help_and_mistyped_arguments_load_nothing_of_the_work(typed):
    program = """
import runpy, sys
try:
    runpy.run_module("ldp_core", run_name="__main__")
finally:
    print({"numpy", "pandas", "scipy", "pydantic", "duckdb"} & set(sys.modules))
"""
    run = subprocess.run([sys.executable, "-c", program, *typed.split()], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == (0 if "--help" in typed else 2)
    assert "python -m ldp_core" in run.stdout + run.stderr
    assert run.stdout.endswith("set()\n")


def started(*arguments, **how):
    command = [sys.executable, "-m", "ldp_core", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, text=True, **how)


def test_a_reader_that_has_seen_enough_is_no_error(shell):
    process = started("design", shell.file(HIERARCHICAL), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 0


def test_ctrl_c_ends_a_search_with_the_best_so_far(shell):
    """A search without an end, on a terminal: it is stopped once it has begun, and the zip holds what it found."""
    many = HIERARCHICAL.with_(
        mechanism=designs.MechanismRecipe(name="optimized_gradient"),
        optimizer=designs.Optimizer(max_rounds=10**9, rows=512),
    )
    output, (master, slave) = shell.folder / "made.zip", pty.openpty()
    process = started("design", shell.file(many), "-o", output, "--json", stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    seen = ""
    while "Fitting" not in seen:
        seen += os.read(master, 4096).decode("utf-8", "replace")
    process.send_signal(signal.SIGINT)
    out = process.communicate()[0]
    os.close(master)
    assert process.returncode == 130
    assert '"stopped": true' in out
    assert designs.load(output.read_bytes()).mechanism is not None


def test_no_text_of_a_file_moves_the_cursor():
    assert plain("a\x1b[2Jb\rc\td\n") == "a\\x1b[2Jb c d "
    assert plain("age\u202e, epsilon 12") == "age\\u202e, epsilon 12"
