"""Adds the project's addresses to the metadata of a build, if `SOURCE_URL` names the public repository.

They are not in `pyproject.toml`, because a fork's wheel must not send its users elsewhere: the workflow that
releases names its own repository.
"""

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ProjectUrls(MetadataHookInterface):
    """Fills the dynamic field `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add source, issues, changelog and documentation; without `SOURCE_URL` nothing."""
        source = os.environ.get("SOURCE_URL", "").rstrip("/")
        if source:
            metadata["urls"] = {
                "Source": source,
                "Issues": f"{source}/issues",
                "Changelog": f"{source}/blob/main/CHANGELOG.md",
                "Documentation": f"{source}/blob/main/docs/index.md",
            }
