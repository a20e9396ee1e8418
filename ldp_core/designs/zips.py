"""Zip files, and arrays in them, that are the same bytes on every machine, and what is taken from those of others: sizes are bounded
before anything is unpacked, and nothing is unpickled."""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ldp_core.designs.strict_json import shorten
from ldp_core.limits import MOST_DESIGN_BYTES

# Version 1.0 of the format (numpy.lib.format), as numpy writes a float64 matrix or vector. numpy's own reader evaluates the
# header as a Python literal and allocates what it asks for, which is too trusting here.
_NPY_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '<f8', 'fortran_order': (True|False), 'shape': \((\d{1,9}),(?: (\d{1,9}))?\), \} *\n",
    re.DOTALL,
)
_CORRUPT = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)
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


def npz(arrays: Mapping[str, Any], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Arrays of float64 by name, as NumPy packs them."""
    members = {}
    for name, array in arrays.items():
        content = io.BytesIO()
        np.lib.format.write_array(content, np.ascontiguousarray(array, dtype="<f8"), version=(1, 0))
        members[f"{name}.npy"] = content.getvalue()
    return zipped(members, method)


def array(content: bytes, axes: int) -> np.ndarray | None:
    """The float64 array of an npy file, read by its header so that nothing is unpickled or over-allocated; None if it is
    anything other than a matrix (``axes`` = 2) or a vector (1)."""
    header = _NPY_HEADER.match(content)
    if header is None:
        return None
    shape = tuple(int(size) for size in header.groups()[1:] if size is not None)
    values = content[header.end() :]
    if len(shape) != axes or min(shape) < 1 or len(values) != 8 * math.prod(shape):
        return None
    return np.frombuffer(values, dtype="<f8").reshape(shape, order="F" if header[1] == b"True" else "C")


def unzipped(content: bytes, allowed: tuple[str, ...], within: str = "The file") -> dict[str, bytes]:
    """The members of an untrusted zip, which may only have the names ``allowed``."""
    damaged = ValueError(f"{within} is a damaged zip and cannot be unpacked: export the design again.")
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except _CORRUPT:
        raise damaged from None
    with archive:
        _check_entries(archive.infolist(), allowed, within)
        try:
            return {name: archive.read(name) for name in archive.namelist()}
        except _CORRUPT:
            raise damaged from None


def _check_entries(entries: list[zipfile.ZipInfo], allowed: tuple[str, ...], within: str) -> None:
    names = [entry.filename for entry in entries]
    strangers = sorted(set(names) - set(allowed))
    if strangers or len(names) != len(set(names)):
        what = shorten(strangers[0]) if strangers else "one of its members twice"
        raise ValueError(f"{within} holds {what}; a design has only {', '.join(allowed)}, once each.")
    if any(entry.flag_bits & 0x1 for entry in entries):
        raise ValueError(f"{within} is encrypted: unpack it and choose its {allowed[0]} instead.")
    # Python stops unpacking at the declared size, but only for these two methods without building more in memory.
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        raise ValueError(f"{within} is packed by an unusual method: export the design again.")
    if sum(entry.file_size for entry in entries) > MOST_DESIGN_BYTES:
        raise ValueError(f"{within} unpacks to more than {MOST_DESIGN_BYTES // 10**6} MB, too much for a design.")
