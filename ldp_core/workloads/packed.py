"""Matrices as text in a configuration: float64 (little-endian, row by row), packed by zlib and base64."""

from __future__ import annotations

import base64
import binascii
import zlib

import numpy as np


def pack(matrix: np.ndarray) -> str:
    """The text of a matrix of numbers."""
    return base64.b64encode(zlib.compress(matrix.astype("<f8").tobytes())).decode()


def unpack(data: str, rows: int, columns: int) -> np.ndarray:
    """(rows, columns) float64. ValueError, one sentence, where ``data`` is no such matrix; nothing is unpacked past its size."""
    size = 8 * rows * columns
    try:
        unpacked = zlib.decompressobj().decompress(base64.b64decode(data, validate=True), size + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise ValueError("the packed matrix is damaged: upload it again.") from None
    if len(unpacked) != size:
        raise ValueError("the packed matrix has a different size from the one it states: upload it again.")
    return np.frombuffer(unpacked, "<f8").reshape(rows, columns).astype(float)
