"""The recipe of an uploaded matrix."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, Strict, model_validator

from ldp_core import wording
from ldp_core.limits import MOST_UPLOADED_ENTRIES
from ldp_core.people import Tables
from ldp_core.workloads.axes import Axis, axes_of
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Custom
from ldp_core.workloads.matrix_files import checked_matrix, read_matrix
from ldp_core.workloads.part import Part
from ldp_core.workloads.units import Unit


class MatrixPart(Part):
    """An uploaded matrix: ``rows`` x ``columns`` numbers in ``data`` (see `ldp_core.workloads.matrix_part`)."""

    kind: Literal["matrix"] = "matrix"
    rows: Annotated[int, Field(ge=1, le=MOST_UPLOADED_ENTRIES)]
    columns: Annotated[int, Field(ge=2, le=MOST_UPLOADED_ENTRIES)]
    data: str
    names: Annotated[tuple[str, ...], Strict(False)] | None = None

    @property
    def _summary(self) -> str:
        return f"Uploaded matrix of {wording.plural(self.rows, 'query', 'queries')}"

    @classmethod
    def of(cls, matrix: np.ndarray, names: Sequence[str] | None = None, weight: float = 1.0) -> MatrixPart:
        """The recipe of a matrix (p, n) of finite numbers. ValueError, one sentence, for any other array."""
        matrix = np.asarray(matrix)
        matrix = checked_matrix(matrix, matrix.shape[1] if matrix.ndim == 2 else 0)
        rows, columns = matrix.shape
        return cls(
            rows=rows, columns=columns, data=pack(matrix), names=None if names is None else tuple(names), weight=weight
        )

    @classmethod
    def from_file(cls, content: bytes, attributes: Any, weight: float = 1.0) -> MatrixPart:
        """The recipe of an uploaded CSV, .npy or .npz, see `read_matrix`. ValueError, one sentence, when it does not
        fit."""
        axes = axes_of(attributes)
        n = math.prod(axis.size for axis in axes)
        file = read_matrix(content, n, axes[0].labels if len(axes) == 1 else None)
        return cls.of(file.matrix, file.names, weight)

    @model_validator(mode="after")
    def _check_data(self) -> MatrixPart:
        if self.rows * self.columns > MOST_UPLOADED_ENTRIES:
            raise ValueError(f"a matrix of {self.rows:,} x {self.columns:,} entries is too large: leave queries out.")
        if self.names is not None and len(self.names) != self.rows:
            raise ValueError(f"the matrix has {self.rows:,} queries and {len(self.names):,} names: name each one.")
        checked_matrix(self.matrix, self.columns)
        return self

    @property
    def matrix(self) -> np.ndarray:
        """(rows, columns) float64."""
        return unpack(self.data, self.rows, self.columns)

    def _build(self, axes: Sequence[Axis]) -> Workload:
        n = math.prod(axis.size for axis in axes)
        return Custom(checked_matrix(self.matrix, n), self.names)

    def measured(self, axes: Sequence[Axis], people: Tables | None) -> tuple[Unit, float]:
        least, most = float(self.matrix.min()), float(self.matrix.max())
        return Unit(span=most - least, least=100 * least), 0.0


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
