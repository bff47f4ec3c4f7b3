"""The paths of the files that vetl ships beside its code: dbt project, dashboard, migrations, settings."""

from hashlib import sha256
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _find(in_wheel: str, in_checkout: str) -> Path:
    installed = _PACKAGE / "_bundled" / in_wheel
    return installed if installed.exists() else _PACKAGE.parents[1] / in_checkout


def dbt_project() -> Path:
    """Return the folder with `dbt_project.yml`, in a wheel or in a checkout."""
    return _find("dbt", "dbt")


def migrations() -> Path:
    """Return the folder with the warehouse's migrations, in a wheel or in a checkout."""
    return _find("migrations", "warehouse/migrations")


def example_settings() -> Path:
    """Return the commented `vetl.toml` that `vetl init --all` writes, in a wheel or in a checkout."""
    return _find("vetl.example.toml", "vetl.example.toml")


def analysts_page() -> Path:
    """Return the page for analysts with the worked questions, in a wheel or in a checkout."""
    return _find("analysts.md", "warehouse/README.md")


def dashboards() -> Path:
    """Return the folder with the dashboard's `app.py`, in a wheel or in a checkout."""
    return _find("dashboards", "dashboards")


def dagster_settings() -> Path:
    """Return the `dagster.yaml` of one machine, in a wheel or in a checkout."""
    return _find("dagster.yaml", "deploy/dagster.yaml")


def dbt_fingerprint() -> str:
    """Return a hash of the dbt project's text. Marts that another text made are built in full."""
    project = dbt_project()
    text = sha256()
    for path in sorted(project.rglob("*")):
        folder = path.relative_to(project).parts[0]
        if folder not in {"target", "logs"} and path.suffix in {".sql", ".yml", ".csv"}:
            text.update(f"{path.relative_to(project)}\0".encode() + path.read_bytes() + b"\0")
    return text.hexdigest()
