"""Make vetl quick in a process: its import is its effect, in pytest and in each process that a test starts."""

from functools import partial

from vetl.jobs import sync
from vetl.partner import account
from vetl.partner.retries import RetryPolicy

account._COST["n"] = 2  # pyright: ignore[reportPrivateUsage] - it changes the cost, not the behaviour
"""Each sign-in costs 50 ms of CPU against guessing, and the passwords of hundreds of tests are public."""

sync.RetryPolicy = partial(RetryPolicy, first_wait=0.02)  # pyright: ignore[reportAttributeAccessIssue] - as above
"""Back off as in production, in a twenty-fifth of the time."""
