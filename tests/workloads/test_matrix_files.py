"""Uploaded matrices: what is read, and the sentences for what is not."""

import io
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import limits
from ldp_core.workloads import Axis, MatrixPart, read_matrix
from tests.library.test_own import npy
from tests.refused import refused


def npz(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)
MATRICES = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.lists(NUMBERS, min_size=n, max_size=n).filter(any), min_size=1, max_size=4).map(np.array)
)


@settings(max_examples=60)
@given(
    MATRICES, st.sampled_from([",", ";", "\t"]), st.booleans(), st.booleans(), st.sampled_from(["utf-8-sig", "utf-16"])
)
def test_csv_in_all_its_dialects(matrix, delimiter, header, named, encoding):
    rows = [[repr(float(value)) for value in row] for row in matrix]
    if delimiter != ",":
        rows = [[cell.replace(".", ",") for cell in row] for row in rows]
    rows = [[f"query {i} 🙂"] * named + row for i, row in enumerate(rows)]
    top = [["name"] * named + [f"t{u}" for u in range(matrix.shape[1])]] * header
    content = "\r\n".join(delimiter.join(row) for row in top + rows).encode(encoding)
    found = read_matrix(content, matrix.shape[1])
    np.testing.assert_array_equal(found.matrix, matrix)
    assert found.names == (tuple(row[0] for row in rows) if named else None)


@settings(max_examples=30)
@given(MATRICES)
def test_numpy_files(matrix):
    n, names = matrix.shape[1], np.array([f"q{i}" for i in range(len(matrix))])
    for content in (npy(matrix), npy(np.asfortranarray(matrix)), npz(matrix=matrix, other=names), npz(anything=matrix)):
        found = read_matrix(content, n)
        np.testing.assert_array_equal(found.matrix, matrix)
        assert found.names is None
    assert read_matrix(npz(matrix=matrix, names=names), n).names == tuple(names)


def test_whole_numbers_and_booleans_are_numbers():
    assert read_matrix(npy(np.eye(3, dtype=bool)), 3).matrix.tolist() == np.eye(3).tolist()
    assert read_matrix(npy(np.eye(3, dtype=np.uint8)), 3).matrix.dtype == float


def test_a_header_of_labels_puts_columns_in_their_order():
    content = b"name,30-39,20-29\nyoung,0,1\nall,1,1\n"
    found = read_matrix(content, 2, ["20-29", "30-39"])
    assert found.matrix.tolist() == [[1, 0], [1, 1]]
    assert found.names == ("young", "all")
    years = b"2021,2020\n1,0\n"  # a header of numbers is known by the labels only
    assert read_matrix(years, 2, ["2020", "2021"]).matrix.tolist() == [[0, 1]]
    assert read_matrix(years, 2).matrix.tolist() == [[2021, 2020], [1, 0]]


def test_the_recipe_of_a_file():
    axes = [Axis("age", ("young", "old"), 2), Axis("sex", ("f", "m"), 2)]
    part = MatrixPart.from_file(b"a,1,0,0,1\nb,0,2,0,0\n", axes, weight=2)
    w = part.build(axes)
    assert w.matrix.tolist() == [[1, 0, 0, 1], [0, 2, 0, 0]]
    assert [w.query_name(i) for i in range(2)] == ["a", "b"]
    assert part.weight == 2


class Boom:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def lying_header(shape, data=b""):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


def zipped(content, name="matrix.npy"):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"a,b,c\n", "not a finite number"),
        (b"1,2\n3,4\n", "2 columns and there are 3 types"),
        (b"1,2,3\n4,5\n", "Row 2 of the file has 2 cells and row 1 has 3"),
        (b"1,2,3\n4,,5\n", "Row 2, column 2 of the file is empty"),
        (b"1,2,3\n4,x,5\n", "Row 2, column 2 of the file holds 'x', which is not a finite number"),
        (b"nan,nan,nan\n1,2,3\n", "Row 1, column 1 of the file holds 'nan'"),
        (b"1,2,3\n1,inf,3\n", "holds 'inf'"),
        (b"1,2,3\n1,1e999,3\n", "column 2 of the matrix is inf"),
        (b"1,2,3\n=1+1,2,3\n", "holds '=1[+]1'"),
        (b'1,2,3\n"1,234",2,3\n', "holds '1,234'"),
        (b"1,2,3\n0,0,0\n", "Row 2 of the matrix is all 0"),
        (b"\xff\x00\x9f\x80", "neither text in UTF-8 nor a NumPy file"),
        (b"1,2,3\n" + b"9" * 200_000 + b",1,2", "cannot be read as CSV"),
        (npy(np.array([[1, np.nan, 0]])), "Row 1, column 2 of the matrix is nan"),
        (npy(np.array([[1, np.inf, 0]])), "finite number"),
        (npy(np.ones(3)), "has the shape 3"),
        (npy(np.float64(3)), "has the shape a single number"),
        (
            npy(np.ones((3, 4))),
            "4 columns and there are 3 types; give each type a column .it has as many rows: turn it round",
        ),
        (npy(np.ones((0, 3))), "has the shape 0 x 3"),
        (npy(np.ones((2**21, 3), dtype=bool)), "2,097,152 x 3 entries; at most 4,194,304"),
        (npy(np.ones((1, 3), dtype=complex)), "ordinary numbers; this one holds complex128"),
        (npy(np.array([["a", "b", "c"]])), "ordinary numbers"),
        (npy(np.zeros((1, 3), dtype=[("a", "<f8")])), "ordinary numbers"),
        (npy(np.array([[Boom(), 1, 2]], dtype=object)), "Python objects, which are never loaded"),
        (npz(matrix=np.array([[Boom(), 1, 2]], dtype=object)), "Python objects, which are never loaded"),
        (zipped(pickle.dumps(1)), "no array that can be read"),
        (lying_header((10**15, 3)), "shorter than its header says"),
        (lying_header((-1, 3)), "shorter than its header says"),
        (lying_header("(1," * 3000), "no array that can be read"),
        (b"\x93NUMPY\x07\x00rest", "no array that can be read"),
        (npz(a=np.eye(3), b=np.eye(3)), "one that is called matrix; it holds a, b"),
        (npz(data=np.ones(2), indices=np.ones(2), indptr=np.ones(2)), "sparse matrices as dense"),
        (npz(matrix=np.eye(3), names=np.array(["a"])), "one text for each row"),
        (npz(matrix=np.eye(3), names=np.arange(3)), "one text for each row"),
        (b"PK\x03\x04 and so on", "cannot be unpacked"),
        (zipped(npy(np.eye(3)))[:-30], "cannot be unpacked"),
        (npy(np.eye(3)).replace(b"(3, 3), }", b"(3, 3,   "), "no array that can be read"),
        (zipped(bytes(limits.MOST_MATRIX_BYTES + 1)), "take more than 32 MB"),
        (bytes(limits.MOST_MATRIX_BYTES + 1), "larger than 32 MB"),
    ],
)
def test_what_cannot_be_used_gets_a_sentence(content, sentence):
    said = refused(sentence, read_matrix, content, 3)
    assert said.endswith(".")
    assert len(said) < 300


def test_a_zip_that_lies_about_its_size_unpacks_no_further():
    content = bytearray(zipped(bytes(10**6)))
    directory = content.index(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = (100).to_bytes(4, "little")  # the size it declares
    refused(r"cannot be unpacked|not an array that can be read", read_matrix, bytes(content), 3)
