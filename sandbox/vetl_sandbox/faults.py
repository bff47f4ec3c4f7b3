"""Faults that the platform can have on demand, the same every time from a seed."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from vetl_sandbox.strikes import Rule, Strikes

Kind = Literal[
    "status",
    "rate_limited",
    "closed",
    "truncated_csv",
    "login_page",
    "token_revoked",
    "slow",
    "rows_move",
    "csv_bom",
    "csv_crlf",
    "csv_column_order",
    "csv_extra_column",
    "unknown_field",
    "missing_field",
    "wrong_type",
    "new_value",
    "failed_late",
    "id_missing",
    "edited",
    "twice",
]
KINDS: Final = get_args(Kind)


@dataclass(frozen=True)
class Fault(Rule):
    """One rule: which requests go wrong, how, and how often.

    Attributes:
        kind: `status` (5xx, or 403), `rate_limited` (429), `closed` (the connection, in the middle of the body),
            `truncated_csv` (200 with half the bytes), `login_page` (200 with HTML), `token_revoked` (401, and
            every token is gone), `slow` (the answer comes `wait_seconds` later), `rows_move` (a row of the list
            changes just before), `csv_*` (another shape of the CSV), and in the first record of a JSON answer
            `unknown_field`, `missing_field`, `wrong_type`, `new_value` or `id_missing`. `failed_late` answers
            `status` after the change was made; `edited`: just after a task was created, a person rewrites it.
            `twice`: a proxy carries the request out two times, and passes one answer on.
        path: A pattern of paths, such as `*/phone_calls`, or of method and path, such as `POST */staff_tasks`.
        share: The part of matching requests that it hits.
        most: Hits in all; None for no end.
        in_a_row: Hits of the same request (method, path, query, practice), so that a patient client
            gets through.
        status: For `status`.
        body: For `status`: the error envelope, or a proxy's page.
        retry_after: For `rate_limited`: seconds, a date, or no header.
        wait_seconds: How long `rate_limited` asks to wait, and `slow` takes, by the wall clock.
    """

    kind: Kind
    in_a_row: int | None = 2
    status: Literal[400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504] = 503
    body: Literal["json", "html"] = "json"
    retry_after: Literal["seconds", "date", "none"] = "seconds"
    wait_seconds: float = 1


FLAKY: Final = (
    Fault("status", share=0.02, status=500),
    Fault("status", share=0.02, status=502, body="html"),
    Fault("rate_limited", share=0.02),
    Fault("rate_limited", share=0.01, retry_after="date"),
    Fault("closed", share=0.01),
    Fault("truncated_csv", path="*/phone_calls", share=0.03),
    Fault("login_page", share=0.01),
    Fault("token_revoked", share=0.005),
)
DRIFTING: Final = (
    Fault("slow", share=0.02, wait_seconds=0.2),
    Fault("rows_move", share=0.05, in_a_row=None),
    Fault("csv_bom", path="*/phone_calls", share=0.2),
    Fault("csv_crlf", path="*/phone_calls", share=0.2),
    Fault("csv_column_order", path="*/phone_calls", share=0.2),
    Fault("csv_extra_column", path="*/phone_calls", share=0.2),
    Fault("unknown_field", share=0.05),
    Fault("missing_field", share=0.01),
    Fault("wrong_type", share=0.01),
    Fault("new_value", share=0.02),
)
UNSAFE_WRITES: Final = (
    Fault("closed", path="POST */staff_tasks", share=0.1, in_a_row=None),
    Fault("status", path="POST */staff_tasks", share=0.05, in_a_row=None),
    Fault("failed_late", path="POST */staff_tasks", share=0.05, in_a_row=None),
    Fault("id_missing", path="POST */staff_tasks", share=0.05, in_a_row=None),
    Fault("edited", path="POST */staff_tasks", share=0.05, in_a_row=None),
)
PRESETS: Final = {"none": (), "flaky": FLAKY, "drifting": DRIFTING, "unsafe_writes": UNSAFE_WRITES}


class Faults(Strikes[Fault]):
    """The faults in force; `strike` gets a path and a request in full: method, path, query, practice."""
