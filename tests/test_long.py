"""The list of long tests names tests that exist."""

from tests.conftest import LONG, Path

ROOT = Path(__file__).parents[1]


def test_every_long_test_exists():
    named = [name.partition("::") for name in LONG]
    assert named
    assert not [
        (file, test) for file, _, test in named if f"def {test.split('::')[-1]}(" not in (ROOT / file).read_text()
    ]
