"""Where the command line starts. An interrupt is quiet from here on, while the rest is still being imported."""

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, by default the one that the process was given. Returns its exit code, or 130 where it was
    interrupted."""
    try:
        from .cli.main import main as command_line

        return command_line(argv)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
