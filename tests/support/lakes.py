"""A lake of a small warehouse, and its rows as a reader sees them."""

from pathlib import Path
from typing import Any

import duckdb
from deltalake import DeltaTable
from vetl.addons.lake.delta import Lake
from vetl.addons.lake.settings import LakeSettings
from vetl.settings import Settings, settings_class
from vetl.settings.core_sections import WarehouseSettings


def lake_settings(folder: Path, place: Path | str, *, raw: bool = True) -> Settings:
    """Return settings of the warehouse in a folder with this lake."""
    sections: dict[str, Any] = {
        "warehouse": WarehouseSettings(path=folder / "vetl.duckdb", published=folder / "analytics.duckdb"),
        "lake": LakeSettings(path=str(place), raw=raw),
    }
    return settings_class()(**sections)


def table_of(settings: Settings, name: str) -> DeltaTable:
    table = Lake.of(settings).opened(name)
    assert table is not None, name
    return table


def rows_of(settings: Settings, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table, in a fixed order."""
    return sorted(table_of(settings, name).to_pyarrow_table().to_pylist(), key=str)


def versions(settings: Settings) -> dict[str, int]:
    """Return the version of each table of a lake in a folder."""
    place = Path(Lake.of(settings).location)
    tables = sorted(log.parent for log in place.glob("*/*/_delta_log"))
    return {f"{table.parent.name}.{table.name}": DeltaTable(table).version() for table in tables}


def differing(connection: duckdb.DuckDBPyConnection, one: str, other: str) -> int:
    """Return the number of rows that only one of two relations has; columns are compared by name."""
    names = ", ".join(f'"{name}"' for name, *_ in connection.execute(f"describe from {one}").fetchall())
    sides = [f"select {names} from {relation}" for relation in (one, other)]
    [(number,)] = connection.execute(
        f"select count(*) from (({sides[0]} except all {sides[1]}) union all ({sides[1]} except all {sides[0]}))"
    ).fetchall()
    return number
