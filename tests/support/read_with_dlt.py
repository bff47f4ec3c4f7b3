"""A peer's own generic client: dlt's rest_api source reads the five lists whole.

python read_with_dlt.py BASE_URL TOKEN PRACTICE     prints {list: [id, ...]} as JSON
"""

import json
import os
import sys
from typing import Any

os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"

from dlt.sources.rest_api import rest_api_resources

SINCE = "2000-01-01T00:00:00Z"
LISTS: dict[str, tuple[str, dict[str, Any]]] = {
    "phone_calls": ("phone_calls", {}),
    "booking_sessions": ("booking_sessions", {"start_date": SINCE}),
    "appointments": ("appointments", {"start_date": SINCE}),
    "ai_outbound": ("ai_outbound/requests", {}),
    "staff_tasks": ("staff_tasks", {}),
}


def read(base_url: str, token: str, practice_id: str) -> dict[str, list[str]]:
    """Return the ids of every list, page by page until a page is empty (sessions have no number of pages)."""
    pages = {"type": "page_number", "base_page": 0, "page_param": "page", "total_path": None}
    source: Any = {
        "client": {
            "base_url": f"{base_url}/services/core/open_api/v1/",
            "headers": {"X-Client-Id": practice_id},
            "auth": {"type": "bearer", "token": token},
            "paginator": pages | {"stop_after_empty_page": True},
        },
        "resources": [
            {
                "name": name,
                "endpoint": {"path": path, "params": {"per_page": 100, **params}, "data_selector": "data.content"},
            }
            for name, (path, params) in LISTS.items()
        ],
    }
    return {resource.name: [row["id"] for row in resource] for resource in rest_api_resources(source)}


if __name__ == "__main__":
    json.dump(read(*sys.argv[1:]), sys.stdout)
