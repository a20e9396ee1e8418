"""A design as a piece of a web address: everything but the data."""

import base64
import binascii
import zlib

from ldp_core import limits
from ldp_core.designs import strict_json
from ldp_core.designs.configuration import Configuration, load_configuration
from ldp_core.limits import MOST_LINK_CHARACTERS
from ldp_core.problems import ConfigurationError


def to_link(configuration: Configuration) -> str:
    """The design as letters, digits, - and _ only. Raises ConfigurationError if it would be longer than `MOST_LINK_CHARACTERS`."""
    packed = zlib.compress(strict_json.write(configuration.model_dump(mode="json")), 9)
    text = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    if len(text) > MOST_LINK_CHARACTERS:
        raise ConfigurationError(
            f"This design is too long for a link ({len(text):,} characters; at most {MOST_LINK_CHARACTERS:,} fit): save it as a file instead."
        )
    return text


def from_link(text: str) -> Configuration:
    """The design in a link. Raises ConfigurationError with a sentence if there is none."""
    damaged = ConfigurationError("The link holds no complete design: ask for it again, or for the design as a file.")
    if len(text) > MOST_LINK_CHARACTERS:
        raise damaged
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(packed, limits.MOST_JSON_BYTES)
    except (binascii.Error, zlib.error, ValueError):
        raise damaged from None
    if not unpacker.eof:  # cut off, or more than a design can be
        raise damaged
    return load_configuration(content)
