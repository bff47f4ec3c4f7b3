"""The audit log: a line for each list of people that a user sees. A list that cannot be noted is not shown."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import streamlit as st

KEYS = ("episode_id", "client_id", "call_key")
"""The columns that say who it is."""


class AuditError(Exception):
    """Raised if the log cannot be written. The message is one line for the user."""


def note_people(file: Path | None, user: str, page: str, table: pl.DataFrame, *, named: bool) -> None:
    """Note who was shown which people: `table` has their `practice_id`, and ids of `KEYS`.

    The same list in the same tab is noted once. Without a file nothing is noted.

    Raises:
        AuditError: the log cannot be written.
    """
    keys = [name for name in ("practice_id", *KEYS) if name in table.columns]
    people = table.select(keys).rows()
    seen = (user, page, tuple(people), named)
    if file is None or st.session_state.get("audited") == seen:
        return
    line: dict[str, Any] = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "user": user,
        "page": page,
        "with_names": named,
        "people": [dict(zip(keys, person, strict=True)) for person in people],
    }
    try:
        handle = os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
        try:
            os.write(handle, (json.dumps(line) + "\n").encode())
        finally:
            os.close(handle)
    except OSError as error:
        raise AuditError(
            f"The list is not shown, because the audit log cannot be written: {error.strerror}."
        ) from None
    st.session_state["audited"] = seen
