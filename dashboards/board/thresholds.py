"""The thresholds that are out now, from the ledger of `[watch]`, for the practices that the user sees."""

from pathlib import Path

from vetl.addons.watch.notice_ledger import StoredEpisode, open_episodes
from vetl.core.errors import LedgerError

from board.published import Published


def out_now(ledger: Path | None, file: Published) -> list[StoredEpisode]:
    """Return the episodes that have begun and not ended, the latest first; none without a ledger."""
    if ledger is None or not ledger.exists():
        return []
    try:
        episodes = open_episodes(ledger)
    except LedgerError:
        return []  # `vetl status` names it
    seen = set(file.within([episode.practice_id for episode in episodes]))
    found = [episode for episode in episodes if episode.practice_id in seen]
    return sorted(found, key=lambda episode: episode.began, reverse=True)
