"""The lake and the builds of Spark, in which a forgotten person may stand."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb

from vetl.addons.lake.settings import LakeSettings, SparkSettings
from vetl.forgetting.search import mentioned
from vetl.hooks import AddonFiles
from vetl.settings import Settings
from vetl.store.mentions import Mentions
from vetl.store.person import Person


class LakeFiles(AddonFiles):
    """The tables of a lake, which are written again, and their old versions, which are removed at once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        super().__init__({}, [SparkSettings.of(settings).scratch / "build"])

    def renew(self) -> Sequence[str]:
        """Write what has changed in every table that there is, and remove what it replaces."""
        if not self._is_there():
            return ()
        from vetl.addons.lake.job import run_export

        return (run_export(self._settings, forgets=True).location,)

    def left(self, person: Person, mentions: Mentions) -> Iterator[str]:
        """Yield the tables with rows that mention the person, and files that no version of a table has."""
        if not self._is_there():
            return
        from vetl.addons.lake.delta import Lake
        from vetl.addons.lake.export import names_of

        lake, practice = Lake.of(self._settings), person.practice_id
        for name in names_of(lake):
            table = lake.opened(name)
            if table is None or "practice_id" not in table.metadata().partition_columns:
                continue
            yield from (f"{lake.place(name)}/{path}" for path in lake.dead_files(name, {practice}))
            with lake.in_one_line(), duckdb.connect() as connection:
                connection.register("rows", table.to_pyarrow_dataset())
                columns = {column: kind for column, kind, *_ in connection.execute("describe rows").fetchall()}
                if mentioned(
                    connection, "rows", columns, person, mentions, is_of_clients=name.endswith(".clients")
                ):
                    yield lake.place(name)

    def _is_there(self) -> bool:
        """Return whether there may be a lake: a place is set, or the folder beside the private file is there."""
        lake = LakeSettings.of(self._settings)
        return lake.path is not None or Path(lake.location(self._settings.warehouse.path)).is_dir()
