"""A person is forgotten: in raw, history, control, the inbox, what dbt keeps, and the private file's bytes."""

import shutil
from dataclasses import dataclass

from pipelines.jobs.build import existing
from pipelines.jobs.dbt_process import state_folder
from pipelines.jobs.drain import run_drain
from pipelines.jobs.shards import opened
from pipelines.loading.compact import rewrite
from pipelines.loading.forget import Forgotten
from pipelines.loading.shards import forget_derived
from pipelines.receiving.inbox import Inbox
from pipelines.settings import Settings


@dataclass(frozen=True, slots=True)
class ForgottenPerson:
    """What was taken out. `deliveries` left the inbox; published files are the next step's."""

    warehouse: Forgotten
    deliveries: int


def forget_person(settings: Settings, practice_id: str, client_id: str) -> ForgottenPerson:
    """Take a client out of everything private. The marts must be built in full and published after it.

    The inbox is drained first, so that nothing of the person comes in from there later.

    Raises:
        WrongUse: no row of the practice names this client.
        WarehouseError: there is no warehouse yet, or it cannot be written; nothing was changed then.
    """
    path, inbox = settings.warehouse.path, settings.webhooks.inbox
    existing(settings)
    if inbox.exists():
        run_drain(settings, catch_up=False)
    with opened(settings) as warehouse:
        file = warehouse.of(practice_id)
        forgotten = file.forget(practice_id, client_id)
    deliveries = 0
    if inbox.exists():
        with Inbox.open(inbox) as kept:
            deliveries = kept.erase(practice_id, forgotten.mentions)
    rewrite(file.path)
    forget_derived(path, lock_wait_seconds=settings.warehouse.lock_wait_seconds)
    shutil.rmtree(state_folder(path), ignore_errors=True)
    return ForgottenPerson(forgotten, deliveries)
