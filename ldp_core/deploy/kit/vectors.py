"""Test vectors of a device: what clients must report for given random bytes, and what they must refuse."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial, reduce
from random import Random
from typing import Any

from ldp_core.data.domain.dates import label_of_period
from ldp_core.deploy.kit.client import ONE, Device, Value, design_id

REPORTS = 12
SUMMED = ("columns", "rest", "shares")
"""Chances that sum to 2^53 with others; those `ALONE` do not."""
ALONE = ("truth", "inside", "own", "keep", "flip")


def vectors(description: Mapping[str, Any], reports: int = REPORTS) -> dict[str, object]:
    """The vectors of a device, a JSON object:

    * "design": the device they are for;
    * "reports": {"value", "bytes", "report"}: with these random bytes (hexadecimal digits), all of them, ``value`` gives the report;
    * "refused_values": {"value", "why"};
    * "refused_devices": {"path", "add", "design", "why"}: the number at ``path`` of the description is raised by ``add``, and the design id
      replaced where "design" is not null. A client must refuse to load it.
    """
    device, random, cases = Device(description), Random(description["design"]), []
    for value in _values(device, random, reports):
        taken: list[bytes] = []
        with suppress(ValueError):  # a code for no answer, for which there may be no report
            report = device.report(value, partial(_drawn, random, taken))
            cases.append({"value": value, "bytes": b"".join(taken).hex(), "report": report})
    made = {"design": description["design"], "reports": cases}
    return made | {"refused_values": _refused_values(device), "refused_devices": _refused_devices(description)}


def _drawn(random: Random, taken: list[bytes], many: int) -> bytes:
    """Bytes that a report takes, and a record of them."""
    taken.append(random.randbytes(many))
    return taken[-1]


def _values(device: Device, random: Random, many: int) -> list[Value]:
    """The first value, the last one and others, as numbers and as people say them."""
    sizes = device.sizes
    others = ([random.randrange(size) for size in sizes] for _ in range(max(0, many - 2)))
    records = [[0] * len(sizes), [size - 1 for size in sizes], *others]
    values: list[Value] = [record[0] if len(sizes) == 1 else record for record in records]
    said = many if device.attributes else 0
    return values + [{one["name"]: _said(one, random) for one in device.attributes} for _ in range(said)]


def _said(attribute: Mapping[str, Any], random: Random) -> object:
    """A value of an attribute as people may say it."""
    words = list(attribute["words"])
    if "holds" in attribute and random.random() < 0.5:
        return random.sample(attribute["parts"], random.randint(0, len(attribute["parts"])))
    if attribute["kind"] == "categories" or (words and random.random() < 0.3):
        return random.choice(words)
    if attribute["kind"] == "dates":
        return label_of_period(attribute["first"] + random.randrange(attribute["ordinary"]), attribute["unit"])
    edges = attribute["edges"] if attribute["kind"] == "numbers" else [attribute["low"], attribute["high"]]
    return random.choice([random.choice(edges), random.uniform(edges[0], edges[-1])])


def _refused_values(device: Device) -> list[dict[str, object]]:
    sizes = device.sizes
    past = [size - 1 for size in sizes[:-1]] + [sizes[-1]]
    refused: list[dict[str, object]] = [
        {"value": past[0] if len(sizes) == 1 else past, "why": "a number past the last value"},
        {"value": [-1] + [0] * (len(sizes) - 1), "why": "a number below 0"},
        {"value": [0] * (len(sizes) + 17), "why": "more numbers than there are attributes"},
        {"value": {}, "why": "no value of any attribute"},
    ]
    usual = {attribute["name"]: next(iter(attribute["words"]), None) for attribute in device.attributes}
    for attribute in device.attributes:
        name, codes = attribute["name"], attribute.get("no_answer", ())
        if attribute["missing"] is None and attribute.get("holds") != "set":
            refused.append({"value": usual | {name: None}, "why": f"no value of {name}"})
            refused += [{"value": usual | {name: code}, "why": f"a code for no answer of {name}"} for code in codes]
    return refused


def _refused_devices(description: Mapping[str, Any]) -> list[dict[str, object]]:
    """The first chance altered, with the old id; with an id that matches, chances that sum to less than 2^53, and one that breaks the promise,
    where there are such; and the number of values of the first attribute."""
    found = list(_chances(description["sampler"], ["sampler"]))
    summed, alone = ([path for path, of in found if (of in SUMMED) == whether] for whether in (True, False))
    refused: list[dict[str, object]] = [
        {"path": found[0][0], "add": 1, "design": None, "why": "a chance altered by one unit, with the old design id"}
    ]
    if summed:
        refused.append(_altered(description, summed[0], -1, "chances that sum to one unit less than 2^53"))
    if alone:
        now: Any = reduce(lambda place, step: place[step], alone[0], description)
        never = -now if alone[0][-1] == "flip" else ONE - now
        refused.append(_altered(description, alone[0], never, "a report that some people send and others never do"))
    if description["domain"] is not None:
        where = ["domain", "attributes", 0, "ordinary"]
        refused += [{"path": where, "add": 1, "design": None, "why": "another domain, with the old id of the domain"}]
    return refused


def _chances(part: Any, path: list[Any], of: str = "") -> Iterator[tuple[list[Any], str]]:
    """The path of the chances of a sampler, the first one of each list, and what they are chances of."""
    first = part[:1] if isinstance(part, list) and not isinstance(part[0], list | dict) else part
    for key, value in part.items() if isinstance(part, dict) else enumerate(first):
        chance = key if key in (*SUMMED, *ALONE) else of
        if isinstance(value, dict | list):
            yield from _chances(value, [*path, key], chance)
        elif chance and isinstance(value, int):
            yield [*path, key], chance


def _altered(description: Mapping[str, Any], path: list[Any], add: int, why: str) -> dict[str, object]:
    """The number at ``path`` raised, with the id that belongs to it."""
    altered = place = dict(description)
    for step in path[:-1]:  # tables are large: what is beside the path stays the same
        place[step] = copy.copy(place[step])
        place = place[step]
    place[path[-1]] += add
    return {"path": path, "add": add, "design": design_id(altered), "why": why}
