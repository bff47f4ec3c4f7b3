"""Search all files of vetl for values of a forgotten person."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from vetl import hooks
from vetl.core.errors import WarehouseError
from vetl.forgetting.search import elsewhere, in_bytes, in_parquet, in_private, in_published, in_text, texts_of
from vetl.jobs.backups import searched_files
from vetl.publishing.contacts import contacts_file
from vetl.publishing.parquet import parquet_folder
from vetl.publishing.retention import kept
from vetl.receiving.inbox import Inbox
from vetl.settings import Settings
from vetl.store.mentions import Mentions
from vetl.store.notes import notes_file
from vetl.store.person import Person, notes_without_plans
from vetl.store.pseudonyms import Pseudonyms


def residue(settings: Settings, person: Person, mentions: Mentions) -> list[str]:
    """Return the files, with their tables if they have any, that still contain a value of a person."""
    seconds = settings.warehouse.lock_wait_seconds
    left: list[str] = []
    private = settings.warehouse.path
    left += [f"{private}: {table}" for table in in_private(private, person, mentions, lock_wait_seconds=seconds)]
    published = settings.warehouse.published
    for file in (published, *kept(published), contacts_file(published)):
        left += [f"{file}: {table}" for table in (in_published(file, person, mentions) if file.exists() else ())]
    for file in sorted(parquet_folder(published).rglob("*.parquet")):
        left += [str(file)] * in_parquet(file, person, mentions)
    if settings.webhooks.inbox.exists():
        with Inbox.open(settings.webhooks.inbox) as inbox:
            left += [str(settings.webhooks.inbox)] * bool(
                inbox.about(Pseudonyms({person.practice_id: mentions}).mentions_in)
            )
    for keeper in hooks.people(settings):
        left += keeper.left(person, mentions)
    return [*dict.fromkeys([*left, *_in_bytes(settings, person)])]


def remove_leftovers(settings: Settings) -> None:
    """Remove drafts and temporary rows of processes that have ended."""
    path, published = settings.warehouse.path, settings.warehouse.published.resolve()
    shutil.rmtree(path.with_name(f"{path.name}.tmp"), ignore_errors=True)
    for file in (path, published, contacts_file(published)):
        for draft in file.parent.glob(f".{file.name}.*"):
            if not _is_in_use(draft):
                shutil.rmtree(draft, ignore_errors=True)
                draft.unlink(missing_ok=True)


def _is_in_use(draft: Path) -> bool:
    """Return whether the process whose id is in the name of a draft still runs."""
    numbers = [part for part in draft.name.split(".") if part.isdecimal()]
    return bool(numbers) and Path("/proc", numbers[0]).exists()


def _in_bytes(settings: Settings, person: Person) -> Iterator[str]:
    texts = texts_of(person)
    path = settings.warehouse.path
    for file in searched_files(settings):
        if file.name.startswith(notes_file(path).name):
            continue  # it has the plan
        try:
            there = in_bytes(file, texts)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise WarehouseError(f"{file}: cannot be read: {error.strerror}") from None
        if _not_elsewhere(settings, person, there):
            yield str(file)
    if _not_elsewhere(settings, person, in_text(notes_without_plans(path), texts)):
        yield str(notes_file(path))


def _not_elsewhere(settings: Settings, person: Person, texts: set[str]) -> set[str]:
    """Return the texts that belong to nobody else, as a client of another practice may have the same name."""
    if not texts:
        return texts
    warehouse = settings.warehouse
    return texts - elsewhere(warehouse.path, person, texts, lock_wait_seconds=warehouse.lock_wait_seconds)
