"""One place for what users can meet: no other module has a limit, and scripts that work alone repeat it exactly."""

import ast
import re
from pathlib import Path

import ldp_core
from ldp_core import limits
from ldp_core.bounds import verify
from ldp_core.deploy.kit import client

ROOT = Path(ldp_core.__file__).parent
FILES = sorted([*ROOT.rglob("*.py"), *(ROOT.parent / "pages").rglob("*.py"), ROOT.parent / "app.py"])
NAMED_AS_A_LIMIT = re.compile(r"(MOST|MAX|LARGEST|LONGEST|DEEPEST)(_|$)")
ALONE = {"bounds/verify.py", "deploy/kit/client.py"}
NO_SIZES = {  # ranges of parameters, an assumption of a theorem, and a part of what "usable" means
    ("privacy.py", "MAX_EPSILON"),
    ("mechanisms/noise/gaussian_privacy.py", "MAX_DELTA"),
    ("bounds/theorems/few_users.py", "LARGEST_EPSILON"),
    ("workloads/answers.py", "LARGEST_SIZE_ERROR"),
}


def constants(source):
    """Names that a module assigns at its top level, in capitals."""
    for node in ast.parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if hasattr(node, "target") else []
        names = (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
        yield from (name for name in names if name.isupper())


def place(file):
    return file.relative_to(ROOT if file.is_relative_to(ROOT) else ROOT.parent).as_posix()


def test_no_other_module_has_a_limit():
    """A tuning constant of one module begins with an underscore, whatever it is called."""
    found = {
        (place(file), name)
        for file in FILES
        if place(file) not in {"limits.py", *ALONE}
        for name in constants(file.read_text(encoding="utf-8"))
        if NAMED_AS_A_LIMIT.match(name)
    }
    assert found == NO_SIZES


def test_every_limit_is_used():
    """A limit that nothing reads says what is not so."""
    used = {
        name
        for file in FILES
        if place(file) != "limits.py"
        for name in re.findall(r"\b[A-Z][A-Z_]+\b", file.read_text(encoding="utf-8"))
    }
    inside = [*constants((ROOT / "limits.py").read_text(encoding="utf-8"))]
    repeated = {name for name in inside if name.startswith("MOST_DEVICE_")}
    assert set(inside) - used - repeated == set()


def test_the_script_that_checks_proofs_agrees():
    assert verify.MOST_TYPES == limits.MOST_MATRIX_TYPES
    assert verify.MOST_TEXT == limits.MOST_JSON_BYTES
    assert verify.MOST_BYTES >= limits.MOST_PROOF_BYTES  # it reads what a design holds


def test_the_client_of_a_kit_agrees():
    assert client.MOST == limits.MOST_DEVICE_TYPES
    assert client.LONGEST == limits.MOST_DEVICE_NUMBERS
    assert client.MOST_TOGETHER == limits.MOST_DEVICE_REPORTS
    assert client.DEEPEST == limits.MOST_DEVICE_DEPTH


def test_the_client_for_browsers_agrees():
    source = (ROOT / "deploy/kit/client.js").read_text(encoding="utf-8")
    assert "const MOST = 2 ** 31;" in source
    assert "const [LONGEST, MOST_TOGETHER, DEEPEST] = [2 ** 24, 2 ** 10, 20];" in source
    values = (
        limits.MOST_DEVICE_TYPES,
        limits.MOST_DEVICE_NUMBERS,
        limits.MOST_DEVICE_REPORTS,
        limits.MOST_DEVICE_DEPTH,
    )
    assert values == (2**31, 2**24, 2**10, 20)
