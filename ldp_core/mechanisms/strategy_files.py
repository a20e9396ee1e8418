"""A strategy matrix of somebody's own: CSV, or NumPy's .npy and .npz, from bytes that nobody has checked."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

import numpy as np

from ldp_core.mechanisms.explicit import check_strategy
from ldp_core.workloads import matrix_files


def is_matrix(content: bytes) -> bool:
    """Whether a file may hold a matrix, and is no design: neither JSON nor a zip with JSON in it."""
    if not content.startswith(b"PK"):
        return not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return not any(name.endswith(".json") for name in archive.namelist())
    except zipfile.BadZipFile:
        return False


def read_strategy(content: bytes, n: int | None = None, labels: Sequence[str] | None = None) -> np.ndarray:
    """(m, n) probabilities: row y holds how likely report y is for people of each type, in their order or with their ``labels``
    above (see `ldp_core.workloads.matrix_files.read_matrix` for the files).

    ``n`` is the number of types, None for as many as there are columns. ValueError, one sentence, where the file is no such matrix.
    """
    return check_strategy(matrix_files.read_matrix(content, n, labels, matrix_files.REPORTS).matrix)
