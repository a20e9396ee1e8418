"""Kernels of other processors, on this one: these sum in another order, and fits take another path in the last bits.

python tests/kernels.py NAME     what to set for it, as words for `export`; it exits with 77 where this processor lacks it
python tests/kernels.py DATE     the name of the kernel of that day (2026-11-28)
"""

import sys
from datetime import date
from pathlib import Path

NOT_HERE = 77
NEWER, OLDER = ("X86_V4", "AVX512"), ("X86_V4", "AVX512", "X86_V3", "AVX2", "FMA3")
KERNELS = {
    "Haswell": ("avx2", NEWER),
    "SkylakeX": ("avx512f", ()),
    "Zen": ("avx2", NEWER),
    "Sandybridge": ("avx", OLDER),
    "Nehalem": ("sse4_2", OLDER),
    "Prescott": ("sse2", OLDER),
}
"""By the name that OpenBLAS gives a kernel: the feature that a processor needs, and prefixes of the features that NumPy may not use there."""


def lacking(name):
    """The feature that this processor lacks for the kernel, None where it lacks none."""
    info = Path("/proc/cpuinfo")
    needed = KERNELS[name][0]
    return None if info.is_file() and needed in info.read_text().split() else needed


def settings(name):
    """{variable: value} of a process that is to run with the kernel, in OpenBLAS and in NumPy."""
    import numpy as np

    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    unused = ",".join(feature for feature in found if feature.startswith(KERNELS[name][1]))
    return {"OPENBLAS_CORETYPE": name, "NPY_DISABLE_CPU_FEATURES": unused}


def main(asked):
    if asked not in KERNELS:
        try:
            day = date.fromisoformat(asked)
        except ValueError:
            sys.exit(f"There is no kernel {asked}: choose one of {', '.join(KERNELS)}.")
        print([*KERNELS][day.toordinal() % len(KERNELS)])
    elif needed := lacking(asked):
        print(f"Kernel {asked}: not run here, since this processor lacks {needed}.", file=sys.stderr)
        sys.exit(NOT_HERE)
    else:
        print(*(f"{variable}={value}" for variable, value in settings(asked).items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
