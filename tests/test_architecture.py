"""Allowed imports between packages. They are few, so that a part can be read, tested and replaced by itself."""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pipelines" / "vetl"

ONLY_IMPORTER = {
    "httpx": ("partner",),
    "duckdb": ("store", "publishing", "figures", "forgetting"),
    "polars": ("store", "figures", "forecasting", "headlines"),
    "statsforecast": ("forecasting",),
    "pyarrow": ("store", "publishing"),
    "dagster": ("orchestration", "definitions.py"),
    "dagster_dbt": ("orchestration",),
    "typer": ("cli",),
    "rich": ("cli",),
    "mcp": ("cli/assistant",),
    "prometheus_client": ("receiving",),
    "starlette": ("receiving",),
    "uvicorn": ("receiving",),
    "argon2": ("passwords.py",),
    "typst": ("notices",),
    "sqlite3": ("sqlite_file.py", "receiving/inbox.py", "acting/ledger_rows.py", "notices/ledger.py"),
    "pyspark": ("jobs/spark_session.py",),
}
"""Third-party packages, and the parts of `vetl` that may import each of them (path prefixes)."""

FLOW = (
    "core",
    "settings",
    "partner",
    "reading",
    "discovery",
    "strategies",
    "endpoints",
    "store",
    "publishing",
    "figures",
    "engine",
    "receiving",
    "acting",
    "notices",
    "forecasting",
    "headlines",
    "jobs",
    "forgetting",
    "cli",
    "orchestration",
)
"""The packages in the direction of the data flow: each may import only packages before it."""

IMPORTS = {
    "core": set[str](),
    "settings": {"core"},
    "partner": {"core"},
    "reading": {"core"},
    "discovery": {"core", "partner", "reading"},
    "strategies": {"core", "reading", "discovery"},
    "endpoints": {"core", "partner"},
    "store": {"core", "partner", "endpoints", "bundled", "drafts", "sqlite_file"},
    "publishing": {"core", "endpoints", "store", "bundled", "drafts"},
    "figures": {"core", "endpoints", "store", "publishing"},
    "engine": {"core", "reading", "discovery", "strategies", "endpoints"},
    "receiving": {"core", "settings", "partner", "endpoints", "store", "engine", "sqlite_file"},
    "acting": {"core", "partner", "reading", "discovery", "sqlite_file"},
    "notices": {"core", "settings", "publishing", "figures", "store", "sqlite_file"},
    "forecasting": set[str](),
    "headlines": {"core"},
    "jobs": {
        "core",
        "settings",
        "partner",
        "discovery",
        "endpoints",
        "store",
        "publishing",
        "figures",
        "engine",
        "receiving",
        "acting",
        "notices",
        "forecasting",
        "headlines",
        "bundled",
        "drafts",
        "sqlite_file",
    },
    "forgetting": {
        "core",
        "settings",
        "store",
        "publishing",
        "receiving",
        "acting",
        "jobs",
        "drafts",
        "sqlite_file",
    },
    "cli": {
        "core",
        "settings",
        "discovery",
        "endpoints",
        "store",
        "publishing",
        "figures",
        "receiving",
        "acting",
        "notices",
        "jobs",
        "forgetting",
        "bundled",
        "passwords",
    },
    "orchestration": {
        "core",
        "settings",
        "endpoints",
        "store",
        "publishing",
        "receiving",
        "notices",
        "jobs",
        "forgetting",
        "bundled",
    },
}
"""Each package, and exactly the other parts of `vetl` that it imports."""

BESIDE = ("bundled", "drafts", "passwords", "sqlite_file")
"""Modules beside the packages, which any package may import."""

PURE = ("core", "reading", "discovery", "strategies")
NO_IO = ("socket", "ssl", "http", "urllib", "subprocess", "asyncio", "sqlite3", "os", "pathlib")


def modules(part: Path) -> list[Path]:
    return [part] if part.is_file() else sorted(part.rglob("*.py"))


@cache
def imports(module: Path) -> tuple[str, ...]:
    """Yield the dotted name of every imported module, imports inside functions included."""
    return tuple(_imports(module))


def _imports(module: Path) -> Iterator[str]:
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


@pytest.mark.parametrize("package", IMPORTS)
def test_a_package_imports_exactly_the_packages_it_stands_on(package: str) -> None:
    inner = {
        name.split(".")[1]
        for module in modules(PACKAGE / package)
        for name in imports(module)
        if within(name, "vetl")
    }
    assert inner - {package} == IMPORTS[package]


def test_no_arrow_points_upwards() -> None:
    assert set(IMPORTS) == set(FLOW)
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages == set(FLOW)
    for package, allowed in IMPORTS.items():
        assert allowed - set(BESIDE) <= set(FLOW[: FLOW.index(package)]), package


@pytest.mark.parametrize("package", PURE)
def test_pure_packages_do_no_io_and_import_only_pydantic(package: str) -> None:
    for module in modules(PACKAGE / package):
        outside = {name.split(".")[0] for name in imports(module)} - {"vetl", "pydantic", "pydantic_core"}
        assert outside <= set(sys.stdlib_module_names), module
        assert outside.isdisjoint(NO_IO), module


def test_endpoints_never_import_each_other() -> None:
    for module in modules(PACKAGE / "endpoints"):
        if module.name != "__init__.py":
            assert not any(within(name, "vetl.endpoints") for name in imports(module)), module


def test_the_sandbox_is_an_independent_reading_of_the_contract() -> None:
    """Both sides must read the contract independently, so that they do not share a mistake."""
    for module in modules(ROOT / "sandbox"):
        assert not any(within(name, "vetl") for name in imports(module)), module


def test_only_the_demo_and_sandbox_commands_know_the_sandbox() -> None:
    importers = {
        str(module.relative_to(PACKAGE))
        for module in modules(PACKAGE)
        if any(within(name, "vetl_sandbox") for name in imports(module))
    }
    assert importers <= {"cli/demo.py", "cli/sandbox.py"}


def test_a_class_of_one_name_is_one_thing() -> None:
    names = Counter(
        node.name
        for module in modules(PACKAGE)
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert {name for name, times in names.items() if times > 1} == set()
