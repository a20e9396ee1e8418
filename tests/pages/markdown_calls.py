"""Reads the source of the pages: what reaches Markdown, and whether it is written by us or has passed `plain`.

Every call of Streamlit that draws Markdown is a sink. From its texts the values are followed backwards, through variables,
functions and parameters of the pages, to what they are made of. Words of ours and numbers may be there as they are, whatever
comes from elsewhere only through a function of `SAFE`. What cannot be told is reported.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

BODY, LABEL, OPTIONS = ("body", "help"), ("label", "help"), ("label", "help", "options", "format_func", "captions")
PARTS = {
    **dict.fromkeys(["markdown", "caption", "write", "title", "header", "subheader", "text", "latex", "badge"], BODY),
    **dict.fromkeys(["error", "warning", "info", "success", "toast", "exception"], BODY),
    "button": ("label", "", "help"),
    **dict.fromkeys(["download_button", "form_submit_button", "link_button", "menu_button"], LABEL),
    **dict.fromkeys(
        ["checkbox", "toggle", "slider", "select_slider", "number_input", "text_input", "text_area"], LABEL
    ),
    **dict.fromkeys(["selectbox", "multiselect", "file_uploader", "date_input", "time_input", "color_picker"], LABEL),
    **dict.fromkeys(["radio", "pills", "segmented_control"], OPTIONS),
    **dict.fromkeys(["expander", "popover", "status", "dialog", "Column", "TextColumn", "NumberColumn"], LABEL),
    "spinner": ("text",),
    "tabs": ("tabs",),
    "metric": ("label", "value", "delta", "help"),
    "progress": ("", "text"),
    "page_link": ("", "label", "help"),
    # Of the pages: these hand their texts on to a widget they are given.
    "control": ("", "label", "", "", "", "help"),
    "pick": ("label", "", "", "", "", "help"),
    "_pick": ("label", "", "", "", "", "help"),
    "_setting": ("", "label", "", "", "", "", "help"),
}
"""Which texts of a call are Markdown: names of its arguments, in their order where they may come without one."""
HANDED = {"control", "_setting"}
"""Functions of the pages that draw a widget given as their first argument."""
WITH_OPTIONS = {"radio", "pills", "segmented_control"}
"""Widgets that draw their options as Markdown too."""

SAFE = {"plain", "len", "round", "int", "min", "max", "sum", "abs", "range", "float"}
"""Functions whose result may be shown: numbers, and the one that makes text safe."""
OURS = ("wording",)
"""Modules that make nothing but numbers into words, `wording.shortened` apart."""
NOT_DRAWN = ("charts", "own.setting", "state", "unit", "wording")
"""Whose functions only share a name with Streamlit's."""
NO_TEXT = {"columns", "tabs", "container", "empty"}
"""Streamlit's functions whose result is no text."""
AS_THEY_ARE = {"capitalize", "upper", "lower", "replace", "strip", "items", "values", "keys", "title", "format"}
"""Methods of a text whose result is as safe as the text."""
KNOWN = [
    (
        r"(library\.spec\(.+\)|spec)\.(title|full_title|made_for|privacy|caveat|bits|paper)(\[.*\])?",
        "the catalogue of mechanisms",
    ),
    (r"trade_off\.BROKEN", "a sentence of ours"),
    (r"estimators\.spec\(.+\)\.(title|meaning)", "the catalogue of estimates"),
    (r"charts\.title\(.+\)", "names of mechanisms and bounds"),
    (r"frames\.BOUND_TITLES(\[.+\])?", "names of bounds"),
    (r"workloads\.ON_TYPES\[.+\]\.(title|meaning)", "the workloads of the papers"),
    (r"ESTIMATORS\[.+\]\.short", "the catalogue of estimates"),
    (r"limits\.MOST_\w+", "a number of ours"),
    (r"sample\['(title|sentence)'\]", "our samples"),
    (r"mechanisms\.FLOATING_POINT|spec\.caveat|designs\.DESIGN_ONLY|league\.MEANING", "sentences of ours"),
    (r"promises\.(ROWS_IN_MEMORY|FORGOTTEN_AT_ONCE|(reports_in_memory|forgetting|holding)\(\))", "sentences of ours"),
    (r"tables\.limits_in_words\.(upload|local|query)_in_words\(\)", "sentences of ours"),
    (r"state\.setting\.(only_case|population|mean_of|kept)|(design|released)\.(population|kept)", "sentences of ours"),
    (r"c\.epsilon|state\.configuration\.epsilon", "a decimal number, as the configuration checks"),
    (r"recipe\.unit", "one of five"),
    (r"audit\.method", "one of the ways to audit"),
    (r"spec\.(choices|settings)", "the catalogue of mechanisms"),
    (r"designs\.(risk|factor|audited)_in_words\(.+\)(\[.*\])?", "sentences about numbers"),
    (r"(proof|proof_given)\.certificate\.proves_by", "one of the ways to prove"),
    (r"verdicts\.RULE", "a sentence of ours"),
    (r"shuffled\.TRUST", "sentences and numbers of ours"),
    (r"state\.setting\.titled\(.+\)", "the catalogue of mechanisms"),
    (r"(entry\.|best\.)?statement\.(title|words|latex|source|assumptions)", "the catalogue of theorems"),
    (r"questions\.so_far\(session\)", "made safe where it is written"),
    (r"state\.lines(\[1\])?", "made safe by `sidebar._line`"),
    (r"needed\.(label|name)", "settings of the workloads of the papers"),
]
"""What else may be shown, and what it is."""
SCRIPT = ("pages/ui/streamlit_fixes/__init__.py", "f'<script>{SCRIPT}{keep}</script>'")
"""The scripts of a page, with what lets a browser keep its cookie as JSON: the only HTML that is not fixed."""
STYLE = "_HERE / 'page.css'"
_NUMBER = re.compile(r".*[,defgG%]")


@dataclass
class Found:
    """Text in Markdown that may come from data."""

    where: str
    text: str
    drawn: str

    def __str__(self):
        return f"{self.where}: {self.text}, drawn in {self.drawn}"


class Module:
    """The source of one page with, for every node, the function around it."""

    def __init__(self, name, source):
        self.name, self.tree = name, ast.parse(source)
        self.around, self.handlers, self.parents = {}, {}, {}
        self._place(self.tree, None)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ExceptHandler) and node.name:
                self.handlers.setdefault(node.name, []).append(node)

    def _place(self, node, function):
        for child in ast.iter_child_nodes(node):
            self.around[child], self.parents[child] = function, node
            self._place(child, child if isinstance(child, ast.FunctionDef | ast.Lambda) else function)

    def scopes(self, node):
        """The functions around ``node``, the innermost first, then the module itself."""
        while (node := self.around.get(node)) is not None:
            yield node
        yield self.tree


class Pages:
    """Everything that draws for people."""

    def __init__(self, sources):
        self.modules = [Module(name, source) for name, source in sources.items()]
        self.functions, self.calls = {}, {}
        for module in self.modules:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.FunctionDef):
                    self.functions.setdefault(node.name, []).append((module, node))
                if isinstance(node, ast.Call):
                    self.calls.setdefault(_called(node), []).append((module, node))
        self.found, self._seen, self._drawn = [], set(), ""

    def check(self):
        """All `Found`, none where every page keeps to the rule."""
        for module in self.modules:
            for node in ast.walk(module.tree):
                self._drawn = f"{module.name}:{getattr(node, 'lineno', 0)}"
                if isinstance(node, ast.Call):
                    self._all(module, _texts(node))
                    html = node.args[0] if ast.unparse(node.func) == "st.html" else ast.Constant("")
                    if (
                        not isinstance(html, ast.Constant)
                        and (module.name, ast.unparse(html)) != SCRIPT
                        and ast.unparse(html) != STYLE
                    ):
                        self._report(module, node)
                elif _handed_on(module, node):
                    self._report(module, node)
        return self.found

    def _report(self, module, node):
        self.found.append(Found(f"{module.name}:{node.lineno}", ast.unparse(node), self._drawn))

    def _follow(self, module, node):
        if (module.name, id(node)) in self._seen:
            return
        self._seen.add((module.name, id(node)))
        known = ast.unparse(node)
        if any(re.fullmatch(pattern, known, re.DOTALL) for pattern, _ in KNOWN):
            return
        way = getattr(self, f"_{type(node).__name__.lower()}", self._report)
        way(module, node)

    def _all(self, module, nodes):
        for node in nodes:
            self._follow(module, node)

    def _constant(self, module, node):
        pass

    _compare = _constant

    def _joinedstr(self, module, node):
        self._all(module, node.values)

    def _formattedvalue(self, module, node):
        if node.format_spec is None or not _NUMBER.fullmatch(ast.unparse(node.format_spec).strip("f'\"")):
            self._follow(module, node.value)

    def _binop(self, module, node):
        self._all(module, [node.left, node.right])

    def _boolop(self, module, node):
        self._all(module, node.values)

    def _ifexp(self, module, node):
        self._all(module, [node.body, node.orelse])

    def _starred(self, module, node):
        self._follow(module, node.value)

    def _list(self, module, node):
        self._all(module, node.elts)

    _tuple = _set = _list

    def _dict(self, module, node):
        self._all(module, [*filter(None, node.keys), *node.values])

    def _listcomp(self, module, node):
        self._follow(module, node.elt)

    _generatorexp = _setcomp = _listcomp

    def _lambda(self, module, node):
        self._follow(module, node.body)

    def _subscript(self, module, node):
        self._follow(module, node.value)

    def _attribute(self, module, node):
        if node.attr == "get":  # of a table of words
            return self._follow(module, node.value)
        root = node.value
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name) and root.id.isupper():  # a table of words that stands in the page
            return
        self._report(module, node)

    def _call(self, module, node):
        name, method = _called(node), isinstance(node.func, ast.Attribute)
        if name in SAFE or (method and ast.unparse(node.func.value) in OURS and name != "shortened") or name in NO_TEXT:
            return
        if name == "join" or (method and name in AS_THEY_ARE):
            self._follow(module, node.func.value)
            self._all(module, node.args)
        elif name in ("dict", "list", "sorted", "str", "next", "reversed", "filter", "pairwise"):
            self._all(module, node.args)
        elif name in self.functions and not method:
            for place, function in self._nearest(module, self.functions[name]):
                self._returned(place, function)
        elif method and name == "get":
            self._all(module, [node.func.value, *node.args[1:]])
        else:
            self._report(module, node)

    def _nearest(self, module, places, own=True):
        """Those of a module's own, where there are any; names are only unique within one."""
        return [one for one in places if own and one[0] is module] or places

    def _returned(self, module, function):
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and node.value is not None and module.around[node] is function:
                self._follow(module, node.value)

    def _name(self, module, node):
        if any(one.lineno <= node.lineno <= one.end_lineno for one in module.handlers.get(node.id, ())):
            return self._report(module, node)
        for scope in module.scopes(node):
            if not isinstance(scope, ast.Module) and node.id in _parameters(scope):
                return self._given(module, scope, node)
            values = list(_assigned(scope, node.id, module))
            if values:
                return self._all(module, values)
        if node.id in self.functions:  # a function that is handed on, such as format_func
            for place, function in self._nearest(module, self.functions[node.id]):
                self._returned(place, function)
        elif not node.id.isupper():
            self._report(module, node)

    def _given(self, module, function, node):
        """A parameter: what all calls of the function give for it."""
        if isinstance(function, ast.Lambda):
            return self._report(module, node)
        names, name = _parameters(function), function.name
        default = dict(zip(reversed(names), reversed(function.args.defaults), strict=False)).get(node.id)
        if default is not None:
            self._follow(module, default)
        if name not in self.calls:
            self._report(module, node)
        for place, call in self._nearest(module, self.calls.get(name, ()), name.startswith("_")):
            given = next((one.value for one in call.keywords if one.arg == node.id), None)
            position = names.index(node.id)
            if given is None and position < len(call.args):
                given = call.args[position]
            if given is not None:
                self._follow(place, given)
            elif default is None:
                self._report(place, call)


def _called(node):
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _texts(call):
    """The arguments of a call that are drawn as Markdown."""
    name, parts = _called(call), None
    if not name and "st" in {one.id for one in ast.walk(call.func) if isinstance(one, ast.Name)}:
        parts = BODY  # such as getattr(st, kind)(...)
    if name in PARTS and not (isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) in NOT_DRAWN):
        parts = PARTS[name]
    if parts is None:
        return
    if name == "control" and ast.unparse(call.args[0]).removeprefix("st.") in WITH_OPTIONS:
        parts = (*parts, "options", "format_func")
    for part, argument in zip(parts, call.args, strict=False):
        if part:
            yield argument
    yield from (one.value for one in call.keywords if one.arg in parts)


def _handed_on(module, node):
    """Whether a function of Streamlit's is used otherwise than by calling it: no text of such calls would be found."""
    if not isinstance(node, ast.Attribute) or ast.unparse(node.value) != "st" or node.attr not in PARTS:
        return False
    while (child := node) and (node := module.parents.get(node)) is not None and not isinstance(node, ast.stmt):
        if isinstance(node, ast.Call):
            return not (node.func is child or (_called(node) in HANDED and node.args[0] is child))
    return True


def _parameters(function):
    arguments = function.args
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _assigned(scope, name, module):
    """Everything ``name`` may stand for in a function or module: assigned, looped over, or taken from a list."""
    for node in ast.walk(scope):
        own = module.around.get(node)
        if own is not (None if isinstance(scope, ast.Module) else scope):
            continue
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _parts(target, node.value, name)
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            yield from _parts(node.target, node.value, name)
        elif isinstance(node, ast.For | ast.comprehension):
            yield from _parts(node.target, node.iter, name)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in (
            f"{name}.append",
            f"{name}.extend",
            f"{name}.update",
        ):
            yield from node.args


def _parts(target, value, name):
    if isinstance(target, ast.Tuple | ast.List):
        same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
        for i, one in enumerate(target.elts):
            yield from _parts(one, value.elts[i] if same else value, name)
    elif isinstance(target, ast.Starred | ast.Subscript):
        yield from _parts(target.value, value, name)
    elif isinstance(target, ast.Name) and target.id == name:
        yield value


def sources():
    files = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]
    return {str(file.relative_to(ROOT)): file.read_text() for file in files}
