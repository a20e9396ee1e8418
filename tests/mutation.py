"""Breaks lines of the core and the pages, one at a time, and counts how many the tests notice:

    python tests/mutation.py [number of lines, 40] [seed, 0]

A copy of the project is broken: a sign, a comparison, a check that is left out, a minimum for a maximum, another column. Lines are
drawn by a hash of their text, so that the same lines are drawn as long as they are there. For each, those test files run that name
the broken function or stand for its folder, and the journeys; a line that is not noticed is printed for somebody to read.
"""

import ast
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
JOURNEYS = (
    "deploy/test_journeys.py",
    "pages/test_page_one_source.py",
    "pages/test_page_bad_input.py",
    "test_analysis.py",
    "test_verdicts.py",
)
MOST_FILES = 14
MOST_SECONDS = 1800
LEFT_OUT = ("charts", "streamlit_fixes")  # pictures and a framework's faults: people look at them, and browsers
OTHER = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
OTHER |= {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}


def broken(node):
    """The node broken, or None where there is nothing to break."""
    match node:
        case ast.BinOp() if type(node.op) in OTHER and not any(isinstance(side, ast.Constant | ast.JoinedStr) and isinstance(
                getattr(side, "value", ""), str) for side in (node.left, node.right)):  # fmt: skip
            return ast.BinOp(node.left, OTHER[type(node.op)](), node.right)
        case ast.Compare(ops=[op]) if type(op) in OTHER:
            return ast.Compare(node.left, [OTHER[type(op)]()], node.comparators)
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            return operand
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[_, _, *_]):
            return ast.Call(ast.Name("max" if name == "min" else "min"), node.args, node.keywords)
        case ast.If(body=[ast.Raise()], orelse=[]):
            return ast.Pass()
        case ast.keyword(arg="axis", value=ast.Constant(value=int(axis))):
            return ast.keyword("axis", ast.Constant(0 if axis else 1))
    return None


def changes(path):
    """Of one file: (what is drawn by, the function, the source before, the source after), for each that can be broken in one piece."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        for node in (part for statement in function.body for part in ast.walk(statement)):
            other = broken(node)
            if other is None:
                continue
            first = starts[node.lineno - 1] + node.col_offset
            last = starts[node.end_lineno - 1] + node.end_col_offset
            after = ast.unparse(ast.fix_missing_locations(other)).encode()
            bracketed = after if isinstance(node, ast.If | ast.keyword) else b"(" + after + b")"
            key = f"{path.relative_to(ROOT)} {function.name} {source[first:last].decode()}"
            yield key, function.name, source[first:last].decode(), source[:first] + bracketed + source[last:]


def nearest(path, name, tests):
    """The test files to run, those that name the function first."""
    folder = path.relative_to(ROOT).parts[1] if path.is_relative_to(ROOT / "ldp_core") else "pages"
    naming = [file for file, text in tests.items() if re.search(rf"\b{name.strip('_')}\b", text)]
    module = [file for file, text in tests.items() if re.search(rf"\b{path.stem}\b", text) and file not in naming]
    files = sorted(naming, key=lambda file: folder not in file) + sorted(module, key=lambda file: folder not in file)
    files += [file for file in tests if file.startswith(f"{folder}/")]
    return list(dict.fromkeys(files))[:MOST_FILES] + [file for file in JOURNEYS if file in tests]


def main(count=40, seed=0):
    files = [*(ROOT / "ldp_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    files = [path for path in files if not set(LEFT_OUT) & set(path.parts)]
    drawn = sorted(
        (
            (hashlib.sha256(f"{seed} {change[0]}".encode()).hexdigest(), path, change)
            for path in files
            for change in changes(path)
        ),
        key=lambda one: one[0],
    )[:count]
    tests = {
        str(file.relative_to(ROOT / "tests")): file.read_text() for file in sorted((ROOT / "tests").rglob("test_*.py"))
    }
    tests = {file: text for file, text in tests.items() if not file.startswith(("browser", "benchmarks"))}
    noticed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv*", ".git", ".hypothesis", "*_cache"))
        for _, path, (_, name, before, after) in drawn:
            place = copy / path.relative_to(ROOT)
            whole = place.read_bytes()
            place.write_bytes(after)
            chosen = [f"tests/{file}" for file in dict.fromkeys(nearest(path, name, tests))]
            run = [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-x",
                "-p",
                "no:cacheprovider",
                "-o",
                "addopts=",
                "-m",
                "not slow and not benchmark",
            ]
            try:
                code = subprocess.run(
                    [*run, *chosen], cwd=copy, capture_output=True, check=False, timeout=MOST_SECONDS
                ).returncode
            except subprocess.TimeoutExpired:  # it goes on for ever
                code = -1
            place.write_bytes(whole)
            noticed += code != 0
            print(
                "noticed " if code else "MISSED  ",
                path.relative_to(ROOT),
                name,
                " ".join(before.split())[:90],
                flush=True,
            )
    print(f"{noticed} of {len(drawn)} noticed")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
