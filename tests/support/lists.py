"""The lists of the registry by what they have, so that a list more is in every test about such lists."""

from typing import Final

from vetl.core.endpoint import ByReference
from vetl.endpoints import REGISTRY

RANGED: Final = tuple(one.name for one in REGISTRY if one.strategy.has_range)
"""Lists with a filter by `updated_at`."""

PAGED: Final = tuple(one.name for one in REGISTRY if one.strategy.has_list)
"""Lists that come page by page; the others are read by ids."""

WITH_IDS: Final = tuple(one.name for one in REGISTRY if one.strategy.has_list and one.strategy.has_ids)
"""Lists that come page by page, and whose rows have ids."""

TABLES: Final = {one.name: one.table for one in REGISTRY}
"""The raw table of each list."""

MENTIONS: Final = {one.name: one.strategy.mentions for one in REGISTRY if isinstance(one.strategy, ByReference)}
"""By list that is read by ids, the raw tables and columns that mention them."""
