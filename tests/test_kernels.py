"""`run.sh --kernel NAME` sets what BLAS and NumPy then really run."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernels import KERNELS, NEWER, NOT_HERE, RUNS_AS, lacking

SCRIPT = Path(__file__).with_name("kernels.py")
RUNNING = """
import numpy, scipy.linalg, threadpoolctl
print(*{library["architecture"] for library in threadpoolctl.threadpool_info() if library["internal_api"] == "openblas"})
print(*numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", []))
"""


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_that_is_asked_for_runs(kernel):
    plain = {"PATH": "/usr/bin:/bin"}
    told = subprocess.run([sys.executable, SCRIPT, kernel], env=plain, capture_output=True, text=True)
    assert told.returncode == (NOT_HERE if lacking(kernel) else 0)
    if lacking(kernel):
        pytest.skip(told.stderr)
    own = plain | dict(word.split("=") for word in told.stdout.split())
    found = subprocess.run([sys.executable, "-c", RUNNING], env=own, capture_output=True, text=True, check=True)
    blas, features = found.stdout.splitlines()
    assert blas in ("", RUNS_AS.get(kernel, kernel))
    assert kernel == "SkylakeX" or not features.count(NEWER[0])
