import pytest
from designs_of_commands import Shell


@pytest.fixture
def shell(tmp_path, capsys):
    return Shell(tmp_path, capsys)
