"""Where the files lie that vetl ships beside its code: the dbt project, the migrations, the example settings."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _find(in_wheel: str, in_checkout: str) -> Path:
    installed = _PACKAGE / "_bundled" / in_wheel
    return installed if installed.exists() else _PACKAGE.parent / in_checkout


def dbt_project() -> Path:
    """The folder with `dbt_project.yml`, in a wheel or in a checkout."""
    return _find("dbt", "dbt")


def migrations() -> Path:
    """The folder with the warehouse's migrations, in a wheel or in a checkout."""
    return _find("migrations", "warehouse/migrations")


def example_settings() -> Path:
    """The commented `vetl.toml` that `vetl init` writes, in a wheel or in a checkout."""
    return _find("vetl.example.toml", "vetl.example.toml")
