"""Export the lake: raw, history and control of the private file as Parquet for other engines."""

from vetl.jobs.build import ready_for_dbt
from vetl.jobs.one_writer import existing, writing
from vetl.settings import Settings
from vetl.store.lake.export import Exported, export_marts, export_private, read_manifest
from vetl.store.lake.storage import S3Access, Storage


def run_export(settings: Settings, *, grace: bool = True) -> Exported:
    """Export the committed rows to the lake; wait for another writer for at most `lock_wait_seconds`.

    Without `grace` older files are removed at once, so a process that reads the lake now may miss a file.

    Raises:
        LakeError: the lake cannot be read or written; the files of its manifest stay.
    """
    path, seconds = settings.warehouse.path, settings.warehouse.lock_wait_seconds
    existing(settings)
    with writing(settings):
        ready_for_dbt(settings, seconds)
        return export_private(path, private_lake(settings), lock_wait_seconds=seconds, grace=grace)


def renew_lakes(settings: Settings) -> list[str]:
    """Export changes to the existing lakes, and remove all older files; return the locations of the lakes.

    Raises:
        LakeError: a lake cannot be read or written.
    """
    renewed: list[str] = []
    private, marts = private_lake(settings), lake_of_marts(settings)
    if read_manifest(private):
        renewed.append(run_export(settings, grace=False).location)
    if read_manifest(marts):
        renewed.append(export_marts(settings.warehouse.published, marts, grace=False).location)
    return renewed


def private_lake(settings: Settings) -> Storage:
    """Return the storage of raw, history and control, for their owner alone."""
    return Storage(settings.lake.path, _access(settings))


def lake_of_marts(settings: Settings) -> Storage:
    """Return the storage of the marts of a Spark build, for all readers of the published file."""
    return Storage(settings.lake.marts, _access(settings), shared=True)


def _access(settings: Settings) -> S3Access:
    lake = settings.lake
    return S3Access(
        lake.endpoint,
        lake.access_key.get_secret_value() if lake.access_key else None,
        lake.secret_key.get_secret_value() if lake.secret_key else None,
    )
