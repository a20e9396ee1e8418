import pytest
from designs_of_commands import Shell

from ldp_core.deploy.commands import terminal


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """No command says that it takes long, however slow the machine is."""
    monkeypatch.setattr(terminal, "SILENCE", 1e6)


@pytest.fixture
def shell(tmp_path, capsys):
    return Shell(tmp_path, capsys)
