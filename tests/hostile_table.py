"""A table whose names try everything that the places they are shown in would read as more than text."""

import csv
import io
import random

COLUMNS = ("![x](http://evil.example/a.png)", '=HYPERLINK("http://evil.example/b","c")%{evil}', "*s* __v_ $x^2$ [^1]")
CATEGORIES = (
    (
        "[y](http://evil.example/d)",
        "<img src=http://evil.example/e onerror=alert(1)>",
        '<a href="javascript:alert(1)">k</a>',
        "http://evil.example/f",
    ),
    (":material/home: :red[r] :smile:", "%{evil} {x} &lt;b&gt; <b>bold</b>", "+1+1|`q`"),
    ("-2+3", "@SUM(1) www.evil.example a@evil.example"),
)
FILE = "![n](http:__evil.example_g) <b>.csv"
SAID = "=2+2 [q](http://evil.example/h)"
"""The name of a condition."""


def rows(number=400):
    """The table as the bytes of a CSV file."""
    pick, file = random.Random(0), io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    writer.writerows([pick.choice(values) for values in CATEGORIES] for _ in range(number))
    return file.getvalue().encode()


def quoted(name):
    """A name as it stands in a condition."""
    return '"' + name.replace('"', '""') + '"'


def condition():
    """A condition about the first two attributes, under a name of its own."""
    wanted = [f"{quoted(column)} = {quoted(values[0])}" for column, values in zip(COLUMNS, CATEGORIES, strict=True)]
    return f"{quoted(SAID)}: {' and '.join(wanted[:2])}"
