"""The `isochrone` command, and ``python -m isochrone``."""

import signal
import sys


def main() -> None:
    """Run the command with the arguments of the process."""
    from isochrone import _isochrone

    # The command handles Ctrl-C itself; Python's handler would never run.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_isochrone.command(["isochrone", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
