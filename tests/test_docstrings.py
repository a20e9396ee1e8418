"""The examples in docstrings run and give what they show, and no docstring documents an argument that is not there."""

import ast
import doctest
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import ldp_core as ldp

ROOT = Path(ldp.__file__).parents[1]
SHOWN = [file for file in sorted(ROOT.glob("ldp_core/**/*.py")) if ">>> " in file.read_text(encoding="utf-8")]


def module_of(file):
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("module", [module_of(file) for file in SHOWN])
def test_examples_give_what_they_show(module):
    names = {"ldp": ldp, "np": np}
    found = doctest.testmod(import_module(module), globs=names, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted
    assert not found.failed


NUMPY = (
    re.compile(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=\n\n|\Z)", re.M | re.S),
    re.compile(r"^([*\w][*\w, ]*?)(?: :.*)?$", re.M),
)
GOOGLE = re.compile(r"^(?:Args|Attributes):\n(.*?)(?=\n\n|\Z)", re.M | re.S), re.compile(r"^    (\w[*\w, ]*):", re.M)
QUOTED = re.compile(r"``([A-Za-z_]\w*)(?:=[^`]*)?``")


@cache
def trees():
    files = [*ROOT.glob("ldp_core/**/*.py"), *ROOT.glob("pages/**/*.py")]
    return {str(file.relative_to(ROOT)): ast.parse(file.read_text(encoding="utf-8")) for file in files}


@cache
def classes():
    return {node.name: node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


@cache
def arguments(node):
    """The names that a function takes, or that a class and those it is derived from have: fields, methods, their arguments."""
    if not isinstance(node, ast.ClassDef):
        return {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    names = set().union(*(arguments(classes()[base]) for base in map(ast.unparse, node.bases) if base in classes()))
    for part in ast.walk(node):
        names |= {getattr(part, "arg", None), getattr(part, "name", None)}
        if isinstance(part, ast.AnnAssign):
            names.add(ast.unparse(part.target).removeprefix("self."))
        elif isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "self":
            names.add(part.attr)
    return names


def untrue(node, known):
    """(line, names) of the docstrings within ``node`` that document what nobody takes and is not ``known``."""
    for part in ast.iter_child_nodes(node):
        around = known
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            around = known | arguments(part)
            docstring = ast.get_docstring(part) or ""
            entries = [
                one
                for style, entry in (NUMPY, GOOGLE)
                for text in style.findall(docstring)
                for one in entry.findall(text)
            ]
            listed = {name.strip("* ") for entry in entries for name in entry.split(",")}
            if wrong := listed - arguments(part) | set(QUOTED.findall(docstring)) - around:
                yield part.lineno, wrong
        yield from untrue(part, around)


def test_docstrings_document_arguments_that_are_there():
    """Names of columns and keys may stand between double backticks as well: those that the file itself has as text or keyword."""
    wrong = {}
    for file, tree in trees().items():
        texts = {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        wrong[file] = list(untrue(tree, texts | {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}))
    assert not {file: found for file, found in wrong.items() if found}


def test_a_docstring_that_documents_an_argument_that_is_not_there_is_found():
    source = '''
def numpy(a, b, *c):
    """
    Parameters
    ----------
    a, d : two.
        e : more of these.
    c
        Others.

    Returns
    -------
    f : this.
    """
def google(a):
    """One.

    Args:
        a: this. It has
            b: more.
        g, a: that.
    """
def quoted(a):
    """Of ``a`` and ``h``, ``a + i`` and ``j=3``."""
    def within(k):
        """``a`` and ``k``."""
'''
    assert [wrong for _, wrong in untrue(ast.parse(source), set())] == [{"d"}, {"g"}, {"h", "j"}]
