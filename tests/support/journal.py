"""A source that counts its requests, so that a test can compare them with a bound."""

from dataclasses import dataclass, field

from support.model_source import ModelSource

from pipelines.core.errors import VetlError
from pipelines.core.pages import Page, Row
from pipelines.core.steps import ReadPage

PATIENCE = 30_000


@dataclass
class Asked:
    """The requests so far.

    `openings` has, for each first page, the number of full pages of its list at that time.
    """

    openings: list[int] = field(default_factory=list[int])
    pages: int = 0
    counts: int = 0
    records: int = 0

    @property
    def requests(self) -> int:
        return self.pages + self.counts + self.records


class Journal(ModelSource):
    """A source that counts its requests, and stops a reading that does not end."""

    asked = Asked()

    def page(self, step: ReadPage) -> Page:
        page = super().page(step)
        if step.size == 1:
            self.asked.counts += 1
        else:
            self.asked.pages += 1
            if step.number == 0:
                self.asked.openings.append(page.total_count // min(step.size, self.manners.largest_page))
        self._bear()
        return page

    def record(self, identity: str) -> Row | VetlError | None:
        self.asked.records += 1
        self._bear()
        return super().record(identity)

    def _bear(self) -> None:
        assert self.asked.requests < PATIENCE, "this reading does not end"
