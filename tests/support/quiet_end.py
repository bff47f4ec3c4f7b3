"""End this process quietly: DuckDB's binding prints fifty lines about leaks as Python ends.

They would follow the last line of pytest, which is the result. Import this module before all others.
"""

import atexit
import os


def _drop_standard_error() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


atexit.register(_drop_standard_error)  # the first registered function runs last
