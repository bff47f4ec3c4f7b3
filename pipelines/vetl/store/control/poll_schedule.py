"""Select messages and outreach requests to read by id, because a webhook about them may be missing.

A record is read again when its age has doubled since the last read, but not within five minutes. That costs about
twenty requests in ten years, so no limit of age is needed. `now` is the source's clock.
"""

from collections.abc import Sequence
from datetime import datetime

from vetl.partner.webhooks import ENDED_OUTREACH_STATUSES, FINAL_MESSAGE_STATUSES
from vetl.store.context import Commit

_LOOKS = (
    " looks as (select id, max(read_at) as looked from (from control.lookups union all by name"
    " from control.missing_records) where practice_id = $practice and endpoint = $endpoint"
    " and id in (select id from open) group by all)"
)
_DUE = (
    " where (looked is null or $now - looked >= greatest(looked - born, interval 5 minutes))"
    " order by looked nulls first, open.id limit $limit"
)


def due_messages(commit: Commit, practice_id: str, now: datetime, limit: int) -> list[str]:
    """Return messages that are not final, known by a webhook or by a given id.

    The first read is at least five minutes after the last webhook, because the next webhook may be on its way.
    """
    return _ids(
        commit,
        practice_id,
        f"with waiting as (select id, coalesce(created_at, sent_at, _loaded_at) as made from {commit.table.raw}"
        " where practice_id = $practice and not coalesce(list_contains($final, status), false)"
        " and not coalesce(status = 'delivered' and channel_used = 'sms', false)),"
        " heard as (select message_id as id, max(coalesce(occurred_at, timestamp)) as heard_at"
        " from raw.message_events where practice_id = $practice and message_id in (select id from waiting)"
        " group by all),"
        " open as (select id, made as born from waiting left join heard using (id)"
        " where coalesce(heard_at <= $now - interval 5 minutes, true)),"
        f"{_LOOKS} select open.id from open left join looks using (id) {_DUE}",
        now=now,
        limit=limit,
        final=list(FINAL_MESSAGE_STATUSES),
    )


def due_requests(commit: Commit, practice_id: str, now: datetime, limit: int) -> list[str]:
    """Return outreach requests whose end arrived by webhook, but that are missing or not final in raw."""
    return _ids(
        commit,
        practice_id,
        "with open as (select events.request_id as id,"
        " coalesce(events.completed_at, events.timestamp, events.received_at) as born"
        f" from raw.outreach_events as events left join {commit.table.raw} as stored"
        " on stored.practice_id = events.practice_id and stored.id = events.request_id"
        " where events.practice_id = $practice and not coalesce(list_contains($ended, stored.status), false)),"
        f"{_LOOKS} select open.id from open left join looks using (id) {_DUE}",
        now=now,
        limit=limit,
        ended=list(ENDED_OUTREACH_STATUSES),
    )


def _ids(
    commit: Commit, practice_id: str, sql: str, *, now: datetime, limit: int, **statuses: Sequence[str]
) -> list[str]:
    scope = {"practice": practice_id, "endpoint": commit.endpoint_name, "now": now, "limit": limit}
    return [identity for (identity,) in commit.connection.execute(sql, {**scope, **statuses}).fetchall()]
