"""Statements are a ratchet: no folder is over its budget in `.budgets`, and none so far under it that the number should be lowered.

Imports and docstrings are not counted, nor lines: what is said well costs nothing.
"""

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SLACK = 0.03


def statements(source):
    """How many statements a module has, imports and docstrings left out."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    return sum(not isinstance(node, (ast.Import, ast.ImportFrom)) and not is_docstring(node) for node in nodes)


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def counted():
    """{folder: its statements}: the rooms of the core and of the tests one by one, pages as a whole."""
    found = Counter()
    for top, depth in (("ldp_core", 2), ("pages", 1), ("tests", 2)):
        for file in (ROOT / top).rglob("*.py"):
            found["/".join(file.relative_to(ROOT).parent.parts[:depth])] += statements(file.read_text(encoding="utf-8"))
    return found


@pytest.mark.promise
def test_every_folder_is_within_its_budget():
    budgets = {folder: int(most) for most, folder in map(str.split, (ROOT / ".budgets").read_text().splitlines())}
    now = counted()
    assert set(budgets) == set(now)
    assert not {folder: (now[folder], most) for folder, most in budgets.items() if now[folder] > most}
    assert not {
        folder: (now[folder], most) for folder, most in budgets.items() if now[folder] < (1 - SLACK) * most - 10
    }


if __name__ == "__main__":
    (ROOT / ".budgets").write_text("".join(f"{count:6} {folder}\n" for folder, count in sorted(counted().items())))
