"""What a page costs that is drawn again with nothing changed: how many of our functions are called, which no machine makes more or fewer."""

import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = (str(ROOT / "app.py"), str(ROOT / "pages"), str(ROOT / "ldp_core"))


def calls(act):
    """How many calls of functions of the pages and the core ``act()`` makes, in any thread."""
    found = []

    def count(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            found.append(frame.f_code)

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len(found)


@pytest.mark.parametrize(("page", "most"), [("design", 3000), ("guide", 200)])
def test_a_page_that_is_drawn_again_works_nothing_out_anew(ages, unasked, page, most):
    ages.go("design").finish().go(page).finish()
    ages.at.run()
    assert 0 < calls(ages.at.run) <= most


def test_the_sidebar_shows_what_a_page_has_found_and_works_out_nothing(ages):
    ages.session.change(mechanism={"name": "hadamard", "parameters": {}})
    assert "Minimum: not worked out" in ages.go("guide").words
    setting = ages.go("design").session.setting
    ages.go("guide")
    assert ages.session.setting is setting
    assert "the minimum" in ages.words
    assert "Minimum: not worked out" not in ages.words
    ages.session.change(epsilon="2")
    assert "Minimum: not worked out" in ages.go("guide").words
    ages.session.undo()
    assert "the minimum" in ages.go("guide").words  # it is the setting that was shown before


def test_an_equal_design_is_the_same_setting(ages):
    first = ages.go("design").session.setting
    ages.session.change(epsilon="2")
    assert ages.session.setting is not first
    ages.session.change(epsilon="1")
    assert ages.session.setting is first
    assert ages.session.configuration == first.configuration
