"""The start of the command line. It already ends quietly on an interrupt while the rest is being imported."""

import gc
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, by default the one in the arguments of the process. Return its exit code, or 130 if it was
    interrupted."""
    try:
        from .cli.main import main as command_line

        return command_line(argv)
    except KeyboardInterrupt:
        return 130
    finally:
        if argv is None:
            # The process ends here, so there is no need to look for garbage.
            gc.freeze()


if __name__ == "__main__":
    sys.exit(main())
