"""Workload matrices that people upload: CSV, or NumPy's .npy and .npz, from bytes that no one has checked."""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ldp_core.limits import MOST_MATRIX_BYTES, MOST_UPLOADED_ENTRIES
from ldp_core.wording import NUMBER, shortened

_NPY = b"\x93NUMPY"
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)
_NO_NUMBER = re.compile(r"[+-]?(nan|inf(inity)?|na|n/a|null|none|-)?", re.IGNORECASE)


@dataclass(frozen=True)
class Rows:
    """The words for the rows of a matrix in messages: one, several, and the meaning of ``zero``."""

    one: str
    many: str
    matrix: str
    zero: str


QUERIES = Rows("query", "queries", "workload matrix", "write 0 where a query does not count a type")
REPORTS = Rows("report", "reports", "strategy matrix", "write 0 where people of a type never send a report")
"""Those of a strategy: the probability of each report for people of each type."""


@dataclass(frozen=True, eq=False)
class MatrixFile:
    """The contents of a file: ``matrix`` (p, n) of finite numbers, and the names of its p queries,
    or None."""

    matrix: np.ndarray
    names: tuple[str, ...] | None


def read_matrix(content: bytes, n: int | None, labels: Sequence[str] | None = None, rows: Rows = QUERIES) -> MatrixFile:
    """The matrix in an uploaded file, which must have a column for each of ``n`` types (None: as many as it has columns), in their order.

    CSV: numbers separated by commas, semicolons or tabs (decimal commas with the latter two), one row per query; a
    header is skipped (where it holds the ``labels`` of the types, columns are put in their order), and where there is
    one column more than types, the first holds the names of the queries. NPZ: an array called ``matrix``, or a single
    array, and perhaps an array of text called ``names``. ``rows`` says what the rows are, for messages.

    Raises ValueError: one sentence. Objects (pickles) are never loaded, and nothing is unpacked past `MOST_MATRIX_BYTES`.
    """
    if len(content) > MOST_MATRIX_BYTES:
        raise ValueError(f"The file is larger than {MOST_MATRIX_BYTES // 1_000_000} MB; upload fewer {rows.many}.")
    if not content.strip():
        raise ValueError(f"The file is empty; it needs one row per {rows.one} and one column per type.")
    if content[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        file = _from_npz(content, rows)
    elif content[: len(_NPY)] == _NPY:
        file = MatrixFile(_array(content, "the file"), None)
    else:
        file = _from_csv(content, n, labels, rows)
    types = file.matrix.shape[-1] if n is None and file.matrix.ndim else n or 0
    return MatrixFile(checked_matrix(file.matrix, types, rows), file.names)


def checked_matrix(matrix: np.ndarray, n: int, rows: Rows = QUERIES) -> np.ndarray:
    """(p, n) float64 with the entries of ``matrix``. ValueError, one sentence, when it is not a workload on ``n``
    types."""
    if matrix.ndim != 2 or not len(matrix):
        shape = " x ".join(map(str, matrix.shape)) or "a single number"
        raise ValueError(
            f"A {rows.matrix} has one row per {rows.one} and one column per type; this one has the shape {shape}."
        )
    if matrix.shape[1] != n:
        turned = " (it has as many rows: turn it round)" if matrix.shape[0] == n else ""
        raise ValueError(
            f"The matrix has {matrix.shape[1]:,} columns and there are {n:,} types; give each type a column{turned}."
        )
    if matrix.size > MOST_UPLOADED_ENTRIES:
        raise ValueError(
            f"The matrix has {matrix.shape[0]:,} x {n:,} entries; at most {MOST_UPLOADED_ENTRIES:,} are handled, so upload fewer {rows.many}."
        )
    if np.iscomplexobj(matrix) or matrix.dtype.kind not in "biuf":
        raise ValueError(f"A {rows.matrix} holds ordinary numbers; this one holds {matrix.dtype}.")
    matrix = matrix.astype(float)
    wrong = np.argwhere(~(np.abs(matrix) <= 1e100))
    if len(wrong):
        raise ValueError(
            f"Row {wrong[0][0] + 1}, column {wrong[0][1] + 1} of the matrix is {matrix[tuple(wrong[0])]:g}; every entry must "
            "be a finite number, of at most 1e100."
        )
    empty = ~matrix.any(axis=1)
    if empty.any():
        raise ValueError(
            f"Row {int(np.argmax(empty)) + 1} of the matrix is all 0 and {'asks nothing' if rows is QUERIES else 'is never sent'}; remove it."
        )
    return matrix


def _from_csv(content: bytes, n: int | None, labels: Sequence[str] | None, what: Rows) -> MatrixFile:
    rows = _cells(content, n, what)
    n = len(rows[-1]) - (not NUMBER.fullmatch(rows[-1][0])) if n is None else n  # the first may be a name
    top = rows[0][-n:]
    order = [top.index(label) for label in labels] if labels and sorted(set(top)) == sorted(labels) else None
    texts = not any(NUMBER.fullmatch(cell) or _NO_NUMBER.fullmatch(cell) for cell in top)
    header = len(rows) > 1 and (order is not None or texts)
    body, first = rows[header:], 1 + header
    width = len(body[0])
    named = width == n + 1
    for line, row in enumerate(body, start=first):
        if len(row) != width:
            raise ValueError(
                f"Row {line} of the file has {len(row):,} cells and row {first} has {width:,}; make them equal."
            )
        for column, cell in enumerate(row[named:], start=1 + named) if width in (n, n + 1) else ():
            if not NUMBER.fullmatch(cell):
                wrong = f"holds {shortened(cell, 30)!r}, which is not a finite number" if cell else "is empty"
                raise ValueError(f"Row {line}, column {column} of the file {wrong}; {what.zero}.")
    if width not in (n, n + 1):
        raise ValueError(
            f"The matrix has {width:,} columns and there are {n:,} types; give each type a column, and perhaps names of the "
            f"{what.many} in a column before them."
        )
    names = tuple(row[0] or f"{what.one} {i}" for i, row in enumerate(body, start=1)) if named else None
    matrix = np.array([row[named:] for row in body], dtype=float)
    return MatrixFile(matrix[:, order] if header and order is not None else matrix, names)


def _cells(content: bytes, n: int | None, what: Rows) -> list[list[str]]:
    """The rows of a CSV that are not empty, their decimal commas as points; ValueError when it is not text."""
    try:
        text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(
            "The file is neither text in UTF-8 nor a NumPy file; save it as CSV in UTF-8, or as .npz."
        ) from None
    line = next((line for line in text.splitlines() if line.strip()), "")
    try:
        # The first sign that gives the right width: decimal commas separate nothing.
        fits = (sign for sign in ";\t," if n and len(next(csv.reader([line], delimiter=sign), [])) in (n, n + 1))
        delimiter = next(fits, max(";\t,", key=line.count))
        read = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows = [cells for row in read if any(cells := [cell.strip() for cell in row])]
    except csv.Error as error:
        raise ValueError(
            f"The file cannot be read as CSV ({error}); save it again, with one row per {what.one}."
        ) from None
    if not rows:
        raise ValueError(f"The file is empty; it needs one row per {what.one} and one column per type.")
    if delimiter == ",":
        return rows
    return [[cell.replace(",", ".") if _WITH_COMMA.fullmatch(cell) else cell for cell in row] for row in rows]


def _from_npz(content: bytes, what: Rows) -> MatrixFile:
    with _damage_in_words():
        archive = zipfile.ZipFile(io.BytesIO(content))
    members = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
    others = [name for name in members if name != "names"]
    if "matrix" not in members and len(others) != 1:
        listed = ", ".join(sorted(others)[:5]) or "none besides names"
        raise ValueError(
            f"The file must hold one array, or one that is called matrix; it holds {listed}. Save sparse matrices as dense ones."
        )
    wanted = ["matrix" if "matrix" in members else others[0], *({"names"} & set(members))]
    if sum(members[name].file_size for name in wanted) > MOST_MATRIX_BYTES:
        raise ValueError(
            f"The arrays in the file take more than {MOST_MATRIX_BYTES // 1_000_000} MB; upload fewer {what.many}."
        )
    with _damage_in_words():  # never more than a member declares
        unpacked = [archive.open(members[name]).read(members[name].file_size) for name in wanted]
    matrix, *rest = (_array(packed, f"{name}.npy") for name, packed in zip(wanted, unpacked, strict=True))
    if not rest:
        return MatrixFile(matrix, None)
    (names,) = rest
    if names.dtype.kind != "U" or names.shape != matrix.shape[:1]:
        raise ValueError("The names in the file must be one text for each row of the matrix.")
    try:
        texts = names.tolist()
        "".join(texts).encode().decode()  # NumPy does not check that its code points are any
    except ValueError:  # numbers that stand for no letter
        raise ValueError("The names in the file are not text; save it again with numpy.savez.") from None
    return MatrixFile(matrix, tuple(name.strip() or f"{what.one} {i}" for i, name in enumerate(texts, start=1)))


@contextmanager
def _damage_in_words() -> Iterator[None]:
    """A damaged archive can make its parser fail in any way."""
    try:
        yield
    except Exception:
        raise ValueError(
            "The .npz file is damaged or cut short and cannot be unpacked; save it again with numpy.savez."
        ) from None


def _array(content: bytes, name: str) -> np.ndarray:
    """An array in NumPy's format; its header is checked before anything is reserved for it."""
    stream, array = io.BytesIO(content), None
    try:
        headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, _, dtype = headers[np.lib.format.read_magic(stream)](stream)
        complete = min(shape, default=0) >= 0 and math.prod(shape) * max(1, dtype.itemsize) <= len(content)
        if complete and not dtype.hasobject:
            stream.seek(0)
            array = np.lib.format.read_array(stream, allow_pickle=False)
    # The header is a Python literal that describes a type: damaged, it can make NumPy fail in any way.
    except Exception:
        raise ValueError(
            f"There is no array that can be read in {name}; save it again with numpy.save or numpy.savez."
        ) from None
    if dtype.hasobject:
        raise ValueError("The array holds Python objects, which are never loaded; save it as numbers (dtype float).")
    if array is None:
        raise ValueError(f"The array in {name} is shorter than its header says; save it again.")
    return array
