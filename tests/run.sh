#!/bin/bash
# The one test command: own virtual environment, test requirements, Chromium and Node where they are missing, then pytest.
# Arguments are passed on to pytest, for example:  bash tests/run.sh -m slow
# With  --kernel NAME  before these, BLAS and NumPy compute as on another processor: tests/kernels.py.
# Without any, tests that take long (tests/long.txt) run only where CI is set, but for a case of each promise. Two processes share the files, in the order of
# tests/conftest.py, and compute with one thread each: on two cores, while one waits for a browser or a subprocess, the others
# compute. Timings (-m benchmark) want the machine for themselves.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv-tests
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement tests/requirements.txt

missing=()
command -v chromium > /dev/null || missing+=(chromium)
command -v node > /dev/null || missing+=(nodejs)
if [ "${#missing[@]}" -gt 0 ] && [ "$(id -u)" = 0 ]; then
    apt-get update --quiet=2 && apt-get install --yes --quiet=2 --no-install-recommends "${missing[@]}" > /dev/null
fi

if [ "${1:-}" = --kernel ]; then
    settings=$("$venv/bin/python" tests/kernels.py "$2")
    export OMP_NUM_THREADS=1 $settings
    shift 2
fi
if [ "$#" -eq 0 ]; then
    export OMP_NUM_THREADS=1
    set -- --numprocesses=2 --dist=loadfile --no-loadscope-reorder
    [ -n "${CI:-}" ] || set -- "$@" -m "not slow and not benchmark and not long"
fi
unset PYTHONDONTWRITEBYTECODE  # the tests start Python hundreds of times: it compiles our files once for all of them
"$venv/bin/ruff" check .
"$venv/bin/ruff" format --check .
"$venv/bin/mypy" &  # beside the tests
types=$!
tests=0
"$venv/bin/python" -m pytest "$@" || tests=$?
wait "$types"
exit "$tests"
