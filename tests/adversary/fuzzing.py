"""The allowed effects of an adversary's inputs: they are refused in one clear sentence, or
accepted; they write, call and reach nothing.

Every input is made from its kind and its seed alone. A failure names the seed, and that one input runs again with

    FUZZ_SEED=1234 pytest tests/adversary/test_fuzz_bundles.py -k bundles

The default run takes the first seeds; `-m slow` takes twenty times as many others.
"""

import contextlib
import os
import random
import re
import resource
import sys
import tempfile

import numpy as np
import pytest

LONGEST = 800
"""Characters of a sentence that people read; that about a file may name three problems and where each is."""
MEMORY = 1024 * 1024
"""KiB by which the process may grow at its peak over all inputs of a kind, each of them small."""

_JARGON = re.compile(
    r"Traceback|NoneType|ndarray|pydantic|codec|validation error|TypeError|KeyError|ValueError|Errno|"
    r"<class|object at|\b0x[0-9a-f]{4,}|Input should|np\.|pa\.|pd\."
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND
_CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.symlink", "os.link", "os.truncate", "shutil.copyfile"}
_CALLS = {"os.system", "os.exec", "os.posix_spawn", "pty.spawn", "socket.connect", "socket.getaddrinfo"}
_watched: list[str] | None = None


def _hook(event: str, arguments: tuple) -> None:
    if _watched is None:
        return
    if event == "open":
        path, _, flags = arguments
        compiled = isinstance(path, str) and "__pycache__" in path  # Python's own, at the first import of a module
        if isinstance(flags, int) and flags & _WRITING and not compiled:
            _watched.append(f"opened {path!r} for writing")
    elif (
        (event == "pickle.find_class" and arguments[0] != "datetime")
        or event in _CALLS
        or (event in _CHANGES and "__pycache__" not in str(arguments))
    ):
        _watched.append(f"{event} {arguments!r}"[:200])


sys.addaudithook(_hook)  # stays for the life of the process, and does nothing outside `untouched`


@contextlib.contextmanager
def untouched(folder):
    """Fails if anything is written, sent, run or unpickled meanwhile; `folder` is the working and temporary directory."""
    global _watched
    before, temporary, _watched = os.getcwd(), tempfile.tempdir, []
    os.chdir(folder)
    tempfile.tempdir = str(folder)
    try:
        yield
        assert not _watched, _watched[:3]
        assert not list(folder.iterdir()), "files were left behind"
    finally:
        _watched = None
        os.chdir(before)
        tempfile.tempdir = temporary


def check_sentence(error: ValueError) -> None:
    """One sentence for a person, as the pages show it."""
    message = str(error)
    assert type(error) is ValueError or type(error).__module__.startswith("ldp_core."), f"{type(error)} comes through"
    assert message.strip(), "an empty message"
    assert len(message) <= LONGEST, f"{len(message)} characters: {message}"
    message.encode()  # half a character would break the connection to the browser; pages escape all others
    assert not _JARGON.search(message), f"jargon: {message}"
    assert message.rstrip()[-1] in ".?", f"no sentence: {message}"


def tried(function, *arguments, **named):
    """The function's result, or None if it refuses in one sentence; anything else comes through."""
    try:
        return function(*arguments, **named)
    except ValueError as error:
        check_sentence(error)
        return None


def fuzz(inputs: int, accepted: tuple[float, float] = (0.02, 0.98)):
    """Makes a test of an attack: a function of a random.Random that returns whether its input was accepted.

    ``accepted`` is the share that has to be: inputs that are all refused, or all taken, test half of what they should.
    """

    def decorate(attack):
        name = attack.__name__.removeprefix("test_")

        def test(seeds, tmp_path):
            if "FUZZ_SEED" in os.environ:
                seeds = [int(os.environ["FUZZ_SEED"])]
            memory, taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 0
            with untouched(tmp_path):
                for seed in seeds:
                    try:
                        with np.errstate(all="ignore"):
                            taken += bool(attack(random.Random(f"{name} {seed}")))
                    except BaseException as error:
                        problem = f"{type(error).__name__}: {error}"[:1000]
                        raise AssertionError(f"{name}, FUZZ_SEED={seed}: {problem}") from error
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
            print(f"{name}: seeds {seeds[0]} to {seeds[-1]}, {taken:,} accepted, {grown / 1024:.0f} MiB more")
            assert grown <= MEMORY
            if len(seeds) > 1:
                assert accepted[0] <= taken / len(seeds) <= accepted[1], f"{taken} of {len(seeds)} were accepted"

        test.__name__, test.__doc__, test.__module__ = attack.__name__, attack.__doc__, attack.__module__
        ranges = [
            pytest.param(range(inputs), id=f"{inputs}"),
            pytest.param(
                range(inputs, 21 * inputs), id=f"{20 * inputs}", marks=[pytest.mark.slow, pytest.mark.timeout(3600)]
            ),
        ]
        return pytest.mark.parametrize("seeds", ranges)(test)

    return decorate
