"""Who may import whom. The rules are few, so that a part can be read, tested and replaced by itself."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pipelines"

ONLY_IMPORTER = {
    "httpx": ("partner",),
    "duckdb": ("loading",),
    "polars": ("loading",),
    "pyarrow": ("loading",),
    "dagster": ("orchestration", "definitions.py"),
    "dagster_dbt": ("orchestration",),
    "typer": ("cli",),
    "rich": ("cli", "terminal"),
    "starlette": ("receiving",),
    "uvicorn": ("receiving",),
    "sqlite3": ("receiving",),
}
"""A third-party package, and the parts of `pipelines` that may import it (path prefixes)."""

MAY_IMPORT = {
    "errors.py": (),
    "pages.py": (),
    "practice.py": (),
    "endpoint.py": ("partner.models",),
    "received.py": ("endpoint", "partner.webhook_models"),
    "steps.py": ("pages", "endpoint"),
    "strategies": ("strategies", "steps", "pages", "endpoint", "errors"),
    "endpoints": ("endpoints", "endpoint", "strategies", "partner.models"),
    "partner": ("partner", "errors", "pages"),
    "loading": ("loading", "endpoint", "errors", "pages", "steps", "practice", "partner", "bundled", "received"),
    "receiving": (
        *("receiving", "endpoint", "endpoints", "errors", "pages", "performing", "received", "settings", "steps"),
        *("loading.quarantine", "loading.received", "partner.webhooks"),
    ),
    "performing.py": ("committing", "endpoint", "errors", "pages", "practice", "results", "steps", "strategies"),
    "sync.py": ("doctor", "performing", "endpoint", "errors", "practice", "results", "strategies"),
}
"""A part, and the modules of `pipelines` that it may import (prefixes)."""

STANDARD_AND_PYDANTIC = ("errors.py", "pages.py", "steps.py", "endpoint.py", "practice.py", "strategies")
NO_IO = ("socket", "ssl", "http", "urllib", "subprocess", "asyncio", "sqlite3", "os", "pathlib", "io")


def modules(part: Path) -> list[Path]:
    return [part] if part.is_file() else sorted(part.rglob("*.py"))


def imports(module: Path) -> Iterator[str]:
    """Every imported module's dotted name, imports inside functions included."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


@pytest.mark.parametrize("package", ONLY_IMPORTER)
def test_a_library_is_imported_in_one_part_only(package: str) -> None:
    allowed = ONLY_IMPORTER[package]
    strangers = [
        str(module.relative_to(PACKAGE))
        for module in modules(PACKAGE)
        if any(within(name, package) for name in imports(module))
        and not str(module.relative_to(PACKAGE)).startswith(allowed)
    ]
    assert strangers == []


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_a_part_imports_only_the_parts_it_stands_on(part: str) -> None:
    for module in modules(PACKAGE / part):
        inner = [name.removeprefix("pipelines.") for name in imports(module) if within(name, "pipelines")]
        strangers = [name for name in inner if not any(within(name, allowed) for allowed in MAY_IMPORT[part])]
        assert strangers == [], module


@pytest.mark.parametrize("part", STANDARD_AND_PYDANTIC)
def test_the_core_does_no_io_and_needs_nothing_but_pydantic(part: str) -> None:
    import sys  # noqa: PLC0415 - only here

    for module in modules(PACKAGE / part):
        outside = {name.split(".")[0] for name in imports(module)} - {"pipelines", "pydantic"}
        assert outside <= set(sys.stdlib_module_names), module
        assert outside.isdisjoint(NO_IO), module


def test_endpoints_never_import_each_other() -> None:
    for module in modules(PACKAGE / "endpoints"):
        if module.name != "__init__.py":
            assert not any(within(name, "pipelines.endpoints") for name in imports(module)), module


def test_the_sandbox_is_an_independent_reading_of_the_contract() -> None:
    for module in modules(ROOT / "sandbox"):
        assert not any(within(name, "pipelines") for name in imports(module)), module


def test_only_the_demo_and_sandbox_commands_know_the_sandbox() -> None:
    importers = {
        str(module.relative_to(PACKAGE))
        for module in modules(PACKAGE)
        if any(within(name, "sandbox") for name in imports(module))
    }
    assert importers <= {"cli_demo.py", "cli_sandbox.py"}


def test_the_command_line_never_imports_dagster() -> None:
    """So that it starts in a blink."""
    for module in PACKAGE.glob("cli*.py"):
        assert not any(name.split(".")[0].startswith("dagster") for name in imports(module)), module


def test_only_staging_reads_sources() -> None:
    models = ROOT / "dbt" / "models"
    readers = [path for path in models.rglob("*.sql") if "source(" in path.read_text(encoding="utf-8")]
    assert readers
    assert all("staging" in path.parts for path in readers)


@pytest.mark.parametrize("folder", ["pipelines", "sandbox"])
def test_no_file_knows_everything(folder: str) -> None:
    long = {
        str(module): lines
        for module in modules(ROOT / folder)
        if (lines := len(module.read_text(encoding="utf-8").splitlines())) > 300
    }
    assert long == {}
