"""Text that comes from data, files, links or visitors is shown as it is: no page puts it into Markdown unescaped."""

import ast
import json
import re
from pathlib import Path

import pytest

from pages.ui import streamlit_fixes
from pages.ui.say import JOINER, Markdown, join, plain, spoken, text
from pages.ui.session import browser

ROOT = Path(__file__).parents[2]
SOURCES = {
    str(file.relative_to(ROOT)): file.read_text() for file in [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]
}
SCRIPT = ("pages/ui/streamlit_fixes/__init__.py", "f'<script>{SCRIPT}{keep}</script>'")
"""The scripts of a page, with what lets a browser keep its cookie as JSON: the only HTML that is not fixed."""
STYLE = "_HERE / 'page.css'"
BODY, LABEL, OPTIONS = ("body", "help"), ("label", "help"), ("label", "options", "help", "format_func", "captions")
DRAWN = {
    **dict.fromkeys(["markdown", "caption", "write", "title", "header", "subheader", "text", "latex", "badge"], BODY),
    **dict.fromkeys(["error", "warning", "info", "success", "toast", "exception"], BODY),
    **dict.fromkeys(["button", "download_button", "form_submit_button", "link_button", "menu_button"], LABEL),
    **dict.fromkeys(
        ["checkbox", "toggle", "slider", "select_slider", "number_input", "text_input", "text_area"], LABEL
    ),
    **dict.fromkeys(["selectbox", "multiselect", "file_uploader", "date_input", "time_input", "color_picker"], LABEL),
    **dict.fromkeys(["expander", "popover", "status", "dialog", "Column", "TextColumn", "NumberColumn"], LABEL),
    **dict.fromkeys(["CheckboxColumn", "SelectboxColumn", "MultiselectColumn", "ListColumn"], LABEL),
    **dict.fromkeys(["radio", "pills", "segmented_control"], OPTIONS),
    "spinner": ("text",),
    "tabs": ("tabs",),
    "metric": ("label", "value", "help", "delta"),
    "progress": ("", "text"),
    "page_link": ("", "label", "help"),
}
"""Which texts of a call of Streamlit are Markdown: names of its arguments, the first in their order."""
FIRST = {"metric": 2, "progress": 2, "radio": 2, "pills": 2, "segmented_control": 2}
"""How many of them may come without their name; one where it is not said."""
TEMPLATES = ("text", "join", "markdown", "caption", "info", "warning", "error")
"""Functions of `say` whose first argument is drawn as it is."""
SAY = "pages/ui/say.py"
OTHERS = ("charts", "say", "setting", "state", "unit", "wording")
"""What has functions that only share a name with Streamlit's."""
LABELLED = {
    **{
        "control": 1,
        "_setting": 1,
        "take_file": 2,
        "_choice": 1,
        "_chooser": 1,
        "_number": 1,
        "_chosen": 1,
        "_chance": 3,
    },
    **{"pick": 0, "_pick": 0, "several": 0, "_question": 0, "view_switch": 2},
}
"""Functions of the pages that hand on the label of an entry, at this place among their arguments. Screen readers say it with its backslashes, so
that only what is put into it is made safe."""
OURS = {
    "pages/ui/bounds/entries.py": ("statement.words", "statement.latex", "words"),
    "pages/ui/sidebar.py": ("label", "detail"),
}
"""What is Markdown already: the catalogue of theorems, which is in the core, and what `sidebar._line` has made safe once."""


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
    "words = 'For ' + design.questions\nst.info(words)",
    "words = []\nwords.append(design.questions)\nst.info(' '.join(words))",
    "words = {}\nwords['for'] = design.questions\nst.info(words['for'])",
    "words = 'For '\nwords += design.questions\nst.info(words)",
    "for label in design.labels:\n    st.markdown(label)",
    "def say(text='nothing'):\n    st.write(text)\n\nsay(design.questions)",
    "def said():\n    return design.questions\n\nst.write(said())",
    "try:\n    pass\nexcept ValueError as error:\n    st.error(str(error))",
    "st.caption(wording.shortened(design.questions))",
    "control(st.checkbox, design.questions, 'key', True, None)",
    "pick(f'Which {question}', 'key', 1, None, {})",
    "say.info(design.questions)",
    "say.info(f'For {design.questions}')",
    "say.info('For ' + design.questions)",
    "st.info(say.text(design.questions))",
    "st.info(say.Markdown(design.questions))",
    "st.info(say.join(design.questions, ['a', 'b']))",
    "st.info('For {}'.format(design.questions))",
    "st.info('For %s' % design.questions)",
    "st.radio('Which', ['a'], captions=design.labels)",
    "st.html(f'<b>{plain(design.questions)}</b>')",
]


def is_literal(node):
    """Whether a text stands in the source: words of ours, in the place or as a constant, a choice between two, or a table of them."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(name) | ast.Attribute(attr=name):
            return name.isupper()
        case ast.Subscript():
            return is_literal(node.value)
        case ast.IfExp():
            return is_literal(node.body) and is_literal(node.orelse)
    return False


def is_safe(node):
    """Whether a text is a literal or has been made safe by `say`."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("say"), "plain" | "Markdown")):  # the second is looked at by itself
            return True
        case ast.Call(ast.Attribute(ast.Name("say"), "text" | "join"), [first, *_]):
            return is_literal(first)
        case ast.IfExp():
            return is_safe(node.body) and is_safe(node.orelse)
        case ast.NamedExpr():
            return is_safe(node.value)
        case ast.List() | ast.Tuple():
            return all(map(is_safe, node.elts))
        case ast.ListComp():
            return is_safe(node.elt)
        case ast.Lambda():
            return is_safe(node.body)
    return is_literal(node)


def handed_on(tree):
    """The names that a function of `LABELLED` has for texts which its callers make safe."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in LABELLED]
    nodes = [one for function in functions for one in ast.walk(function)]
    return {id(one) for one in nodes if isinstance(one, ast.Name) and one.id == "label"}


def drawn(call):
    """The arguments of a call that Streamlit draws as Markdown."""
    function, named = call.func, {one.arg: one.value for one in call.keywords}
    if (own := ast.unparse(function)) in LABELLED:
        return call.args[LABELLED[own] :][:1]
    if isinstance(function, ast.Attribute):
        if ast.unparse(function.value).rpartition(".")[2] in OTHERS:
            return []
        parts, first = DRAWN.get(function.attr, ()), FIRST.get(function.attr, 1)
    elif isinstance(function, ast.Name) or all(ast.unparse(one) != "st" for one in ast.walk(function)):
        return []
    else:  # such as getattr(st, kind)(...)
        parts, first = BODY, 1
    given = [*zip(parts[:first], call.args, strict=False), *named.items()]
    return [
        text for part, text in given if part in parts and part and not (part == "options" and "format_func" in named)
    ]


def is_drawn_safely(call, name, handed):
    function = ast.unparse(call.func)
    if function == "say.Markdown":
        return ast.unparse(call.args[0]) in OURS.get(name, ())
    if function == "st.html":
        html = ast.unparse(call.args[0])
        return is_literal(call.args[0]) or html == STYLE or (name, html) == SCRIPT
    if function.startswith("say.") and function.removeprefix("say.") in TEMPLATES:
        return is_literal(call.args[0])
    return all(id(text) in handed or is_safe(text) for text in drawn(call))


def unsafe(source, name=""):
    """The lines of a module where a text is drawn that is neither a literal nor has been made safe, or a function that draws is handed on."""
    tree = ast.parse(source)
    nodes, handed = list(ast.walk(tree)), handed_on(tree)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    called = {id(call.func) for call in calls}
    called |= {id(one) for call in calls if ast.unparse(call.func) in LABELLED for one in ast.walk(call.args[0])}
    found = {call.lineno for call in calls if not is_drawn_safely(call, name, handed)}
    for node in nodes:
        match node:
            case ast.Attribute(ast.Name("st"), attr) if attr in DRAWN and id(node) not in called:
                found.add(node.lineno)
    return sorted(found)


def test_all_text_in_markdown_is_ours_or_has_been_made_safe():
    found = [f"{name}:{line}" for name, source in SOURCES.items() if name != SAY for line in unsafe(source, name)]
    assert not found, found


@pytest.mark.parametrize("bypass", BYPASSES)
def test_every_bypass_is_found(bypass):
    assert unsafe(bypass)


def test_what_is_put_into_a_template_is_text():
    assert text("**{name}**: {n:,}", name="a*b", n=1200) == r"**a\*b**: 1,200"
    assert text("{words} It is.", words=text("**{name}**", name="_x_")) == r"**\_x\_** It is."
    assert text("$x_{1}$ is ours") == "$x_{1}$ is ours"
    assert text("{name}", name="{evil}") == r"\{evil\}"
    assert join(", ", ["a_b", text("*ours*")]) == r"a\_b, *ours*"


def test_what_is_added_to_markdown_is_text():
    words = text("**Ours**")
    words += " and *theirs*"
    assert words == r"**Ours** and \*theirs\*"
    assert isinstance(words, Markdown)
    assert words + text("*ours*") == words + Markdown("*ours*")


def test_html_in_markdown_is_never_switched_on():
    for name, source in SOURCES.items():
        switches = re.findall(r"unsafe_allow_html|unsafe_allow_javascript|components\.(?:v1|html)|iframe", source)
        assert switches == (["unsafe_allow_javascript"] if name == SCRIPT[0] else []), name


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


@pytest.mark.parametrize(
    "text", ["1. one", "a.b", "see www.a", "a: :b:", "x:smile:", "# head", "> quote", "~~a~~", "a  b:", ". a"]
)
def test_what_looks_harmless_and_is_not_gets_a_backslash(text):
    assert plain(text) != text.strip()


def test_ordinary_names_stay_what_they_are():
    assert plain("New York, over 90; à la carte = 5 %") == "New York, over 90; à la carte = 5 %"
    assert plain(" two\n  lines\t") == "two lines"
    assert plain("A sentence: it ends here. Another one.") == "A sentence: it ends here. Another one."
    assert spoken(f"**{plain('snake_case *')}** is `it`, $5") == "snake_case * is it, 5"


def test_names_cannot_turn_the_direction_of_a_sentence():
    assert plain("age\u202e") == "age\\\\u202e"
    assert "\u2068\u05d2\u2069" in plain("\u05d2 12")


if __name__ == "__main__":
    for name, source in SOURCES.items():
        for line in unsafe(source, name):
            print(f"{name}:{line}: {source.splitlines()[line - 1].strip()[:150]}")
