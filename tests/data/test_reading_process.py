"""The process that reads: it goes on where its limits cannot be set, and says why it ended."""

import io
import os
import subprocess
import sys

import openpyxl
import pytest

from ldp_core.data import tables
from tests.refused import refused

NO_LIMITS = {
    "Windows": "raise ImportError('No module named resource')",
    "macOS": "RLIM_INFINITY = 2**63 - 1\nRLIMIT_AS, RLIMIT_CPU, RLIMIT_CORE, RLIMIT_FSIZE = 5, 0, 4, 1\n"
    "def getrlimit(kind): return RLIM_INFINITY, RLIM_INFINITY\n"
    "def setrlimit(kind, both): raise ValueError('current limit exceeds maximum limit')",
    "a system of no addresses": "RLIM_INFINITY = -1\ndef getrlimit(kind): raise OSError(22, 'Invalid argument')",
}
DEATHS = [
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "The system ended this reading"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", r"processor time than this system allows .*ulimit -t"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", r"crashed on this one \(SIGSEGV\)"),
    ("raise ImportError('/usr/lib/x.so: failed to map segment from shared object')", "more memory than is allowed"),
    (
        "raise ModuleNotFoundError(\"No module named 'et_xmlfile'\")",
        "ModuleNotFoundError: No module named 'et_xmlfile'",
    ),
    ("import os; os.write(2, b'x' * 10**6); os._exit(3)", "cannot be read on this machine now"),
]


def workbook(rows=30):
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in [["age", "city"], *[[20 + i, "Rome"] for i in range(rows)]]:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


@pytest.fixture
def shadowed(tmp_path, monkeypatch):
    """Another module of a name, for the process that reads alone."""

    def shadow(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    return shadow


@pytest.mark.promise
@pytest.mark.parametrize("system", NO_LIMITS)
def test_a_system_that_sets_no_limits_reads_all_the_same(shadowed, monkeypatch, system):
    shadowed("resource", NO_LIMITS[system])
    if system == "Windows":
        monkeypatch.delattr(os, "killpg")
    assert len(tables.load(workbook(), "x.xlsx").table) == 30
    refused("is not an Excel workbook", tables.load, b"PK\x03\x04" + b"x" * 100, "x.xlsx", kind=tables.UnreadableTable)


LOWER = """
import io, resource, sys
from ldp_core.data import tables
from ldp_core.data.reading import child
resource.setrlimit(getattr(resource, sys.argv[1]), (int(sys.argv[2]),) * 2)
print(len(tables.load(sys.stdin.buffer.read(), "x.xlsx").table))
"""


@pytest.mark.parametrize(("kind", "value"), [("RLIMIT_AS", 5 * 2**29), ("RLIMIT_FSIZE", 0)])
def test_lower_limits_of_the_system_are_kept_and_enough_for_a_small_file(kind, value):
    run = [sys.executable, "-c", LOWER, kind, str(value)]
    done = subprocess.run(run, input=workbook(), capture_output=True, check=False, timeout=120)
    assert (done.stdout.strip(), done.returncode) == (b"30", 0), done.stderr


@pytest.mark.parametrize(("does", "said"), DEATHS)
def test_a_process_that_dies_gives_the_true_cause_in_one_sentence(shadowed, does, said):
    shadowed("openpyxl", does)
    sentence = refused(said, lambda: tables.load(workbook(), "x.xlsx"), kind=tables.UnreadableTable)
    assert not any(part in sentence for part in ("[Errno", "/tmp", "/usr", "Traceback"))
    assert len(sentence) < 250
