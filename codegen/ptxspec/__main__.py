"""Where the command line starts. An interrupt is quiet from here on, while the rest is still being imported."""

import sys


def main() -> int:
    """Run the command that was given. Returns its exit code, or 130 where it was interrupted."""
    try:
        from . import cli

        return cli.main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
