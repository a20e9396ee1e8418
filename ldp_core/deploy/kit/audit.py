"""Recomputes what a device promises from `device.json`, in exact arithmetic, with Python's standard library and the
`client.py` beside this file.

    python audit.py device.json        ends with 0 where the promise holds, with 1 where it does not or the file is damaged

The promise: whatever one report is, it is at most e^epsilon times as likely from one person as from any other. All chances in the file
are whole numbers of 2^-53, and all else is drawn evenly, so the largest ratio of two likelihoods of one report is a fraction. The client
computes it for every kind of sampler, beside the code that draws from it, and refuses to draw where it is too large: it is compared with
the first terms of 1 + x + x^2/2 + ..., x being the decimal number in the file, whose sum is never above e^epsilon.

Where the sampler names secret values, the promise is made to people who have one: every report that one of these values can send is at most
e^epsilon times as likely from one person as from any other. Every other report must be that of one value alone, which is open, and may be known.

The ratio is that of reports alone. The number of random bytes adds nothing to a report: it depends on the part that the
report names, and on chance.

The audit does not check that the device that people use is the one in this file, or that their random
bytes are random. The ids show that a file was damaged by accident. An attacker who alters bins,
categories or chances can write matching ids: only a signature shows that.
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

# The client of the same folder, also where another one is installed, and where Python runs isolated.
_spec = importlib.util.spec_from_file_location("_client", Path(__file__).with_name("client.py"))
assert _spec is not None and _spec.loader is not None  # noqa: PT018
client = importlib.util.module_from_spec(_spec)
sys.modules["_client"] = client
_spec.loader.exec_module(client)


class Audited(NamedTuple):
    """The result of an audit."""

    holds: bool
    """Whether ``largest`` is at most ``limit``, and so at most e^epsilon."""
    largest: Fraction | float
    """The largest ratio of the likelihoods of one report under two values; infinite where only one can send it."""
    limit: Fraction
    """At most e^epsilon, by less than 2^-80 of it."""


def audit(description: Mapping[str, Any]) -> Audited:
    """The largest ratio of likelihoods, and whether it keeps the promise. ValueError, one sentence, for a damaged description."""
    made, _, _, limit = client.checked(description)
    largest = Fraction(made.high, made.low) if made.low else math.inf
    return Audited(largest <= Fraction(*limit), largest, Fraction(*limit))


def open_values(description: Mapping[str, Any], secret: Sequence[int]) -> list[str]:
    """Whom the promise is made to, where some values are open."""
    attributes = (description["domain"] or {"attributes": []})["attributes"]
    named = [
        f"{json.dumps(one['name'])[1:-1]}: {', '.join(json.dumps(text)[1:-1] for text, k in one['words'].items() if k in one['secret'])}"
        for one in attributes
        if one.get("secret")
    ]
    return [
        f"          The promise is made to people with a secret value ({'; '.join(named) or f'{len(secret)} of them'}), whose reports may come from anybody.",
        "          Other reports say an open value, and are each sent by one value alone.",
    ]


def main(arguments: Sequence[str]) -> int:
    """Prints what was found."""
    if len(arguments) != 1:
        print("Usage: python audit.py device.json", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            description = json.load(file)
        audited = audit(description)
    except (OSError, ValueError, RecursionError) as error:
        print(f"The device is refused. {error}", file=sys.stderr)
        return 1
    largest, epsilon, audited_epsilon = audited.largest, description["epsilon"], math.inf
    if isinstance(largest, Fraction):  # which may be too large for a float
        audited_epsilon = math.log(largest.numerator) - math.log(largest.denominator)
    times = f"e^{audited_epsilon:.9g}" if 700 < audited_epsilon < math.inf else f"{float(largest):.9g}"
    known = json.dumps(client.in_the_clear((description["domain"] or {"attributes": []})["attributes"]))[1:-1]
    secret = client.secret_values(description["sampler"])
    clear = f"{known or 'The first number of a value'}: sent in the clear beside each report, and not protected."
    lines = [
        f"Design {description['design']}, {description.get('mechanism', 'a mechanism')}",
        f"Promised: no report{'' if secret is None else ' of people with a secret value'} is more than e^{epsilon} = {float(audited.limit):.9g} times as likely for one person as",
        f"          for another (epsilon {epsilon}).",
        f"Found:    at most {times} times (epsilon {audited_epsilon:.9g}).",
        "          The ratio is exact, from whole numbers over 2^53, and so is the comparison.",
        *([] if secret is None else open_values(description, secret)),
        f"          {clear if description['sampler']['kind'] == 'known' else 'No part of a value is sent in the clear.'}",
        *(
            ["          It is signed. This script does not check the signature: client.py --key KEY does."]
            if description["signature"] is not None
            else []
        ),
        "The promise holds." if audited.holds else "THE PROMISE DOES NOT HOLD.",
    ]
    print(*lines, sep="\n")
    return 0 if audited.holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
