"""What the default run leaves out: tests that exist, and of no promise in README.md and no page all of them."""

import ast
import re
from functools import cache

import pytest

from pages.ui.layout import PAGES
from tests.conftest import LONG, Path

TESTS = Path(__file__).parent
README = (TESTS / "README.md").read_text()
PROMISED = sorted(
    {
        name
        for row in re.findall(r"^\| [^|]* \| (`.*`) \|$", README, re.M)
        for name in re.findall(r"`([\w/]+)`", row.replace(".py", ""))
    }
)
TITLES = [title.lower() for titles in PAGES.values() for title in titles]


@cache
def functions_of(file):
    """The tests in a file, by name, with their decorators."""
    found = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)]
    return {one.name: set(map(ast.unparse, one.decorator_list)) for one in found if one.name.startswith("test_")}


def by_default(file):
    """The tests of a file of which at least one case runs by default."""
    long = {name.partition("::")[2] for name in LONG if name.startswith(f"tests/{file.relative_to(TESTS)}::")}
    return {
        name
        for name, marks in functions_of(file).items()
        if "pytest.mark.slow" not in marks and (name not in long or "pytest.mark.promise" in marks)
    }


def test_every_long_test_exists():
    named = [name.removeprefix("tests/").split("::") for name in LONG]
    assert named
    assert not [(file, name) for file, name in named if name not in functions_of(TESTS / file)]


@pytest.mark.parametrize("name", [name for name in PROMISED if "test_" in name])
def test_every_promise_has_a_test_that_runs_by_default(name):
    assert by_default(TESTS / f"{name}.py")


def test_promises_name_all_that_holds_them():
    assert len(PROMISED) > 80
    assert not [name for name in PROMISED if not (TESTS / name).is_dir() and not (TESTS / f"{name}.py").is_file()]


@pytest.mark.parametrize("title", TITLES)
def test_every_page_has_a_journey_that_runs_by_default(title):
    """A test of this page's own file, or one that walks all pages."""
    file = TESTS / "pages" / f"test_page_{title}.py"
    walks = (
        "test_each_sample_carries_through_every_page",
        "test_every_page_opens_without_data_leads_on_and_says_what_it_needs",
    )
    assert by_default(file) if file.exists() else set(walks) <= (by_default(TESTS / "pages" / "test_page_states.py"))
