"""Start of the command line. An interrupt is quiet from here on, while the rest is still being imported."""

import gc
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
    finally:
        if argv is None:
            # The process ends here, and all that it holds with it: there is no garbage to look for.
            gc.freeze()


if __name__ == "__main__":
    sys.exit(main())
