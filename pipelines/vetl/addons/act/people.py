"""The files of `vetl act` that name clients."""

from collections.abc import Iterator, Sequence

from vetl.addons.act.acts import Act
from vetl.addons.act.ledger import Ledger
from vetl.addons.act.plan_file import plan_file, remove_plan
from vetl.addons.act.settings import ActSettings
from vetl.hooks import AddonFiles
from vetl.settings import Settings
from vetl.store.forget_plan import ForgetPlan
from vetl.store.mentions import Mentions
from vetl.store.person import Person
from vetl.store.pseudonyms import Pseudonyms


class ActFiles(AddonFiles):
    """The ledger, and the last plan, which is made again."""

    def __init__(self, settings: Settings) -> None:
        act, published = ActSettings.of(settings), settings.warehouse.published
        self._ledger, self._published = act.ledger, published
        super().__init__(
            {"act-ledger": act.ledger, "act-plan": plan_file(published), "act-stopped": act.stop_file}
        )

    def forget(self, plan: ForgetPlan, mentions: Mentions) -> None:
        """Erase the person from the ledger; to repeat it changes nothing."""
        if self._ledger.exists():
            with Ledger.open(self._ledger) as ledger:
                if acts := _about(ledger, plan.person, mentions):
                    ledger.forget(acts)

    def renew(self) -> Sequence[str]:
        """Remove the last plan, which has words of the tasks."""
        remove_plan(self._published)
        return ()

    def left(self, person: Person, mentions: Mentions) -> Iterator[str]:
        """Yield the ledger if an act is still about the person."""
        if self._ledger.exists():
            with Ledger.open(self._ledger) as ledger:
                if _about(ledger, person, mentions):
                    yield str(self._ledger)


def _about(ledger: Ledger, person: Person, mentions: Mentions) -> Sequence[Act]:
    names = Pseudonyms({person.practice_id: mentions}).mentions_in
    return ledger.about(person.practice_id, person.client_id, lambda text: names(person.practice_id, text))
