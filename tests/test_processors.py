"""Other processors sum in another order, and fits take another path in the last bits: no test may depend on these."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# What OpenBLAS runs on kinds of processors, with what a processor must have for it.
KERNELS = {
    "SkylakeX": "avx512f",
    "Haswell": "avx2",
    "Zen": "avx2",
    "Sandybridge": "avx",
    "Prescott": "sse2",
}
RISKY = [
    "beliefs",
    "optimize",
    "bounds",
    "designs",
    "mechanisms",
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
def test_the_risky_part_of_the_suite_passes_with_the_kernel_of_another_processor(kernel):
    if KERNELS[kernel] not in flags():
        pytest.skip(f"this processor does not run {kernel}")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
    environment |= {"OPENBLAS_CORETYPE": kernel, "OMP_NUM_THREADS": "1"}
    files = [str(TESTS / one) for one in RISKY]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=line", "-rf", *files]
    run = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-5000:]
