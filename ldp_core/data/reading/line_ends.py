"""How the lines of a text file end: a file put together from several may have all three ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

_CHUNK = 2**22


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
        whole = last + part
        last = b"\r" if whole.endswith(b"\r") else b""  # its line feed may come next
        both = whole.count(b"\r\n")
        counts = {
            b"\r\n": both,
            b"\n": whole.count(b"\n") - both,
            b"\r": whole.count(b"\r") - both - len(last),
        }
        ends |= {end for end, number in counts.items() if number}
    return len(ends | ({last} if last else set())) > 1
