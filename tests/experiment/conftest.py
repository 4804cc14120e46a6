import pytest

from supra.cli import main


@pytest.fixture
def command(monkeypatch, capsys):
    """Run a command: exit status, what it printed, what it complained about."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["supra", *map(str, arguments)])
        try:
            main()
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


@pytest.fixture
def succeed(command):
    """Run a command that is expected to end well: what it printed."""

    def run(*arguments: object) -> str:
        status, printed, complaint = command(*arguments)
        assert status == 0, complaint
        return printed

    return run
