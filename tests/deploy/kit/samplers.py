"""A sampler of every kind by hand, as devices describe them: small numbers of types, and every way a kind has."""

import json

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from ldp_core.deploy.kit import client

ONE = 2**53

# One sampler of every kind, or more where a kind has several ways, of 5 to 8 types (surveys: 3 x 2 x 4).
FIVE = [
    [ONE // 2 + 1, ONE // 4, ONE - ONE // 2 - ONE // 4 - 1, 0],
    [1, 1, ONE - 2, 0],
    [ONE - 2, 1, 1, 0],
    [1, ONE - 2, 1, 0],
    [3, 4, ONE - 7, 0],
]
LOW, HIGH, CELLS = [ONE // 8, 1, ONE // 4], [ONE // 4, 2, ONE // 2], ["80", "40", "20", "e0", "1f"]
REST = [
    ONE - sum(high if int(cells, 16) >> 7 - y & 1 else low for y, (low, high) in enumerate(zip(LOW, HIGH, strict=True)))
    for cells in CELLS
]
SAMPLERS = {
    "table": {"kind": "table", "sizes": [5], "columns": FIVE},
    "two_valued": {"kind": "two_valued", "sizes": [5], "low": LOW, "high": HIGH, "cells": CELLS, "rest": REST},
    "response": {"kind": "response", "sizes": [5], "n": 5, "truth": ONE // 3},
    "response of two": {"kind": "response", "sizes": [2], "n": 2, "truth": 0},
    "subset": {"kind": "subset", "sizes": [7], "n": 7, "size": 3, "inside": ONE // 2},
    "bits": {"kind": "bits", "sizes": [6], "n": 6, "own": ONE // 2, "other": ONE // 5},
    "hash": {"kind": "hash", "sizes": [8], "n": 8, "buckets": 5, "digits": 3, "keep": ONE // 2},
    "hash of two": {"kind": "hash", "sizes": [300], "n": 300, "buckets": 2, "digits": 9, "keep": ONE // 2},
    "sign": {"kind": "sign", "sizes": [8], "n": 8, "first": 1, "count": 7, "flip": ONE // 4},
    "sign of many": {"kind": "sign", "sizes": [2**22], "n": 2**22, "first": 2**22, "count": 2**22, "flip": ONE // 4},
}
SAMPLERS["pattern"] = {
    "kind": "one_of",
    "sizes": [3, 2, 4],
    "width": 8,
    "fill": -1,
    "shares": [ONE // 3, ONE - ONE // 3],
} | {
    "draws": [
        {"kind": "pattern", "sizes": [3, 4], "cells": "011010010111", "inside": ONE // 3},
        {"kind": "pattern", "sizes": [2], "cells": "01", "inside": ONE - 1},
    ],
    "parts": [{"draw": 0, "value": [[0, 3, 1, 4], [2, 4, 1, 1]]}, {"draw": 1, "value": [[1, 2, 1, 1]]}],
}
SAMPLERS["levels"] = {"kind": "one_of", "sizes": [16], "shares": None, "width": 4, "fill": 0} | {
    "draws": [SAMPLERS["bits"] | {"n": 2}, SAMPLERS["subset"] | {"n": 4}],
    "parts": [{"draw": 0, "value": [[0, 16, 8, 1]]}, {"draw": 1, "value": [[0, 16, 4, 1]]}],
}
SAMPLERS["each"] = {"kind": "each", "sizes": [5, 5]} | {
    "draws": [SAMPLERS["response"], SAMPLERS["table"]],
    "parts": [{"draw": k, "value": [[i, 5, 1, 1]]} for k, i in ((0, 0), (1, 1), (0, 1))],
}
SAMPLERS["classes"] = {
    "kind": "classes",
    "sizes": [7],
    "classes": [0, 1, 1, 4, 2, 0, 3],
    "draw": {"kind": "table", "columns": FIVE},
}
SAMPLERS["secret"] = {"kind": "table", "sizes": [4], "secret": [1, 3]} | {
    "columns": [
        [ONE // 4, ONE // 8, ONE - ONE // 4 - ONE // 8, 0],
        [ONE // 2, ONE - ONE // 2, 0, 0],
        [ONE // 4, ONE // 8, 0, ONE - ONE // 4 - ONE // 8],
        [ONE // 4, ONE - ONE // 4, 0, 0],
    ]
}
SAMPLERS["known"] = {"kind": "known", "sizes": [3, 5], "which": [0, 1, 0], "width": 7} | {
    "draws": [{key: part for key, part in SAMPLERS[name].items() if key != "sizes"} for name in ("bits", "table")]
}


def sealed(sampler, domain=None, epsilon="99"):
    """The description of a device with its ids, whose epsilon keeps whatever has a bound."""
    return again({"epsilon": epsilon, "mechanism": "test", "domain": domain, "signature": None, "sampler": sampler})


def again(description):
    """The description with the format and the ids that belong to it, as somebody writes them who alters a device on purpose."""
    some = '"secret"' in json.dumps(description["sampler"])
    found = {"format": client.LATER if some else client.FORMAT} | description
    found["domain_id"] = client.domain_id(found["domain"])
    return found | {"design": client.design_id(found)}


def pem(key, encryption=None):
    """A private key as a file."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption or NoEncryption())


KEY, OTHER = (pem(Ed25519PrivateKey.from_private_bytes(bytes(seed))) for seed in (range(32), range(1, 33)))
