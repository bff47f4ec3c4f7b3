"""Classes of personal data in the marts, and what may be published of a column."""

from collections.abc import Mapping
from typing import Literal, get_args

PersonalClass = Literal["name", "contact", "text"]
"""Of clients and patients; telephone numbers and e-mail addresses; what was said or written in sentences."""

Treatment = Literal["null", "hash", "clear"]
"""Nothing; a hash by the masking key, null where there is no key; the value itself."""

Treatments = Mapping[str, Mapping[str, Treatment]]
"""Of the personal columns of every mart, by mart and column."""

CLASSES: tuple[PersonalClass, ...] = get_args(PersonalClass)
