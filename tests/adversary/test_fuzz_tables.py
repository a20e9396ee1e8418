"""Tables: text files, Parquet and Excel with hostile cells and damage, and frames of any types; rows are all accounted for."""

import datetime
import io
import zipfile
from xml.sax.saxutils import escape

import hostile
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from fuzzing import fuzz, tried

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

USUAL = ["3", "4.5", "2025-01-31", "yes", "no", "7"]


def cell(rng):
    return rng.choice(USUAL) if rng.random() < 0.7 else hostile.text(rng)[:400]


def column(rng, rows, draw=cell):
    """Values that mostly look alike, as columns do."""
    few = [draw(rng) for _ in range(rng.choice([1, 2, 4]))]
    return [draw(rng) if rng.random() < 0.1 else rng.choice(few) for _ in range(rows)]


def headings(rng, width):
    named = [f"c{i}" for i in range(width)]
    return [hostile.text(rng)[:400] if rng.random() < 0.2 else name for name in named]


def count(rng, table):
    """Counts the rows of an accepted table by some recipes; every row is a user, left out, or refused in a sentence."""
    assert len(set(table.columns)) == table.shape[1] >= 1
    assert len(table) >= 1
    assert all(isinstance(name, str) and name for name in table.columns)
    recipes = [_recipe(rng, table[name]) for name in rng.sample(list(table.columns), min(2, table.shape[1]))]
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


def _recipe(rng, series):
    name, missing = series.name, rng.choice(["drop", "category", "refuse"])
    kind = rng.randrange(5)
    if kind == 0:
        rare, outside = rng.choice([0, 2]), rng.choice(["other", "refuse"])
        return CategoricalRecipe(column=name, missing=missing, rare_below=rare, outside=outside)
    if kind == 1:
        method = rng.choice(["equal_width", "equal_count", "range"])
        skip = rng.choice(["refuse", "missing"])
        return NumericRecipe(column=name, missing=missing, method=method, bins=rng.choice([1, 3, 64]), non_numbers=skip)
    if kind == 2:
        unit, skip = rng.choice(["day", "week", "month", "quarter", "year"]), rng.choice(["refuse", "missing"])
        return DateRecipe(column=name, missing=missing, unit=unit, non_dates=skip, day_first=rng.choice([None, True]))
    return tried(suggest_recipe, parse(series))


def options(rng):
    if rng.random() < 0.6:
        return ReadOptions()
    return ReadOptions(
        delimiter=rng.choice([None, ",", ";", "\t", " "]),
        encoding=rng.choice([None, "utf-8", "utf-16", "cp1252", "shift_jis"]),
        decimal=rng.choice([None, ".", ","]),
        header=rng.choice([None, True, False]),
        names=rng.choice([(), (), ("a", "b"), ("=1+1", "", "![x](http://example.invalid)")]),
        sheet=rng.choice([None, None, "Sheet", hostile.text(rng)]),
    )


@fuzz(650)
def test_text_tables(rng):
    width, rows = rng.randint(1, 4), rng.randint(1, 8)
    delimiter, quoting = rng.choice([",", ",", ";", "\t", "|"]), rng.random() < 0.8
    lines = zip(*(column(rng, rows) for _ in range(width)), strict=True)
    lines = [headings(rng, width), *lines] if rng.random() < 0.8 else list(lines)
    text = rng.choice(["\n", "\r\n", "\r"]).join(delimiter.join(_written(c, quoting) for c in line) for line in lines)
    text = hostile.damaged(rng, text) if rng.random() < 0.2 else text
    content = text.encode(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-32"]), "replace")
    content = hostile.damaged_bytes(rng, content) if rng.random() < 0.2 else content
    loaded = tried(load, content, rng.choice(["a.csv", "a.csv", "a.TXT", "a.tsv"]), options(rng))
    if loaded is None:
        return False
    count(rng, loaded.table)
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


@fuzz(125)
def test_parquet_tables(rng):
    rows = rng.randint(1, 8)
    arrays, names = [_array(rng, rows) for _ in range(rng.randint(1, 3))], []
    names = [name.replace(hostile.LONE, "") for name in headings(rng, len(arrays))]
    packed = io.BytesIO()
    compression = rng.choice(["snappy", "none", "zstd"])
    pq.write_table(pa.table(arrays, names=names), packed, compression=compression)
    content = packed.getvalue()
    content = hostile.damaged_bytes(rng, content, 3) if rng.random() < 0.4 else content
    table = read_here(parquet, content, options(rng))
    if table is None:
        return False
    count(rng, table)
    return True


def _array(rng, rows):
    texts = column(rng, rows)
    kind = rng.randrange(9)
    if kind == 0:
        return pa.array([rng.choice(hostile.NUMBERS[:20]) * 1.0 for _ in texts], pa.float64())
    if kind == 1:
        return pa.array([rng.choice([None, 1, -(2**63), 2**63 - 1]) for _ in texts], pa.int64())
    if kind == 2:
        return pa.array([rng.choice([None, True, False]) for _ in texts])
    if kind == 3:
        return pa.array([datetime.datetime(rng.choice([1, 1900, 2025, 9999]), 1, 31) for _ in texts])
    if kind == 4:
        return pa.array([{"a": text} for text in texts])
    if kind == 5:
        return pa.array([[text] for text in texts])
    if kind == 6:
        return pa.array([text.encode() + rng.choice([b"", b"\xff"]) for text in texts])
    if kind == 7:
        return pa.array(texts).dictionary_encode()
    return pa.array([rng.choice([text, None]) for text in texts])


@fuzz(75)
def test_excel_tables(rng):
    rows, width = rng.randint(1, 6), rng.randint(1, 3)
    lines = [headings(rng, width), *zip(*(column(rng, rows, _excel_cell) for _ in range(width)), strict=True)]
    members = {**EXCEL, SHEET: _sheet(lines)}
    if rng.random() < 0.5:
        name = rng.choice([SHEET, SHEET, *members])
        before, after = rng.choice(CHANGES)
        part = members[name]
        members[name] = part.replace(before, after, rng.choice([1, 99])) if before in part else part[: len(part) // 2]
    if rng.random() < 0.1:
        del members[rng.choice(list(members))]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in members.items():
            archive.writestr(name, part)
    content = packed.getvalue()
    content = hostile.damaged_bytes(rng, content, 3) if rng.random() < 0.15 else content
    table = read_here(excel, content, options(rng))
    if table is None:
        return False
    count(rng, table)
    return True


def _excel_cell(rng):
    others = ["<v>1</v>", "<v>1e999</v>", "<v>x</v>", "<f>1/0</f>", "<f>1+1</f><v>2</v>", "", "<v/>", "<is/>"]
    return rng.choice(others) if rng.random() < 0.2 else cell(rng)


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


@fuzz(200, accepted=(0.9, 1))
def test_frames(rng):
    rows = rng.randint(1, 12)
    made = [_series(rng, rows) for _ in range(rng.randint(1, 3))]
    names = headings(rng, len(made))
    if "" in names or len(set(names)) < len(names):
        return False  # readers refuse these, see above
    table = pd.DataFrame(dict(zip(names, made, strict=True)))
    if rng.random() < 0.3:
        table.index = rng.choices([7, 7, -1], k=rows)
    count(rng, table)
    weights = pd.Series([rng.choice([0, 1, 5, 2**53, -1, 0.5, None]) for _ in range(rows)], index=table.index)
    domain = tried(build_domain, CategoricalRecipe(column=names[0]), table)
    found = None if domain is None else tried(tally, table, domain, weights.to_numpy(dtype=float))
    assert found is None or found.users + found.dropped == sum(map(int, weights))
    return True


def _series(rng, rows):
    kind = rng.randrange(8)
    if kind == 0:
        return pd.Series([rng.choice(hostile.NUMBERS) for _ in range(rows)], dtype=object)
    if kind == 1:
        return pd.Series([rng.choice([1.0, np.nan, np.inf, -np.inf, 1e308, 5e-324]) for _ in range(rows)])
    if kind == 2:
        return pd.Series(pd.Categorical(column(rng, rows)))
    if kind == 3:
        return pd.Series([rng.choice([None, 1, 2**62]) for _ in range(rows)], dtype="Int64")
    if kind == 4:
        return pd.Series(pd.to_datetime([rng.choice(["1700-01-01", "2025-05-05", None]) for _ in range(rows)]))
    if kind == 5:
        things = [None, True, 1, 1.0, "1", " 1", b"x", datetime.date(2025, 1, 1), (1, 2), [1], {"a": 1}, 1j, pd.NaT]
        return pd.Series([rng.choice(things) for _ in range(rows)], dtype=object)
    if kind == 6:
        return pd.Series([rng.choice([True, False, None]) for _ in range(rows)], dtype="boolean")
    return pd.Series(column(rng, rows), dtype=rng.choice([object, "string"]))
