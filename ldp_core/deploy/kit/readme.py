"""The texts of a kit for people who never saw the app: README.md, with a worked example, and the
one statement that counts reports.

No name from data is in what can be pasted: a shell would run it.
"""

from __future__ import annotations

from ldp_core.deploy.kit.client import Device
from ldp_core.designs import Configuration, guarantee, in_the_clear
from ldp_core.designs.certificate_file import QUESTIONS
from ldp_core.mechanisms import Audit
from ldp_core.wording import visible

EXAMPLE_PEOPLE = 1000


def count_sql(design: str) -> str:
    """The statement that any database counts the reports of a design with, one for each report id."""
    return f"""-- Counts the reports of design {design} in a table reports(id, design, report): one report for each id, chosen without a look at it.
-- Rows without an id are left out. If the table has the time of arrival, write its column instead of RANDOM(): then the first report counts.
-- RANDOM() is RAND() in MySQL and BigQuery, NEWID() in SQL Server. Save both columns as CSV or Parquet, and give that file to collect.py.
SELECT report, COUNT(*) AS reports
FROM (
    SELECT report, ROW_NUMBER() OVER (PARTITION BY id ORDER BY turn) AS place
    FROM (SELECT id, report, RANDOM() AS turn FROM reports WHERE design = '{design}' AND id IS NOT NULL) AS drawn
) AS placed
WHERE place = 1
GROUP BY report
"""


PROOF = """| `certificate.json`, `certificate.npz` | a proof of a bound that no mechanism with this epsilon can beat, for the same questions |
| `verify.py` | checks that proof: `python3 verify.py`; needs Python and NumPy, and nothing of the program |
"""


SIGNED = """This device is signed with Ed25519. Get the public key from someone you trust, not from this zip, and load the device with it:
  `python3 client.py --key KEY device.json ...`, `Device.signed(description, key)` in Python (with the package `cryptography`) and
  `await LDP.Device.signed(description, key)` in JavaScript (Web Crypto, in pages over https). Then every altered device is refused,
  including those that an attacker altered."""
UNSIGNED = """This device is not signed. A signature stops such an attacker: `python3 -m ldp_core kit design.zip -o kit.zip --sign private.pem`."""


GROUPS = " Every report begins with the number of the person's group; values of the other columns never reach it."
ONE_REPORT = "* Draw one report for each person, keep it, and send the same one again if it was lost. Every new report spends epsilon again."
SEVERAL = """* Each person may take part on {several:,} separate occasions, such as months, with one report on each. Draw a report for an occasion, keep it,
  and send the same one again if it was lost. A report beyond these {several:,} spends more epsilon than was promised."""
OCCASIONS = """* The reports of each occasion are a collection of their own: `python3 collect.py month.csv --occasions 1`. Files with the reports of several
  occasions give their average with `--occasions` 2 to {several:,}, so that no person counts more than once.
"""


def readme(
    configuration: Configuration,
    audit: Audit,
    device: Device,
    proof: bool = False,
    signed: bool = False,
) -> str:
    """README.md of a kit.

    Parameters
    ----------
    configuration, audit : the design, and the guarantee that its mechanism really gives.
    device : what draws the reports.
    proof, signed : whether the kit holds a proof, and whether its device is signed.

    Returns
    -------
    The text, in Markdown.
    """
    several, design, sizes = configuration.reports_per_user, device.design, device.sizes
    once = "" if several == 1 else " --occasions 1"
    first = "0" if len(sizes) == 1 else f"'{[0] * len(sizes)}'"
    last = str(sizes[0] - 1) if len(sizes) == 1 else f"'{[size - 1 for size in sizes]}'"
    return f"""# A private collection, ready to run

Design {design}. Its promise, in one line for a privacy review:

    {visible(guarantee(configuration, audit))}

{visible(in_the_clear(configuration))}{GROUPS if device.clear else ""}

`report.html` explains the promise at length: its assumptions, its limits, and the accuracy of the answers.

## What is here

| File | What it is |
|---|---|
| `device.json` | how one person's report is drawn: whole numbers over one power of two, and how values are named |
| `client.py`, `client.js` | draw one report, in Python 3.10 or newer and in browsers, phones and Node; neither needs anything else |
| `audit.py` | checks `device.json` in exact fractions: epsilon, and that every probability adds up; needs nothing but Python |
| `people.txt` | the promise to the people asked, in five plain lines for their screen |
| `form.html` | a page that shows these lines, asks one person, and draws their report on their device |
| `answers.cjs` | a script for Node: reports of people whose answers are given by name |
| `vectors.json` | random bytes and the reports to be made of them, for a client of your own |
| `count.sql` | counts reports in any database |
| `collect.py` | turns reports, or their counts, into answers; needs the program that made this design |
| `configuration.json`, `outcome.json`, and what there is of `strategy.npz`, `patterns.json` and `strategies.npz` | the design itself: load this zip in the program to see and change it |
| `report.html` | for a privacy review |
{PROOF if proof else ""}
## Try it

Unpack the zip and paste this there. First the audit; then a report of two invented people:

```sh
python3 audit.py device.json
python3 client.py device.json {first} {last}
```

The form that people fill in is at http://localhost:8000/form.html after `python3 -m http.server 8000`. Write the address of your collector
into `SEND_TO` there.

Reports of {EXAMPLE_PEOPLE:,} invented people in one file, as a server would collect them:

```sh
python3 - <<'END'
import json, secrets
from client import Device

device = Device(json.load(open("device.json", encoding="utf-8")))
with open("reports.csv", "w") as file:
    print("id,design,report", file=file)
    for person in range({EXAMPLE_PEOPLE}):
        value = [secrets.randbelow(size) for size in device.sizes]
        print(secrets.token_hex(16), device.design, device.report(value), sep=",", file=file)
END
```

And their answers, with the program that made this design on the path (`export PYTHONPATH=/path/to/it`):

```sh
python3 collect.py reports.csv{once}
```

## Over several days

Files that come day by day go into one collection, and an id counts once on all of them:

```sh
python3 collect.py monday.csv --state counted.npz{once}
python3 collect.py tuesday.csv --state counted.npz{once}
python3 collect.py wednesday.csv --state counted.npz -o answers.csv{once}
```

* `counted.npz` holds counts, and digests of ids instead of ids. The page Collect of the program opens it as an earlier collection, and what that
  page downloads goes on here as `--state`.
* A command that was stopped or killed can be given again: nothing is counted twice.
* Add `--any-time` if you look at answers before all reports are in: then intervals hold at all looks together.

## What is noticed, and what is not

* Accidents are noticed. The two ids in `device.json` are SHA-256 digests of everything in it. Both clients and `audit.py`
  refuse a file that does not match its ids, or that lacks a key.
* A broken promise is noticed, even where the ids match. Before the first report, both clients check in whole numbers what
  `audit.py` checks: all numbers are in their ranges, chances sum to 1, bins are in order, and no report is more than
  e^epsilon times as likely for one person as for another.
* An attacker who alters bins or categories, or chances within epsilon, and writes matching ids is not noticed on the device
  without a signature: anyone can compute a digest. The reports of such a device name another design, and the collector
  refuses those that come with `design`.
* {SIGNED if signed else UNSIGNED}
* A source of random numbers that is none is noticed before the first report. Both clients refuse one that repeats its bytes, or gives
  hardly any different ones, as the sources of test set-ups do.
* A client that was itself altered, and random numbers that an attacker can predict, are never noticed.

{QUESTIONS if proof else ""}
## On people's devices

* In Python: `Device(json.load(file)).report(value)`. In JavaScript the same is in `client.js`. A value is the number of a type, a list
  with a number for each attribute, or an object with a value for each attribute by name, in people's own words.
{ONE_REPORT if several == 1 else SEVERAL.format(several=several)}
* Send the report with `design` (`{design}`) and with an `id` of 32 random hexadecimal digits made for this report alone. Send nothing else.
* How many random bytes a report takes is independent of the value. Time and power are not: keep them from anyone who could measure them.
* Do not store or log the value, and do not take random numbers from anywhere but the client.

## At the collector

* A file of reports is CSV or Parquet with the columns `report`, and optionally, `design` and `id`. Reports of another design
  are refused, and a report that comes twice under its id is counted once. Another report under an id that had come before is refused
  with a number of its own: the device drew a second one, which spends epsilon again, or somebody tampered.
* If the reports are in a database, `count.sql` counts them there; `collect.py` takes its result, with the columns `report` and `reports`.
* Counts of days or places add up: nothing is lost by counting first and answering later. Counts hold no ids, so people in two files of
  counts are counted twice. Files with ids and files without are counted together only with `--apart`: add it if you know that they share
  no people.
{"" if several == 1 else OCCASIONS.format(several=several)}"""
