"""Workload matrices: CSV, .npy and .npz, as numpy writes them and damaged."""

import io
import struct
import zipfile

import hostile
import numpy as np
import pytest
from fuzzing import attack, tried
from hypothesis import strategies as st

from ldp_core.limits import MOST_UPLOADED_ENTRIES
from ldp_core.workloads import MatrixPart
from ldp_core.workloads.matrix_files import read_matrix

HEADERS = [
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 99999), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (-2, 3), }",
    b"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)",
    b"{'descr': '<f8', 'fortran_order': 7, 'shape': (2, 3), }",
    b"{'descr': [('a', '<f8'), ('b', '|O')], 'fortran_order': False, 'shape': (2,), }",
    b"{'descr': '<M8[s]', 'fortran_order': False, 'shape': (2, 3), }",
    b"{'descr': '|V0', 'fortran_order': False, 'shape': (2, 3), }",
    b"{'descr': '<U9', 'fortran_order': True, 'shape': (1, 1), }",
    b"{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (2, 3), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (True, 3), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': 6, }",
    b"(" * 300,
    b"[" * 9000,
    b"1" * 5000,
    b"",
    b"\0" * 50,
    b"{'descr': '<f8'} if 1 else 2",
]
DTYPES = ["<f8", ">f8", "<f4", "<i8", "|b1", "|u1", "<c16", "<U3", "<f2"]


of = st.sampled_from


@st.composite
def matrices(draw):
    entries = draw(of([[0.0, 1.0], [0.5, -2.0, 3.0], [1e100, -1e-300, 0.1], [1.0, np.nan, np.inf, 1e101]]))
    rows, columns = draw(st.integers(1, 5)), draw(of([3, 3, 3, 3, 2, 1, 4]))
    return np.array(draw(st.lists(of(entries), min_size=rows * columns, max_size=rows * columns))).reshape(
        rows, columns
    )


def usable(values):
    """True if a matrix is a workload on three types, by the words of the docstring."""
    return values.shape[1] == 3 and bool(np.all(np.abs(values) <= 1e100)) and bool(np.all(np.any(values != 0, axis=1)))


labels = of([None, ("a", "b", "c")])


def check(content, expected, named):
    """Reads a file; ``expected`` is what an undamaged one holds. Returns whether it was accepted."""
    found = tried(read_matrix, content, 3, named)
    if expected is not None:
        assert (found is not None) == usable(expected)
        assert found is None or np.array_equal(found.matrix, expected)
    if found is None:
        return False
    p, n = found.matrix.shape
    assert n == 3
    assert 1 <= p <= MOST_UPLOADED_ENTRIES / 3
    assert usable(found.matrix)
    assert found.names is None or len(found.names) == p
    part = tried(MatrixPart.of, found.matrix, found.names)
    assert np.array_equal(MatrixPart.model_validate_json(part.model_dump_json()).matrix, found.matrix)
    return True


@st.composite
def as_text(draw):
    """A CSV file, and its matrix where the file is whole."""
    values, delimiter = draw(matrices()), draw(of([",", ";", "\t"]))
    cells = [[repr(float(entry)) for entry in row] for row in values]
    whole = draw(hostile.chance(3))
    if not whole:
        for row in draw(st.lists(of(cells), max_size=3)):
            row[draw(st.integers(0, len(row) - 1))] = draw(hostile.text | of([*hostile.RAW, "1,5", " 2 ", '"3"']))
        if draw(st.booleans()):
            cells = [[draw(of(["total", "=1+1"]) | hostile.text), *row] for row in cells]
        if draw(st.booleans()):
            cells.insert(0, draw(st.permutations(["a", "b", "c"])))
    text = draw(of(["\n", "\r\n"] if whole else ["\n", "\r", "\n\n"])).join(map(delimiter.join, cells))
    content = text.encode(draw(of(["utf-8", "utf-8-sig", "utf-16"])), "replace")
    if not whole and draw(hostile.chance(5)):
        content = draw(hostile.damaged_bytes(content))
    return content, values if whole and values.shape[1] == 3 else None


@pytest.mark.promise
@attack(as_text(), labels)
def test_matrices_as_csv(file, named):
    return check(*file, named)


@st.composite
def of_numpy(draw):
    values = draw(matrices())
    array = np.asfortranarray(values) if draw(hostile.chance(5)) else values
    if draw(hostile.chance(5)):
        return npy(array), values
    with np.errstate(all="ignore"):
        content = npy(array.astype(draw(of(DTYPES))))
    if draw(st.booleans()):
        header = draw(of(HEADERS))
        size, version = (
            draw(of([len(header), 0, 65535, 10])),
            draw(of([b"\1\0", b"\2\0", b"\3\0", b"\0\0", b"\xff\xff"])),
        )
        length = struct.pack("<H", size) if version == b"\1\0" else struct.pack("<I", size)
        content = b"\x93NUMPY" + version + length + header + content[128:]
    elif draw(st.booleans()):
        content = draw(hostile.damaged_bytes(content))
    return content, None


@attack(of_numpy(), labels)
def test_matrices_of_numpy(file, named):
    return check(*file, named)


@st.composite
def archives(draw):
    values = draw(matrices())
    whole = draw(hostile.chance(5))
    members = {"matrix": npy(values), "names": npy(np.array(["q"] * len(values)))}
    if not whole:
        members = {draw(of(["matrix", "W", "../x", "a/b", "names"])): npy(values)}
        if draw(st.booleans()):
            many = draw(of([len(values), len(values), 1]))
            names = np.array(draw(st.lists(hostile.text, min_size=many, max_size=many)))
            members["names"] = npy(names.astype(object) if draw(hostile.chance(5)) else names)
        if draw(hostile.chance(5)):
            members[f"b{draw(hostile.text)[:200]}"] = draw(of([b"", b"\0" * 9, npy(values)]))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", draw(of([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))) as archive:
        for name, member in members.items():
            damaged = not whole and draw(hostile.chance(5))
            archive.writestr(f"{name}.npy", draw(hostile.damaged_bytes(member)) if damaged else member)
    content = packed.getvalue()
    return content if whole or draw(st.booleans()) else draw(
        hostile.damaged_bytes(content, 3)
    ), values if whole else None


@attack(archives(), labels)
def test_matrices_in_archives(file, named):
    return check(*file, named)


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()
