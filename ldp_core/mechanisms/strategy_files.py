"""A strategy matrix of somebody's own: CSV, or NumPy's .npy and .npz, from bytes that no one has checked."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Sequence

import numpy as np

from ldp_core.mechanisms.explicit import SUMS, check_strategy
from ldp_core.wording import NUMBER
from ldp_core.workloads import matrix_files


def is_matrix(content: bytes) -> bool:
    """True if a file may hold a matrix, and is no design: neither JSON nor a zip with JSON in it."""
    if not content.startswith(b"PK"):
        return not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return not any(name.endswith(".json") for name in archive.namelist())
    except zipfile.BadZipFile:
        return False


def read_strategy(content: bytes, n: int | None = None, labels: Sequence[str] | None = None) -> np.ndarray:
    """(m, n) probabilities: row y holds how likely report y is for people of each type, in their order or with their ``labels``
    above (see `ldp_core.workloads.matrix_files.read_matrix` for the files). A file with a row for each type, where the rows sum to 1, is
    turned round.

    ``n`` is the number of types, None for as many as there are columns (or rows, in a file that is turned round). ValueError, one
    sentence, where the file is no such matrix.
    """
    try:
        read = matrix_files.read_matrix(content, n, labels, matrix_files.REPORTS)
        matrix = read.matrix
        _check_names(read)
    except ValueError as problem:
        turned = _turned(content, n, labels)
        if turned is None:
            raise problem
        matrix = turned
    else:
        if not _sum_to_one(matrix, 0) and (turned := _turned(content, n, labels)) is not None:
            matrix = turned
    return check_strategy(matrix)


def _check_names(read: matrix_files.MatrixFile) -> None:
    """ValueError where what was taken for the names of reports is another type."""
    if read.names is None or not all(NUMBER.fullmatch(name) for name in read.names):
        return
    numbers = [float(name) for name in read.names]
    if min(numbers) > 0 and abs(math.fsum(numbers) - 1) <= SUMS:
        n = read.matrix.shape[1]
        raise ValueError(f"The matrix has {n + 1:,} columns and there are {n:,} types; give each type a column.")


def _turned(content: bytes, n: int | None, labels: Sequence[str] | None) -> np.ndarray | None:
    """(m, n) what a file with a row for each of ``n`` types holds, None where it is not one."""
    try:
        file = matrix_files.read_matrix(content, None, None, matrix_files.REPORTS)
    except ValueError:
        return None
    rows, names = file.matrix, file.names
    if (n is not None and len(rows) != n) or not _sum_to_one(rows, 1):
        return None
    if labels is not None and names is not None and len(set(names)) == n and set(names) == set(labels):
        rows = rows[[names.index(label) for label in labels]]
    return rows.T


def _sum_to_one(matrix: np.ndarray, axis: int) -> bool:
    return bool(matrix.min() >= 0 and np.abs(matrix.sum(axis=axis) - 1).max() <= SUMS)
