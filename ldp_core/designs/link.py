"""A design as a piece of a web address: everything but the data."""

import base64
import binascii
import zlib

from ldp_core.designs import strict_json
from ldp_core.designs.configuration import Configuration, load_configuration
from ldp_core.designs.problems import ConfigurationError

MAX_LINK = 8_000
"""Longest text of a design in a link; browsers and mail programs cut off much longer addresses."""


def to_link(configuration: Configuration) -> str:
    """The design as letters, digits, - and _ only. Raises ConfigurationError if it would be longer than `MAX_LINK`."""
    packed = zlib.compress(strict_json.write(configuration.model_dump(mode="json")), 9)
    text = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    if len(text) > MAX_LINK:
        raise ConfigurationError(
            f"This design is too long for a link ({len(text):,} characters; at most {MAX_LINK:,} fit): save it as a file instead."
        )
    return text


def from_link(text: str) -> Configuration:
    """The design in a link. Raises ConfigurationError with a sentence if there is none."""
    damaged = ConfigurationError("The link holds no complete design: ask for it again, or for the design as a file.")
    if len(text) > MAX_LINK:
        raise damaged
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(packed, strict_json.MAX_JSON_BYTES)
    except (binascii.Error, zlib.error, ValueError):
        raise damaged from None
    if not unpacker.eof:  # cut off, or more than a design can be
        raise damaged
    return load_configuration(content)
