"""How the lines of a text file end: a file put together from several may have all three ways, and blank lines after its rows."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

_CHUNK = 2**22
_LONGEST = 2**16
_LF = b"\n"
_CR = b"\r"


def chunks(path: Path, check: Callable[[], None]) -> Iterator[bytes]:
    """The bytes of a file; ``check`` is called now and then."""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            check()
            yield chunk


def mixed(parts: Iterable[bytes]) -> bool:
    """True if lines end in more than one way: with a line feed, a carriage return, or both."""
    ends, last = set[bytes](), b""
    for part in parts:
        if _CR not in part and not last:  # so it is in most files, and this is quick
            ends |= {_LF} if _LF in part else set()
            continue
        whole = last + part
        last = _CR if whole.endswith(_CR) else b""  # its line feed may come next
        signs = np.frombuffer(whole, dtype=np.uint8)
        fed, returned = signs == _LF[0], signs == _CR[0]
        both = np.count_nonzero(returned[:-1] & fed[1:])
        ends |= {_CR + _LF} if both else set()
        ends |= {_LF} if np.count_nonzero(fed) > both else set()
        ends |= {_CR} if np.count_nonzero(returned) > both + len(last) else set()
    return len(ends | ({last} if last else set())) > 1


class DelimitersAlone:
    """A quick test for lines that hold only delimiters. If it finds any, they are counted exactly."""

    def __init__(self, delimiter: str):
        sign = re.escape(delimiter).encode()
        blank = rb' \t\f\v"\x80-\xbf\xc2\xe1-\xe3\xef'  # also the bytes of other spaces and of signs without a width
        self._line = re.compile(rb"[\r\n][%b]*%b[%b%b]*[\r\n]" % (blank, sign, blank, sign))
        self._last, self._seen = _LF, False

    def look(self, part: bytes) -> bytes:
        """The next part of the file, which is returned."""
        self._seen = self._seen or self._line.search(self._last + part) is not None
        self._last = (self._last + part)[-_LONGEST:]
        return part

    def any(self) -> bool:
        """True if there may be such a line in what has been looked at; the last may lack its end."""
        return self._seen or self._line.search(self._last + _LF) is not None


def first_undecodable(path: Path, encoding: str, check: Callable[[], None]) -> tuple[int, int] | None:
    """The first byte (from 0) that is not text of an encoding, and the line (from 1) it is on; None where all are."""
    decoder, read, line = codecs.getincrementaldecoder(encoding)(), 0, 1
    for part in chunks(path, check):
        pending = decoder.getstate()[0]
        try:
            decoder.decode(part)
        except UnicodeDecodeError as error:
            return read - len(pending) + error.start, line + (pending + part).count(_LF, 0, error.start)
        read, line = read + len(part), line + part.count(_LF)
    return None


def blank_at_end(path: Path) -> int:
    """How many blank lines follow the last row of a file (of very many, at least some)."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _CHUNK))
        tail = file.read()
    return max(0, number_of_ends(tail[len(tail.rstrip()) :]) - tail.endswith((_CR, _LF)))


def number_of_ends(text: bytes) -> int:
    """How many line ends there are in ``text``."""
    return text.count(_LF) + text.count(_CR) - text.count(_CR + _LF)
