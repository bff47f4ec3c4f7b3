"""The schemas of the published file: `marts`, which answer questions, and `meta`, vetl's own tables about them.

Classes of personal data in the marts, and the treatments of their columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

MARTS = "marts"
META = "meta"
SCHEMAS = (MARTS, META)

DIGESTS = "digests"
"""The table that publishing writes; no model of dbt makes it."""

OWN = frozenset({"catalogue", "metrics", "practice_days", "proof", "report_revisions", "unknown_values", DIGESTS})
"""The tables of `meta`; a test compares them with the dbt project."""


def schema_of(table: str) -> str:
    """Return the schema of a published table."""
    return META if table in OWN else MARTS


PersonalClass = Literal["name", "contact", "text"]
"""Names of clients and patients; telephone numbers and e-mail addresses; spoken and written sentences."""

Treatment = Literal["null", "hash", "clear"]
"""Null; a hash by the masking key, or null if there is no key; the value itself."""

Treatments = Mapping[str, Mapping[str, Treatment]]
"""The treatment of each personal column, by mart and column."""

JOINED: Mapping[str, str] = {
    **dict.fromkeys(("clients.name", "phone_calls.client_name"), "client_name"),
    **dict.fromkeys(("patients.name", "phone_calls.patient_name", "appointments.patient_name"), "patient_name"),
    **dict.fromkeys(("clients.email", "appointments.client_email"), "email"),
    **dict.fromkeys(
        (
            "clients.phone",
            "phone_calls.phone_number",
            "outreach_requests.contact_number",
            "call_back_list.phone_number",
            "appointments.client_phone",
        ),
        "phone_number",
    ),
}
"""Columns whose hashes agree within a practice if their values agree. Every other column has its own hashes."""


@dataclass(frozen=True, slots=True)
class SharedWords:
    """The rule of columns of words: a value is shown if so many people share it, or if it is one of `words`."""

    fewest_people: int = 5
    words: tuple[str, ...] = field(default=(), repr=False)


CLASSES: tuple[PersonalClass, ...] = get_args(PersonalClass)

FAKE_NUMBER = "+999"
"""The first digits of the pseudonym of a telephone number; no country has this code."""
