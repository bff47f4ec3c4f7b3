"""The site of `dbt docs generate`: complete, and made without a warning and without the internet."""

import json
import shutil
from pathlib import Path

from support.dbt_build import Build, run


def test_the_site_is_made_without_a_warning(filled: Build, tmp_path: Path) -> None:
    warehouse = Path(shutil.copy(filled.warehouse, tmp_path))

    done = run(warehouse, tmp_path, "--warn-error", "docs", "generate", "--show-all-deprecations")

    assert done.exit_code == 0, done.output
    assert "deprecat" not in done.output.lower()
    catalog = json.loads((tmp_path / "target" / "catalog.json").read_text())
    assert catalog["errors"] is None
    models = {name for name, node in filled.manifest["nodes"].items() if node["resource_type"] == "model"}
    assert models <= catalog["nodes"].keys()
    assert (tmp_path / "target" / "index.html").exists()
