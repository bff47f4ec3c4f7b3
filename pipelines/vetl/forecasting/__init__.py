"""Forecasts of calls: the only importer of statsforecast, which the extra `forecast` brings."""

FEWEST_WEEKS = 8
"""Nothing is predicted from fewer weeks."""

MOST_WEEKS = 26
"""Older weeks would weigh 6 % together."""
