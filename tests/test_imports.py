"""The core stands alone, and imports run one way along the sentence of the package docstring."""

import ast
import importlib
import pkgutil
import subprocess
import sys
import types
from functools import cache
from pathlib import Path

import pytest

import ldp_core

ROOT = Path(ldp_core.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# A module imports from earlier lines only (and from its own part). In these rooms each part has a line of its own.
ROOMS = {"data", "studies", "deploy"}
LAYERS = [
    {"version", "privacy", "wording", "limits"},
    {"problems", "arguments"},
    {"anova", "people", "verdicts"},
    {"parts", "priors", "pictures", "threads", "run", "data.missing", "data.scales"},
    {"data.columns"},
    {"data.reading"},
    {"data.domain", "definite"},
    {"data.population"},
    {"data.tables"},
    {"workloads"},
    {"mechanisms", "bounds"},
    {"optimize"},
    {"library", "shuffled", "errors"},
    {"detection", "cases"},
    {"accuracy", "beliefs", "estimators"},
    {"analysis"},
    {"frames"},
    {"studies.simulate", "studies.sweep", "studies.asking", "studies.theorems"},
    {"studies.curves"},
    {"studies.outcomes"},
    {"designs", "charts"},
    {"deploy.kit"},
    {"deploy.collector"},
    {"deploy.commands"},
    {"__main__"},
    {"papers"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
MATHEMATICS = {
    "workloads",
    "optimize",
    "mechanisms",
    "library",
    "shuffled",
    "cases",
    "accuracy",
    "analysis",
    "beliefs",
    "bounds",
    "estimators",
    "studies",
    "frames",
    "verdicts",
}


INITS = {"__init__", *(f"{room}.__init__" for room in ROOMS)}


def part(names):
    """The part of the core that a dotted name leads to: a module, a folder, or one of these in a room."""
    names = [name.removesuffix(".py") for name in names]
    return ".".join(names[:2]) if names[0] in ROOMS else names[0]


def unit(file):
    """The part of the core that ``file`` belongs to."""
    return part(file.relative_to(ROOT).parts)


def run(node):
    """The statements of a syntax tree, but for what only type checkers read."""
    yield node
    types_only = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    for child in node.orelse if types_only else ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from run(child)


@cache
def tree(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def imported(file, nodes=run):
    """Absolute dotted names of everything imported anywhere in ``file`` of the core, also in functions."""
    package = ["ldp_core", *file.relative_to(ROOT).parts[:-1]]
    for node in nodes(tree(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def module(file):
    """The dotted name of a file of the core."""
    return ".".join(file.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = set(map(module, FILES))


def modules_read(file):
    """The modules of the core that ``file`` imports from, also where only type checkers read it."""
    for name in imported(file, ast.walk):
        yield name if name in MODULES else name.rpartition(".")[0]


def circles(reads):
    """The modules of ``reads`` {module: the modules that it imports} that stay when all are taken away that import none of them."""
    while done := {name for name, others in reads.items() if not others & reads.keys() - {name}}:
        reads = {name: others for name, others in reads.items() if name not in done}
    return reads


@cache
def imports_of(file):
    return list(imported(file))


def core_units(file):
    """Units of the core imported by ``file``, its own left out."""
    names = (name.split(".") for name in imports_of(file))
    return {part(parts[1:]) for parts in names if parts[0] == "ldp_core" and len(parts) > 1} - {unit(file)}


def test_every_part_of_the_core_has_a_layer():
    assert {unit(file) for file in FILES} - INITS <= set(RANK), "give the new module a place in LAYERS"


def test_no_file_imports_the_app_and_imports_run_one_way():
    wrong = []
    for file in FILES:
        roots = {name.split(".")[0] for name in imports_of(file)} & {"streamlit", "pages", "app"}
        later = {name for name in core_units(file) if RANK.get(name, -1) >= RANK.get(unit(file), len(LAYERS))}
        rows = {name for name in core_units(file) if name.startswith("data.")} - {
            "data.population"
        }  # it plans without any
        if found := roots | later | (rows if unit(file).split(".")[0] in MATHEMATICS else set()):
            wrong.append((str(file.relative_to(ROOT)), found))
    assert not wrong


def test_no_modules_import_each_other_in_a_circle():
    """Imports for type checkers count too: a base class that names its descendants cannot be read before them."""
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d"}}).keys() == {"a", "b", "c"}
    assert not circles({module(file): set(modules_read(file)) for file in FILES})


def test_only_tables_and_the_collector_read_files():
    reading = [file for file in FILES if core_units(file) & {"data.reading"}]
    assert {unit(file) for file in reading} - INITS == {"deploy.collector", "data.tables", "designs"}
    # Uploaded proofs are checked in the process that reads tables.
    assert [file.name for file in reading if unit(file) == "designs"] == ["proof_check.py"]


@pytest.mark.parametrize("page", sorted((ROOT.parent / "pages").glob("*.py")), ids=lambda page: page.name)
def test_no_page_shows_a_bare_string(page):
    """Streamlit writes every bare expression of a page on the screen, a string below a constant as well."""
    body = ast.parse(page.read_text(encoding="utf-8")).body[1:]
    assert not [node.lineno for node in body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]


@pytest.mark.promise
def test_modules_load_lazily_and_without_streamlit_or_the_distributions_of_scipy():
    """Those take a third of the start, and special functions do."""
    program = """
import importlib, pkgutil, sys
sys.modules["streamlit"] = None  # importing it now raises ImportError
import ldp_core as ldp
print(sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[1:])))
print(ldp.charts.__name__, ldp.frames.__name__, ldp.workloads.prefix(3).n)
print("pandas" in sys.modules, set(dir(ldp)) == set(ldp.__all__))
for name in ldp.__all__:
    getattr(ldp, name)
print("scipy.stats" in sys.modules)
for module in pkgutil.walk_packages(ldp.__path__, "ldp_core."):
    importlib.import_module(module.name)
mechanism = ldp.mechanisms.create("hierarchical", n=8, epsilon=1.0)
print(ldp.analysis.sample_complexity(mechanism, ldp.workloads.prefix(8)) > 0)
"""
    heavy = ["numpy", "scipy", "pandas", "plotly", "duckdb", "pyarrow", "cvxpy", "pydantic", "joblib", "distributed"]
    command = [sys.executable, "-c", program, *heavy, "openpyxl"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT.parent, check=True)
    assert run.stdout.splitlines() == ["[]", "ldp_core.charts ldp_core.frames 3", "True True", "False", "True"]


def test_what_the_package_advertises_is_there_and_nothing_else():
    for name in dir(ldp_core):
        assert getattr(ldp_core, name) is not None
    assert {name for name in ldp_core.__all__ if name != "__version__"} <= {name.split(".")[0] for name in RANK} | {
        "simulate"
    }
    assert not {"wording", "parts", "threads", "pictures", "definite"} & set(dir(ldp_core))
    with pytest.raises(AttributeError, match="no part 'mechanism'; did you mean 'mechanisms'"):
        _ = ldp_core.mechanism


def test_no_name_of_a_package_hides_a_module_of_it():
    """`bounds.certificate` is a function or a module, whatever was imported before."""
    hidden = []
    for found in pkgutil.walk_packages(ldp_core.__path__, "ldp_core."):
        if found.ispkg:
            package = importlib.import_module(found.name)
            names = [one.name for one in pkgutil.iter_modules(package.__path__)]
            hidden += [
                f"{found.name}.{name}"
                for name in names
                if not isinstance(getattr(package, name, package), types.ModuleType)
            ]
    assert not hidden
