"""Zip files that are the same bytes on every machine."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

_TIMESTAMP = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can hold: equal designs give equal bytes


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """The zip of files by name, packed by a ``method`` of `zipfile`."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in sorted(members):
            entry = zipfile.ZipInfo(name, _TIMESTAMP)
            entry.create_system = 3  # not the exporting machine's, for equal bytes everywhere
            entry.external_attr = 0o644 << 16
            entry.compress_type = method
            archive.writestr(entry, members[name])
    return packed.getvalue()
