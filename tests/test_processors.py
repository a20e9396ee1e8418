"""Other processors sum in another order, and fits take another path in the last bits: no test may depend on these."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).parent
NEWER, OLDER = ("X86_V4", "AVX512"), ("X86_V4", "AVX512", "X86_V3", "AVX2", "FMA3")
# What OpenBLAS runs on kinds of processors, what a processor must have for it, and how the names of what NumPy cannot use there begin.
KERNELS = {
    "SkylakeX": ("avx512f", ()),
    "Haswell": ("avx2", NEWER),
    "Zen": ("avx2", NEWER),
    "Sandybridge": ("avx", OLDER),
    "Prescott": ("sse2", OLDER),
}
RISKY = [
    "beliefs",
    "optimize",
    "bounds",
    "designs",
    "mechanisms",
    "estimators",
    "papers",
    "test_analysis.py",
    "test_docstrings.py",
    "test_readme.py",
]
"""Fits and proofs, and numbers that follow from these or are printed."""


def flags():
    info = Path("/proc/cpuinfo")
    return set(info.read_text().split()) if info.is_file() else set()


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_risky_tests_pass_on_another_processors_kernels(kernel):
    needs, lacks = KERNELS[kernel]
    if needs not in flags():
        pytest.skip(f"this processor does not run {kernel}")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
    environment |= {"OPENBLAS_CORETYPE": kernel, "OMP_NUM_THREADS": "1"}
    used = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(name for name in used if name.startswith(lacks))
    files = [str(TESTS / one) for one in RISKY]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=line", "-rf", *files]
    run = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-5000:]
