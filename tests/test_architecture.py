"""Allowed imports between packages. They are few, so that a part can be read, tested and replaced by itself."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
from vetl.hooks import Hooks

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pipelines" / "vetl"

ONLY_IMPORTER = {
    "httpx": ("partner",),
    "deltalake": ("addons/lake",),
    "duckdb": ("store", "publishing", "figures", "forgetting", "addons"),
    "polars": ("store", "figures", "headlines", "addons"),
    "adbc_driver_postgresql": ("addons/postgres",),
    "pyarrow": ("store", "publishing"),
    "dagster": ("orchestration", "definitions.py", "hooks.py", "addons/*/__init__.py", "addons/*/dagster.py"),
    "typer": ("cli", "addons/*/command.py"),
    "rich": ("cli", "addons/*/command.py"),
    "mcp": ("addons/assistant",),
    "prometheus_client": ("addons/webhooks", "jobs/status_metrics.py"),
    "starlette": ("addons/webhooks",),
    "uvicorn": ("addons/webhooks",),
    "argon2": ("cli/passwords.py",),
    "typst": ("addons/letters",),
    "jinja2": ("addons/letters",),
    "sqlite3": (
        "store/sqlite_file.py",
        "receiving/inbox.py",
        "addons/act/ledger.py",
        "addons/watch/notice_ledger.py",
    ),
    "pluggy": ("hooks.py",),
    "pyspark": ("addons/lake/spark_session.py",),
}
"""Third-party packages, and the parts of `vetl` that may import each of them, by the beginning of a path."""

FLOW = (
    "core",
    "settings",
    "partner",
    "discovery",
    "reading",
    "endpoints",
    "store",
    "publishing",
    "figures",
    "engine",
    "receiving",
    "notices",
    "headlines",
    "jobs",
    "forgetting",
    "run",
    "cli",
    "orchestration",
    "addons",
)
"""The packages in the direction of the data flow: each may import only packages before it."""

IMPORTS = {
    "core": set[str](),
    "settings": {"core", "hooks"},
    "partner": {"core"},
    "discovery": {"core", "partner"},
    "reading": {"core", "discovery"},
    "endpoints": {"core", "partner"},
    "store": {"core", "partner", "endpoints", "bundled"},
    "publishing": {"core", "endpoints", "store"},
    "figures": {"bundled", "core", "endpoints", "store", "publishing"},
    "engine": {"core", "partner", "discovery", "reading", "endpoints"},
    "receiving": {"core", "partner", "endpoints", "store"},
    "notices": {"core", "settings"},
    "headlines": {"core"},
    "jobs": {
        "core",
        "settings",
        "partner",
        "discovery",
        "endpoints",
        "store",
        "publishing",
        "engine",
        "receiving",
        "headlines",
        "bundled",
        "hooks",
    },
    "forgetting": {
        "core",
        "settings",
        "store",
        "publishing",
        "receiving",
        "jobs",
        "hooks",
    },
    "run": {"core", "settings", "store", "jobs", "forgetting", "hooks"},
    "cli": {
        "core",
        "settings",
        "discovery",
        "endpoints",
        "store",
        "publishing",
        "figures",
        "jobs",
        "run",
        "forgetting",
        "bundled",
        "hooks",
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
        "run",
        "bundled",
        "hooks",
    },
    "addons": {
        "core",
        "settings",
        "partner",
        "reading",
        "discovery",
        "endpoints",
        "store",
        "publishing",
        "figures",
        "engine",
        "receiving",
        "notices",
        "jobs",
        "forgetting",
        "cli",
        "orchestration",
        "bundled",
        "hooks",
    },
}
"""Each package, and exactly the other parts of `vetl` that it imports."""

BESIDE = ("bundled", "hooks")
"""Modules beside the packages, which any package may import."""

ADDONS = sorted(path.parent.name for path in PACKAGE.glob("addons/*/__init__.py"))
BUILT_ON = {"letters": ("watch",)}
"""The other addons that an addon imports: each is written down here, because it cannot be without them."""

PURE = ("core", "discovery", "reading")
NO_IO = ("socket", "ssl", "http", "urllib", "subprocess", "asyncio", "sqlite3", "os", "pathlib")


def modules(part: Path) -> list[Path]:
    """Return the modules of a package, or the one; a folder that became one is left behind with its cache."""
    one = part.with_suffix(".py")
    return [one] if one.is_file() else sorted(part.rglob("*.py"))


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
        and not any(fnmatch(str(module.relative_to(PACKAGE)), f"{part}*") for part in allowed)
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
    assert packages | {"endpoints", "notices", "run"} == set(FLOW)
    for package, allowed in IMPORTS.items():
        assert allowed - set(BESIDE) <= set(FLOW[: FLOW.index(package)]), package


@pytest.mark.parametrize("package", PURE)
def test_pure_packages_do_no_io_and_import_only_pydantic(package: str) -> None:
    for module in modules(PACKAGE / package):
        outside = {name.split(".")[0] for name in imports(module)} - {"vetl", "pydantic", "pydantic_core"}
        assert outside <= set(sys.stdlib_module_names), module
        assert outside.isdisjoint(NO_IO), module


@pytest.mark.parametrize("name", ADDONS)
def test_an_addon_imports_no_other_addon_and_keeps_command_line_and_dagster_apart(name: str) -> None:
    allowed = {name, *BUILT_ON.get(name, ())}
    for module in modules(PACKAGE / "addons" / name):
        every = imports(module)
        others = {item.split(".")[2] for item in every if within(item, "vetl.addons") and item.count(".") > 1}
        assert others <= allowed, module
        if module.name in {"dagster.py", "job.py"}:
            assert not any(within(item, "vetl.cli") for item in every), module


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


def test_no_module_of_an_addon_has_the_name_of_a_hook() -> None:
    """Importing such a module would put it in the place of the hook's function, and the hook would be lost."""
    hooks = {name for name in vars(Hooks) if not name.startswith("_")}
    assert [path for path in PACKAGE.glob("addons/*/*.py") if path.stem in hooks and path.stem != "__init__"] == []


def test_the_hooks_of_an_addon_name_functions_that_are_there() -> None:
    """They are imported when the hook is called, so that a wrong name would be found late."""
    for module in PACKAGE.glob("addons/*/__init__.py"):
        for place in re.findall(r'found_in\("(.*?)"', module.read_text("utf-8")):
            name, _, function = place.partition(":")
            file = PACKAGE.parent / f"{name.replace('.', '/')}.py"
            assert function in {getattr(node, "name", "") for node in ast.parse(file.read_text("utf-8")).body}, (
                place
            )


FILES_OF_A_SYNC = 75


def test_a_sync_imports_few_files() -> None:
    """Whoever wants to understand a sync reads these files, and what is beside them does not matter to it."""
    files = [path for path in modules(PACKAGE) if path.stat().st_size]  # in an empty one there is nothing to read
    by_name = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in files}
    by_name = {name.removesuffix(".__init__"): path for name, path in by_name.items()}
    seen, todo = set[str](), ["vetl.jobs.sync"]
    while todo:
        name = todo.pop()
        if name in by_name and name not in seen:
            seen.add(name)
            todo += [part for one in imports(by_name[name]) for part in (one, one.rpartition(".")[0])]
    assert len(seen) <= FILES_OF_A_SYNC
