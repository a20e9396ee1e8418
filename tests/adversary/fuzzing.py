"""The allowed effects of an adversary's inputs: they are refused in one clear sentence, or accepted; they write, call and reach nothing."""

import contextlib
import os
import re
import resource
import sys
import tempfile

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

LONGEST = 800
"""Characters of a sentence that people read; that about a file may name three problems and where each is."""
MEMORY = 1024 * 1024
"""KiB by which the process may grow at its peak over all inputs of a kind, each of them small."""

MORE = 5
"""So many times the examples of other tests: most inputs are refused."""
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


def attack(*inputs, seen=(True, False)):
    """Makes a test of a function that returns whether it accepted an input; over all inputs, what it returns has to be all of ``seen``:
    inputs that are all refused, or all taken, test half of what they should."""

    def decorate(accepted):
        def test(tmp_path):
            found = set()

            @settings(max_examples=MORE * settings().max_examples)
            @given(st.tuples(*inputs))
            def each(drawn):
                with untouched(tmp_path), np.errstate(all="ignore"):
                    found.add(bool(accepted(*drawn)))

            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            each()
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory <= MEMORY
            assert found >= set(seen)

        test.__name__, test.__doc__, test.__module__ = accepted.__name__, accepted.__doc__, accepted.__module__
        return test

    return decorate
