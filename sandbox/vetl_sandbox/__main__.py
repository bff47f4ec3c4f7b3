"""Run the partner platform in the foreground: `python -m vetl_sandbox`."""

import argparse
import sys

from vetl_sandbox.faults import PRESETS
from vetl_sandbox.server.serving import serve


def main() -> int:
    """Serve until interrupted; return 2 if the arguments make no world."""
    parser = argparse.ArgumentParser(prog="python -m vetl_sandbox", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="a free one if not given")
    parser.add_argument("--practices", type=int, default=3, help="1 to 500")
    parser.add_argument("--days", type=int, default=365, help="days of history")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, help="phone calls in the history of all practices, about")
    parser.add_argument("--faults", choices=sorted(PRESETS), default="none")
    parser.add_argument(
        "--json", action="store_true", dest="as_json", help="print one line of JSON once it answers"
    )
    arguments = parser.parse_args()
    try:
        serve(**vars(arguments), say=lambda line: print(line, flush=True))  # noqa: T201 - its one output
    except (ValueError, OSError) as error:
        print(f"sandbox: {error}", file=sys.stderr)  # noqa: T201 - a command's message
        return 2
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
