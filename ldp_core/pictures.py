"""Small pictures of matrices for notebooks, each one line of HTML with the picture inside. Pages and reports have `charts`."""

from __future__ import annotations

import base64
import html
import struct
import zlib

import numpy as np

SIDE = 96
"""Most cells per side. The largest picture is then about 13 kB of HTML."""
WIDTH = 288  # pixels on the screen


def binned(matrix: np.ndarray, side: int) -> np.ndarray:
    """``matrix`` averaged over blocks to at most ``side`` cells each way, as float32."""
    for axis in (0, 1):
        size = matrix.shape[axis]
        if size > side:
            edges = np.linspace(0, size, side + 1).astype(int)
            sums = np.add.reduceat(matrix, edges[:-1], axis=axis)
            shape = (-1, 1) if axis == 0 else (1, -1)
            matrix = sums / np.diff(edges).reshape(shape)
    return matrix.astype(np.float32)


def heat_map(matrix: np.ndarray, caption: str) -> str:
    """HTML of ``matrix`` (rows, columns) in shades from its least entry (white) to its largest (black), over ``caption``."""
    cells = binned(matrix, SIDE)
    low, high = float(cells.min()), float(cells.max())
    shades = np.rint(255 * (high - cells) / ((high - low) or 1.0)).astype(np.uint8)
    height = min(WIDTH, max(WIDTH // 8, WIDTH * shades.shape[0] // shades.shape[1]))
    picture = base64.b64encode(_png(shades)).decode()
    style = f"width:{WIDTH}px;height:{height}px;image-rendering:pixelated;border:1px solid gray"
    text = html.escape(caption)
    return f'<div><img src="data:image/png;base64,{picture}" alt="{text}" style="{style}"><br>{text}</div>'


def strategy_map(strategy: np.ndarray, caption: str) -> str:
    """`heat_map` of the commonest reports of ``strategy`` (m, n): one row per report, one column per type, black where a type
    is the likeliest to send it, white where it is the least likely, by the logarithm of the odds. Similar reports are neighbours."""
    commonest = np.sort(np.argsort(-strategy.sum(axis=1), kind="stable")[:SIDE])
    levels = np.log(np.maximum(strategy[commonest], np.finfo(float).tiny))
    levels -= levels.min(axis=1, keepdims=True)
    levels /= np.maximum(levels.max(axis=1, keepdims=True), 1e-12)
    centres = levels @ np.arange(levels.shape[1]) / np.maximum(levels.sum(axis=1), 1e-12)
    shown = f" · {len(commonest)} of {len(strategy):,} reports (rows) by type (columns)"
    return heat_map(levels[np.argsort(centres, kind="stable")], caption + shown)


def _png(shades: np.ndarray) -> bytes:
    """The picture with these grey levels (height, width), uint8, in the Portable Network Graphics format (RFC 2083)."""
    height, width = shades.shape
    rows = np.hstack([np.zeros((height, 1), dtype=np.uint8), shades])  # each begins with its filter: none
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)  # 8 bits per pixel, grey
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
