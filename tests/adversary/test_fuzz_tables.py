"""Tables: text files, Parquet and Excel with hostile cells and damage, and frames of any types; rows are all accounted for."""

import datetime
import functools
import io
import zipfile
from xml.sax.saxutils import escape

import hostile
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzzing import attack, tried
from hypothesis import strategies as st

from ldp_core import limits
from ldp_core.data.columns import parse
from ldp_core.data.reading import excel, parquet
from ldp_core.data.reading.child import rows_of, table_of
from ldp_core.data.tables import (
    CategoricalRecipe,
    DateRecipe,
    NumericRecipe,
    ReadOptions,
    build_domain,
    load,
    suggest_recipe,
    tally,
)

of = st.sampled_from
cells = of(["3", "4.5", "2025-01-31", "yes", "no", "7"]) | hostile.text.map(lambda text: text[:400])
rows, widths = st.integers(1, 8), st.integers(1, 3)


def column(many, draw_from=cells):
    """Values that mostly look alike, as columns do."""
    alike = st.lists(draw_from, min_size=1, max_size=4).flatmap(
        lambda few: st.lists(of(few), min_size=many, max_size=many)
    )
    return alike | alike | st.lists(draw_from, min_size=many, max_size=many)


def headings(width):
    return st.tuples(*(of([f"c{i}"] * 4) | hostile.text.map(lambda text: text[:400]) for i in range(width))).map(list)


def recipes_of(kind, **drawn):
    """Makers of recipes for a column with this name."""
    return st.fixed_dictionaries({"missing": of(["drop", "category", "refuse"]), **drawn}).map(
        lambda chosen: lambda series: kind(column=series.name, **chosen)
    )


unreadable = of(["refuse", "missing"])
makers = st.lists(
    st.one_of(
        recipes_of(CategoricalRecipe, rare_below=of([0, 2]), outside=of(["other", "refuse"])),
        recipes_of(
            NumericRecipe,
            method=of(["equal_width", "equal_count", "range"]),
            bins=of([1, 3, 64]),
            non_numbers=unreadable,
        ),
        recipes_of(
            DateRecipe,
            unit=of(["day", "week", "month", "quarter", "year"]),
            non_dates=unreadable,
            day_first=of([None, True]),
        ),
        st.just(lambda series: tried(suggest_recipe, parse(series))),
    ),
    min_size=2,
    max_size=2,
)
"""How two columns of a table are read."""
options = st.just(ReadOptions()) | st.builds(
    ReadOptions,
    delimiter=of([None, ",", ";", "\t", " "]),
    encoding=of([None, "utf-8", "utf-16", "cp1252", "shift_jis"]),
    decimal=of([None, ".", ","]),
    header=of([None, True, False]),
    names=of([(), (), ("a", "b"), ("=1+1", "", "![x](http://example.invalid)")]),
    sheet=of([None, None, "Sheet"]) | hostile.text,
)


def count(table, makers):
    """Counts the rows of an accepted table by some recipes; every row is a user, left out, or refused in a sentence."""
    assert len(set(table.columns)) == table.shape[1] >= 1
    assert len(table) >= 1
    assert all(isinstance(name, str) and name for name in table.columns)
    recipes = [make(table[name]) for make, name in zip(makers, reversed(table.columns), strict=False)]
    recipes = [recipe for recipe in recipes if recipe is not None]
    domain = tried(build_domain, recipes, table) if recipes else None
    if domain is None:
        return
    if domain.size > 10**6:
        tried(domain.encode, table)
        return
    found = tried(tally, table, domain)
    if found is None:
        return
    assert found.counts.sum() == found.users
    assert found.users + found.dropped == len(table)
    assert found.counts.min() >= 0
    assert found.counts.shape == (domain.size,)


@st.composite
def texts(draw):
    width, many = draw(st.integers(1, 4)), draw(rows)
    delimiter, quoting = draw(of([",", ",", ";", "\t", "|"])), not draw(hostile.chance(5))
    lines = list(zip(*(draw(column(many)) for _ in range(width)), strict=True))
    lines = lines if draw(hostile.chance(5)) else [draw(headings(width)), *lines]
    text = draw(of(["\n", "\r\n", "\r"])).join(delimiter.join(_written(c, quoting) for c in line) for line in lines)
    text = draw(hostile.damaged(text)) if draw(hostile.chance(5)) else text
    content = text.encode(draw(of(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-32"])), "replace")
    return draw(hostile.damaged_bytes(content)) if draw(hostile.chance(5)) else content


@pytest.mark.promise
@attack(texts(), of(["a.csv", "a.csv", "a.TXT", "a.tsv"]), options, makers)
def test_text_tables(content, name, options, makers):
    loaded = tried(load, content, name, options)
    if loaded is None:
        return False
    count(loaded.table, makers)
    return True


def _written(text, quoting):
    return '"' + text.replace('"', '""') + '"' if quoting and any(sign in text for sign in ',;\t|"\r\n') else text


def read_here(module, content, read_options):
    """The result of reading a file in this process, which a separate process does otherwise (see
    `tests/test_reading_excel.py`): 400 processes would take minutes. None if it is refused."""
    output = io.BytesIO()
    limit = {excel: limits.READ_EXCEL, parquet: limits.READ_PARQUET}[module]
    found = tried(module.work, content, read_options.model_dump(), limit, output)
    if found is None:
        return None
    if module is parquet:
        table = table_of(bytearray(output.getvalue())).to_pandas(ignore_metadata=True)
    else:
        table = pd.DataFrame(rows_of(bytearray(output.getvalue())), columns=found["names"], dtype=object)
    return table if len(table) else None  # `load` refuses tables without rows, from every reader


def arrays(many):
    """Columns of the types of Parquet."""

    def each(values, *types):
        return st.lists(values, min_size=many, max_size=many).map(lambda drawn: pa.array(drawn, *types))

    texts = column(many)
    return st.one_of(
        each(of(hostile.NUMBERS[:20]).map(float), pa.float64()),
        each(of([None, 1, -(2**63), 2**63 - 1]), pa.int64()),
        each(of([None, True, False])),
        each(of([datetime.datetime(year, 1, 31) for year in (1, 1900, 2025, 9999)])),
        texts.map(lambda drawn: pa.array([{"a": text} for text in drawn])),
        texts.map(lambda drawn: pa.array([[text] for text in drawn])),
        each(st.builds(lambda text, end: text.encode() + end, cells, of([b"", b"\xff"]))),
        texts.map(lambda drawn: pa.array(drawn).dictionary_encode()),
        each(st.none() | cells, pa.string()),
    )


@st.composite
def parquets(draw):
    width, many = draw(widths), draw(rows)
    names, columns = draw(headings(width)), [draw(arrays(many)) for _ in range(width)]
    packed = io.BytesIO()
    pq.write_table(pa.table(columns, names=names), packed, compression=draw(of(["snappy", "none", "zstd"])))
    return packed.getvalue()


@pytest.mark.promise
@attack(hostile.at_times(functools.partial(hostile.damaged_bytes, most=3), parquets(), 3), options, makers)
def test_parquet_tables(content, options, makers):
    table = read_here(parquet, content, options)
    if table is None:
        return False
    count(table, makers)
    return True


in_excel = cells | of(["<v>1</v>", "<v>1e999</v>", "<v>x</v>", "<f>1/0</f>", "<f>1+1</f><v>2</v>", "", "<v/>", "<is/>"])


@st.composite
def workbooks(draw):
    width, many = draw(widths), draw(rows)
    lines = [draw(headings(width)), *zip(*(draw(column(many, in_excel)) for _ in range(width)), strict=True)]
    members = {**EXCEL, SHEET: _sheet(lines)}
    if draw(st.booleans()):
        name, (before, after) = draw(of([SHEET, SHEET, *members])), draw(of(CHANGES))
        part = members[name]
        members[name] = part.replace(before, after, draw(of([1, 99]))) if before in part else part[: len(part) // 2]
    if draw(hostile.chance(10)):
        del members[draw(of(list(members)))]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in members.items():
            archive.writestr(name, part)
    return packed.getvalue()


@pytest.mark.promise
@attack(hostile.at_times(functools.partial(hostile.damaged_bytes, most=3), workbooks()), options, makers)
def test_excel_tables(content, options, makers):
    table = read_here(excel, content, options)
    if table is None:
        return False
    count(table, makers)
    return True


def _sheet(lines):
    """The XML of a sheet: texts, and numbers, formulas and empty cells where a value is XML already."""
    rows = []
    for number, line in enumerate(lines, 1):
        cells = []
        for letter, value in zip("ABC", line, strict=False):
            place = f'r="{letter}{number}"'
            if value.startswith("<") and value.endswith(">") and value[1] in "vfi":
                cells.append(f"<c {place}>{value}</c>")
            else:
                shown = escape("".join(sign for sign in value if sign.isprintable()))
                cells.append(f'<c {place} t="inlineStr"><is><t>{shown}</t></is></c>')
        rows.append(f'<row r="{number}">{"".join(cells)}</row>')
    return f'<?xml version="1.0"?><worksheet xmlns="{MAIN}"><sheetData>{"".join(rows)}</sheetData></worksheet>'.encode()


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
SHEET = "xl/worksheets/sheet1.xml"


def _relation(kind, target):
    link = f'<Relationship Id="rId1" Type="{_OFFICE}/{kind}" Target="{target}"/>'
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{link}</Relationships>'.encode()


EXCEL = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
        f'<Override PartName="/{SHEET}" ContentType="{_KIND}.worksheet+xml"/></Types>'
    ).encode(),
    "_rels/.rels": _relation("officeDocument", "xl/workbook.xml"),
    "xl/workbook.xml": (
        f'<workbook xmlns="{MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="Sheet" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ).encode(),
    "xl/_rels/workbook.xml.rels": _relation("worksheet", "worksheets/sheet1.xml"),
}
"""The parts of a workbook besides its sheet."""
CHANGES = [
    (b't="inlineStr"', b't="s"'),
    (b't="inlineStr"', b't="n"'),
    (b't="inlineStr"', b't="d"'),
    (b"<v>", b"<v>-"),
    (b"<v>", b"<v>99999999999"),
    (b'r="A1"', b'r="ZZZZZ1"'),
    (b'r="A1"', b'r="A0"'),
    (b'r="2"', b'r="-2"'),
    (b'r="2"', b'r="x"'),
    (b"<sheetData>", b"<sheetData><row/><row r='3'><c/></row>"),
    (b"<?xml version", b'<!DOCTYPE a [<!ENTITY b "cc"><!ENTITY d "&b;&b;">]><?xml version'),
    (b"<row", b"<row><row"),
    (b"sheet1.xml", b"../../../etc/passwd"),
    (b"<f>", b"<f>=WEBSERVICE(1)"),
    (b"<sheet name", b'<sheet name="x" sheetId="2" r:id="rId9"/><sheet name'),
    (b"</worksheet>", b""),
]
"""The change in a part. Row numbers beyond what a sheet may have are left to
`tests/test_reading_excel.py`."""


def series(many):
    """Columns of frames of any types."""

    def each(values, **kind):
        return st.lists(values, min_size=many, max_size=many).map(lambda drawn: pd.Series(drawn, **kind))

    things = [None, True, 1, 1.0, "1", " 1", b"x", datetime.date(2025, 1, 1), (1, 2), [1], {"a": 1}, 1j, pd.NaT]
    return st.one_of(
        each(hostile.numbers, dtype=object),
        each(of([1.0, np.nan, np.inf, -np.inf, 1e308, 5e-324])),
        column(many).map(pd.Categorical).map(pd.Series),
        each(of([None, 1, 2**62]), dtype="Int64"),
        each(of(["1700-01-01", "2025-05-05", None])).map(pd.to_datetime),
        each(of(things), dtype=object),
        each(of([True, False, None]), dtype="boolean"),
        *(column(many).map(lambda drawn, kind=kind: pd.Series(drawn, dtype=kind)) for kind in (object, "string")),
    )


@st.composite
def frames(draw):
    """A table and a weight for each row."""
    many, width = draw(st.integers(1, 12)), draw(widths)
    names = draw(
        headings(width).filter(lambda names: all(names) and len(set(names)) == len(names))
    )  # readers refuse others
    table = pd.DataFrame({name: draw(series(many)) for name in names})
    if draw(hostile.chance(3)):
        table.index = draw(st.lists(of([7, 7, -1]), min_size=many, max_size=many))
    drawn = draw(st.lists(of([0, 1, 5, 2**53, -1, 0.5, None]), min_size=many, max_size=many))
    return table, pd.Series(drawn, index=table.index)


@pytest.mark.promise
@attack(frames(), makers, seen=[True])
def test_frames(frame, makers):
    table, weights = frame
    count(table, makers)
    domain = tried(build_domain, CategoricalRecipe(column=table.columns[0]), table)
    found = None if domain is None else tried(tally, table, domain, weights.to_numpy(dtype=float))
    assert found is None or found.users + found.dropped == sum(map(int, weights))
    return True
