"""Lines are a ratchet: no folder is over its budget in `.budgets`, and none so far under it that the number should be lowered."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
CODE = {".py", ".js", ".sql"}
SLACK = 0.03


def lines():
    """{folder: its lines of code}: the rooms of the core and of the tests one by one, pages as a whole."""
    found = Counter()
    for top, depth in (("ldp_core", 2), ("pages", 1), ("tests", 2)):
        for file in (ROOT / top).rglob("*"):
            if file.suffix in CODE:
                found["/".join(file.relative_to(ROOT).parent.parts[:depth])] += file.read_text().count("\n")
    return found


def test_every_folder_is_within_its_budget():
    budgets = {folder: int(most) for most, folder in map(str.split, (ROOT / ".budgets").read_text().splitlines())}
    now = lines()
    assert set(budgets) == set(now)
    assert not {folder: (now[folder], most) for folder, most in budgets.items() if now[folder] > most}
    assert not {
        folder: (now[folder], most) for folder, most in budgets.items() if now[folder] < (1 - SLACK) * most - 10
    }


if __name__ == "__main__":
    (ROOT / ".budgets").write_text("".join(f"{count:6} {folder}\n" for folder, count in sorted(lines().items())))
