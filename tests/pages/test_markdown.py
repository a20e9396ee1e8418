"""Text that comes from data, files, links or visitors is shown as it is: no page puts it into Markdown unescaped."""

import json
import re
import textwrap

import markdown_calls
import numpy as np
import pytest

from pages.ui import streamlit_fixes
from pages.ui.session import browser
from pages.ui.words import JOINER, plain, spoken

SOURCES = markdown_calls.sources()
SCRIPT = markdown_calls.SCRIPT[0]


def test_all_text_in_markdown_is_ours_or_has_been_made_safe():
    found = markdown_calls.Pages(SOURCES).check()
    assert not found, "\n".join(map(str, found))


BYPASSES = [
    'st.caption(f"{title_of_a_job}")',
    'st.caption(f"Running: {job.title}")',
    "st.markdown(design.labels[0])",
    'st.metric("Users", design.domain.attributes[0].name)',
    'st.button("Go", help=f"for {design.questions}")',
    'st.page_link("pages/data.py", label=state.source.name)',
    'st.progress(0.5, text=f"{design.questions:>40}")',
    "st.tabs([a.name for a in design.domain.attributes])",
    "st.radio('Which', state.source.columns)",
    "st.pills('Which', [1, 2], format_func=lambda i: design.labels[i])",
    "st.segmented_control('Which', [1, 2], format_func=design.labels.__getitem__)",
    "left.expander(f'About {design.questions}')",
    "st.dataframe(table, column_config={'a': st.column_config.TextColumn('A', help=design.questions)})",
    "getattr(st, 'info')(str(state.notices))",
    "(st.info if True else st.error)(state.draft.error)",
    "show = st.info\nshow(state.draft.error)",
    "frame.how_computed(design.questions)",
    "frame.chart(None, f'Of {design.questions}.', 'name')",
    "frame.need(None, 'It lacks something.', 'pages/data.py', design.questions)",
    "control(st.checkbox, design.questions, 'key', True, None)",
    "control(st.pills, 'Which', 'key', 1, None, options=design.labels)",
    "pick('Which', 'key', 1, None, {}, help=design.questions)",
    "words = 'For ' + design.questions\nst.info(words)",
    "words = []\nwords.append(design.questions)\nst.info(' '.join(words))",
    "words = {}\nwords['for'] = design.questions\nst.info(words['for'])",
    "words = 'For '\nwords += design.questions\nst.info(words)",
    "for label in design.labels:\n    st.markdown(label)",
    "def say(text='nothing'):\n    st.write(text)\n\nsay(design.questions)",
    "def said():\n    return design.questions\n\nst.write(said())",
    "try:\n    pass\nexcept ValueError as error:\n    st.error(str(error))",
    "st.caption(wording.shortened(design.questions))",
    "st.html(f'<b>{plain(design.questions)}</b>')",
]


@pytest.fixture(scope="module")
def reported():
    """Which of the bypasses are found once they stand in a page, each in a function of its own."""
    page, starts = SOURCES["pages/compare.py"], []
    for i, bypass in enumerate(BYPASSES):
        starts.append(page.count("\n") + 2)
        page += f"\ndef bypass_{i}():\n{textwrap.indent(bypass, '    ')}\n"
    found = markdown_calls.Pages({**SOURCES, "pages/compare.py": page}).check()
    places = [place.split(":") for one in found for place in (one.where, one.drawn)]
    lines = [int(line) for file, line in places if file == "pages/compare.py"]
    return {BYPASSES[np.searchsorted(starts, line, side="right") - 1] for line in lines if line >= starts[0]}


def test_every_bypass_is_found(reported):
    assert set(BYPASSES) == reported


def test_html_in_markdown_is_never_switched_on():
    for name, source in SOURCES.items():
        switches = re.findall(r"unsafe_allow_html|unsafe_allow_javascript|components\.(?:v1|html)|iframe", source)
        assert switches == (["unsafe_allow_javascript"] if name == SCRIPT else []), name


def test_a_cookie_cannot_end_the_script_that_sets_it(monkeypatch):
    """Nor can anything else that the script is told."""
    hostile, drawn = '</script><script>alert(1)</script>"});', []
    monkeypatch.setattr(browser.st, "session_state", dict.fromkeys((browser._TOKEN, browser._STALE), hostile))
    monkeypatch.setattr(browser.st, "html", lambda text, **options: drawn.append(text))
    streamlit_fixes.begin_page(browser.remembered())
    style, text = drawn
    assert style.name == "page.css"
    assert text.count("</script>") == text.count("<script>") == 1
    assert json.loads(text.rsplit("ldp.remember(", 1)[1].split("); ")[0])["token"] == hostile


def test_every_sign_of_markdown_gets_a_backslash():
    for sign in "\\`*_{}[]()<>#+-.!|$~:^&":
        assert f"\\{sign}" in plain(f"a{sign}b")


@pytest.mark.parametrize(
    "text", ["http://a.example", "WWW.a.example", "a@b.example", ":smile:", ":+1:", ":material/home:", "a -> b", ">= 3"]
)
def test_what_backslashes_do_not_stop_is_taken_apart(text):
    assert JOINER in plain(text)
    assert spoken(plain(text)) == text


def test_ordinary_names_stay_what_they_are():
    assert plain("New York, over 90; à la carte = 5 %") == "New York, over 90; à la carte = 5 %"
    assert plain(" two\n  lines\t") == "two lines"
    assert spoken(f"**{plain('snake_case *')}** is `it`, $5") == "snake_case * is it, 5"


def test_names_cannot_turn_the_direction_of_a_sentence():
    assert plain("age\u202e") == "age\\\\u202e"
    assert "\u2068\u05d2\u2069" in plain("\u05d2 12")
