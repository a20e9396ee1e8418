"""Small files that unpack to much: the answer is one sentence, and the server's process holds nothing of them."""

import io
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import suppress

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.parquet
import pytest

from ldp_core import limits
from ldp_core.data import columns, tables
from ldp_core.data.tables import CategoricalRecipe, LocalTable, UnreadableTable, load, query
from tests.refused import refused

LONG = "a" * (20 * limits.MB)
MEDIUM = "b" * 100_000
MANY = limits.MOST_TEXT_BYTES // len(MEDIUM) + 1
PARQUET = {
    "text": lambda: pa.array([LONG, "b"]),
    "large text": lambda: pa.array(["b", LONG], pa.large_string()),
    "text view": lambda: pa.array(["b", LONG], pa.string_view()),
    "bytes": lambda: pa.array([LONG.encode(), b"b"]),
    "large bytes": lambda: pa.array([LONG.encode(), b"\xff"], pa.large_binary()),
    "fixed bytes": lambda: pa.array([LONG.encode(), LONG.encode()], pa.binary(len(LONG))),
    "dictionary": lambda: pa.array(["b", LONG]).dictionary_encode(),
    "ordered": lambda: pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), pa.array(["b", LONG]), ordered=True),
    "list": lambda: pa.array([["b"], [LONG]]),
    "list of many": lambda: pa.array([["b"], [MEDIUM] * 200]),
    "list of numbers": lambda: pa.array([[1], [1] * 10**6], pa.list_(pa.int8())),
    "structure": lambda: pa.array([{"a": {"b": LONG}}, None]),
    "map": lambda: pa.array([[("k", LONG)], []], pa.map_(pa.string(), pa.string())),
    "many texts": lambda: pa.DictionaryArray.from_arrays(pa.array([0] * MANY, pa.int16()), [MEDIUM]),
}  # fmt: skip
"""Columns of much text, made where they are tested: together they take hundreds of megabytes."""
XMLNS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
REFUSED = "is longer than the 131,072 bytes that are read: |unpack to more than the 400 MB that are read: |more memory than is allowed"


def parquet(name):
    file = io.BytesIO()
    pa.parquet.write_table(pa.table({"x": PARQUET[name]()}), file, compression="zstd", row_group_size=10**6)
    assert file.tell() < limits.MB
    return file.getvalue()


def workbook(change=lambda name, text: text, cell="cell"):
    """A workbook of two rows, with its parts as ``change`` makes them."""
    book, file, changed = openpyxl.Workbook(), io.BytesIO(), io.BytesIO()
    for row in (["x", "y"], ["1", cell]):
        book.active.append(row)
    book.save(file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return changed.getvalue()


@pytest.mark.parametrize("name", PARQUET)
def test_no_cell_and_no_table_of_a_small_parquet_file_fills_the_memory(name):
    refused(REFUSED, lambda: load(parquet(name), "x.parquet"), kind=UnreadableTable)


@pytest.mark.parametrize("name", PARQUET)
def test_by_its_path_neither(name, tmp_path):
    (tmp_path / "x.parquet").write_bytes(parquet(name))
    said = "is longer than the|bytes of text that are read|more memory than is allowed"
    with pytest.raises(UnreadableTable, match=said) if "many " not in name else suppress(UnreadableTable):
        table = LocalTable(str(tmp_path / "x.parquet"))
        frame, users = table.counts(["x"])  # where a text is held by many, it is held once
        assert (len(frame), users.sum()) == (1, len(PARQUET[name]()))


@pytest.fixture(scope="module")
def billion():
    """A Parquet file of 31 kB with a text of a billion letters."""
    ends, file = pa.array([0, 10**9], pa.int32()).buffers()[1], io.BytesIO()
    cell = pa.Array.from_buffers(pa.string(), 1, [None, ends, pa.py_buffer(b"a" * 10**9)])
    table = pa.table({"text": cell, "n": [1]})
    pa.parquet.write_table(table, file, compression="zstd", use_dictionary=False, write_statistics=False)
    assert file.tell() < 40_000
    return file.getvalue()


SERVER = """
import resource, sys
from ldp_core.data import tables
def read(path):
    if sys.argv[2] == "path":
        table = tables.LocalTable(path)
        table.counts(list(table.columns))
    else:
        tables.load(open(path, "rb").read(), path)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
try:
    read(sys.argv[1])
    print("read")
except tables.UnreadableTable as error:
    print(error)
print(peak() - before)
"""


@pytest.mark.parametrize("way", ["upload", "path"])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_text_of_a_billion_letters_costs_the_server_nothing(billion, tmp_path, kind, way):
    path = tmp_path / f"x.{kind}"
    path.write_bytes(billion if kind == "parquet" else f"x,y\n1,2\n3,{LONG}\n".encode())
    done = subprocess.run([sys.executable, "-c", SERVER, path, way], capture_output=True, text=True, check=True)
    said, grown = done.stdout.splitlines()
    assert said != "read"
    assert int(grown) < 300  # MB


def shared(text, rows):
    """A workbook with a shared text in so many rows."""
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    cells = b'<row><c><v>1</v></c><c t="s"><v>0</v></c></row>' * rows + b"</sheetData>"
    declared = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}" /></Types>'.encode()
    content = workbook(lambda _, part: part.replace(b"</sheetData>", cells).replace(b"</Types>", declared))
    with zipfile.ZipFile(file := io.BytesIO(content), "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/sharedStrings.xml", f"<sst xmlns='{XMLNS}'><si><t>{text}</t></si></sst>")
    return file.getvalue()


def test_long_cells_of_workbooks_are_refused():
    assert load(shared("town", 3), "x.xlsx").table["y"].tolist() == ["cell", "town", "town", "town"]
    inline = workbook(lambda _, part: part.replace(b">cell<", b">" + LONG.encode() + b"<"))
    long, many = shared(LONG, 1), shared("c" * 30_000, limits.MOST_TEXT_BYTES // 30_000 + 1)
    assert max(map(len, (inline, long, many))) < limits.MB
    for content in (inline, long, many):
        refused(REFUSED, load, content, "x.xlsx", kind=UnreadableTable)


@pytest.mark.parametrize("part", ["xl/styles.xml", "xl/workbook.xml", "[Content_Types].xml", "docProps/core.xml", "xl/_rels/workbook.xml.rels"])  # fmt: skip
def test_parts_without_cells_are_read_up_to_10_mb(part):
    longer = workbook(lambda name, text: text + b"<font/>" * 1_500_000 if name == part else text)
    said = refused(
        r"unpacks to 10 MB and at most 10 MB .* without formats", load, longer, "x.xlsx", kind=UnreadableTable
    )
    assert f'"{part}"' in said
    assert len(load(workbook(lambda name, text: text + b" " * 10**6 if name == part else text), "x.xlsx").table) == 1


def test_a_sheet_is_not_called_by_a_book():
    named = workbook(lambda name, text: text.replace(b'"Sheet"', b'"' + b"s" * 10**6 + b'"'))
    refused("a name of more than 300 characters", load, named, "x.xlsx", kind=UnreadableTable)


@pytest.mark.parametrize(
    "cell", ["hex(zeroblob(100000))", "zeroblob(200000)", "replace(hex(zeroblob(66000)), '0', 'xy')"]
)
def test_long_cells_of_sqlite_are_refused(tmp_path, cell):
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute(
            "CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n"
        )
    content = (tmp_path / "x.db").read_bytes()
    refused(REFUSED, query, content, f"SELECT 1 AS a, {cell} AS x", kind=UnreadableTable)
    refused(REFUSED, query, content, "SELECT hex(zeroblob(60000)) AS x FROM t", kind=UnreadableTable)
    for function in ("fts3_tokenizer", "FTS3_TOKENIZER", "load_extension"):
        refused("A query here is one SELECT", query, content, f"SELECT hex({function}('simple'))", kind=UnreadableTable)


@pytest.mark.parametrize("cell", ["repeat('x', 200000)", "repeat('x', 200000)::BLOB", "[repeat('x', 70000), repeat('y', 70000)]", "{'a': repeat('x', 200000)}", "range(100000)", "map(['k'], [repeat('x', 200000)])"])  # fmt: skip
def test_long_cells_of_duckdb_are_refused(tmp_path, cell):
    duckdb.connect(str(tmp_path / "x.duckdb")).close()
    content = (tmp_path / "x.duckdb").read_bytes()
    refused(REFUSED, query, content, f"SELECT 1 AS a, {cell} AS x", kind=UnreadableTable)
    nested = query(content, "SELECT [1, 2] AS l, {'a': i} AS s FROM range(3) t(i)").table
    assert nested["l"].tolist() == ["1; 2"] * 3
    assert nested["s"].tolist() == [f"{{'a': {i}}}" for i in range(3)]


def test_many_cells_of_duckdb_are_refused(tmp_path):
    duckdb.connect(str(tmp_path / "x.duckdb")).close()
    refused(
        REFUSED,
        lambda: query((tmp_path / "x.duckdb").read_bytes(), "SELECT repeat('x', 120000) AS x FROM range(5000)"),
        kind=UnreadableTable,
    )


def test_nested_cells_are_texts_alike_by_upload_and_by_path(tmp_path):
    pa.parquet.write_table(pa.table({"l": pa.array([[1, 2], None, []]), "s": [{"a": "b"}] * 3}), tmp_path / "x.parquet")
    table = load((tmp_path / "x.parquet").read_bytes(), "x.parquet").table
    frame, _ = LocalTable(str(tmp_path / "x.parquet")).counts(["l", "s"])
    for cells in (table["l"], frame["l"]):  # a list that is empty is an answer, one that is not there is missing
        lists = columns.parse(cells)
        assert dict(zip(lists.texts, lists.missing, strict=True)) == {"1; 2": False, "null": True, "(none)": False}
    assert set(frame["s"]) == set(table["s"])


def test_a_text_as_long_as_excel_holds_is_read(tmp_path):
    cell = "\N{GRINNING FACE}" * (32_767 // 2)
    content = f"x,y\n1,{cell}\n2,b\n".encode()
    assert load(content, "x.csv").table["y"].tolist() == [cell, "b"]
    assert load(workbook(cell=cell), "x.xlsx").table["y"].tolist() == [cell]
    (tmp_path / "x.csv").write_bytes(content)
    assert set(LocalTable(str(tmp_path / "x.csv")).counts(["y"])[0]["y"]) == {cell, "b"}


def test_long_texts_are_no_categories():
    frame = tables.load(f"x\n{'a' * 2000}\nb\nb\nc\nc\n".encode(), "x.csv").table
    refused(
        "more than 1,000 characters, too long for a category",
        lambda: tables.build_domain(CategoricalRecipe(column="x"), frame),
    )
    recipe = CategoricalRecipe(column="x", rare_below=2)
    attribute = tables.build_attribute(recipe, columns.parse(frame["x"]))
    assert attribute.labels == ("b", "c", "(other)")
    assert tables.category_table(attribute, columns.parse(frame["x"]))["value"].tolist() == ["b", "c"]
