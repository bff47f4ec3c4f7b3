"""Classes of personal data in the marts, and what may be published of a column."""

from collections.abc import Mapping
from typing import Literal, get_args

PersonalClass = Literal["name", "contact", "text"]
"""Of clients and patients; telephone numbers and e-mail addresses; what was said or written in sentences."""

Treatment = Literal["null", "hash", "clear"]
"""Nothing; a hash by the masking key, null where there is no key; the value itself."""

Treatments = Mapping[str, Mapping[str, Treatment]]
"""Of the personal columns of every mart, by mart and column."""

JOINED: Mapping[str, str] = {
    **dict.fromkeys(("clients.name", "phone_calls.client_name"), "client_name"),
    **dict.fromkeys(("patients.name", "phone_calls.patient_name", "appointments.patient_name"), "patient_name"),
    **dict.fromkeys(("clients.email", "appointments.client_email"), "email"),
    **dict.fromkeys(
        (
            *("clients.phone", "phone_calls.phone_number", "outreach_requests.contact_number"),
            *("leak_list.phone_number", "appointments.client_phone"),
        ),
        "phone_number",
    ),
}
"""Columns whose hashes agree if their values do, within one practice. Every other column has its own hashes."""

CLASSES: tuple[PersonalClass, ...] = get_args(PersonalClass)

FAKE_NUMBER = "+999"
"""The first digits of the pseudonym of a telephone number: no country has this code."""
