"""Workload matrices: CSV, .npy and .npz, as numpy writes them and damaged."""

import io
import struct
import zipfile

import hostile
import numpy as np
from fuzzing import fuzz, tried

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


def matrix(rng):
    entries = rng.choice(
        [[0.0, 1.0], [0.5, -2.0, 3.0], [1e100, -1e-300, 0.1], [1.0, float("nan"), float("inf"), 1e101]]
    )
    rows, columns = rng.randint(1, 5), rng.choice([3, 3, 3, 3, 2, 1, 4])
    return np.array([[rng.choice(entries) for _ in range(columns)] for _ in range(rows)])


def usable(values):
    """True if a matrix is a workload on three types, by the words of the docstring."""
    return values.shape[1] == 3 and bool(np.all(np.abs(values) <= 1e100)) and bool(np.all(np.any(values != 0, axis=1)))


def check(rng, content, expected):
    """Reads a file; ``expected`` is what an undamaged one holds. Returns whether it was accepted."""
    found = tried(read_matrix, content, 3, rng.choice([None, ("a", "b", "c")]))
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


@fuzz(600)
def test_matrices_as_csv(rng):
    values = matrix(rng)
    delimiter = rng.choice([",", ";", "\t"])
    lines = [delimiter.join(repr(float(entry)) for entry in row) for row in values]
    whole = rng.random() < 0.3
    if not whole:
        cells = [line.split(delimiter) for line in lines]
        for _ in range(rng.randint(0, 3)):
            row = rng.choice(cells)
            row[rng.randrange(len(row))] = rng.choice([hostile.text(rng), rng.choice(hostile.RAW), "1,5", " 2 ", '"3"'])
        if rng.random() < 0.4:
            cells = [[rng.choice(["total", "=1+1", hostile.text(rng)]), *row] for row in cells]
        if rng.random() < 0.4:
            cells.insert(0, rng.sample(["a", "b", "c"], 3))
        lines = [delimiter.join(row) for row in cells]
    content = rng.choice(["\n", "\r\n"] if whole else ["\n", "\r", "\n\n"]).join(lines)
    data = content.encode(rng.choice(["utf-8", "utf-8-sig", "utf-16"]), "replace")
    if not whole and rng.random() < 0.2:
        data = hostile.damaged_bytes(rng, data)
    return check(rng, data, values if whole and values.shape[1] == 3 else None)


@fuzz(600)
def test_matrices_of_numpy(rng):
    values, kind = matrix(rng), rng.choice(DTYPES)
    array = np.asfortranarray(values) if rng.random() < 0.2 else values
    content = npy(array if kind == "<f8" or rng.random() < 0.5 else array.astype(kind))
    whole = rng.random() < 0.2
    if whole:
        content = npy(array)
    elif rng.random() < 0.4:
        header = rng.choice(HEADERS)
        size = rng.choice([len(header), len(header), 0, 65535, 10])
        version = rng.choice([b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\0\0", b"\xff\xff"])
        length = struct.pack("<H", size) if version == b"\1\0" else struct.pack("<I", size)
        content = b"\x93NUMPY" + version + length + header + content[128:]
    elif rng.random() < 0.5:
        content = hostile.damaged_bytes(rng, content)
    return check(rng, content, values if whole else None)


@fuzz(400)
def test_matrices_in_archives(rng):
    values = matrix(rng)
    names = np.array([hostile.text(rng) for _ in range(rng.choice([len(values), len(values), 1]))])
    members = {rng.choice(["matrix", "W", "../x", "a/b", "names"]): npy(values)}
    if rng.random() < 0.4:
        members["names"] = npy(names if rng.random() < 0.8 else names.astype(object))
    if rng.random() < 0.2:
        members[f"b{hostile.text(rng)[:200]}"] = rng.choice([b"", b"\0" * 9, npy(values)])
    whole = rng.random() < 0.2
    if whole:
        members = {"matrix": npy(values), "names": npy(np.array(["q"] * len(values)))}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, member in members.items():
            damaged = not whole and rng.random() < 0.2
            archive.writestr(f"{name}.npy", hostile.damaged_bytes(rng, member) if damaged else member)
    content = packed.getvalue()
    if not whole and rng.random() < 0.5:
        content = hostile.damaged_bytes(rng, content, 3)
    return check(rng, content, values if whole else None)


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()
