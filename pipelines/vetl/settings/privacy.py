"""`[privacy]`: the treatment of personal columns before they are published, by class and by column."""

from collections.abc import Mapping

from pydantic import Field

from vetl.core.errors import ConfigurationError
from vetl.core.published_file import CLASSES, PersonalClass, SharedWords, Treatment
from vetl.settings.section import Section
from vetl.settings.sources import nearest


class PrivacySettings(Section):
    """A treatment for each class of personal columns; a treatment in `columns` overrides it.

    In columns with words of the source, a value is shown if the rows of `fewest_people` share it, or if it is one
    of `words`.
    """

    name: Treatment = "hash"
    contact: Treatment = "hash"
    text: Treatment = "hash"
    columns: dict[str, Treatment] = Field(default_factory=dict[str, Treatment])
    fewest_people: int = Field(default=5, ge=1)
    words: tuple[str, ...] = ()

    @property
    def shared(self) -> SharedWords:
        """Return the rule of columns with words of the source."""
        return SharedWords(self.fewest_people, self.words)

    def treatments(self, personal: Mapping[str, Mapping[str, PersonalClass]]) -> dict[str, dict[str, Treatment]]:
        """Return the treatment of every personal column, by mart.

        Raises:
            ConfigurationError: `columns` names a column that is not personal or does not exist.
        """
        personal_columns = [f"{mart}.{column}" for mart, columns in personal.items() for column in columns]
        for column in self.columns:
            if column not in personal_columns:
                raise ConfigurationError(
                    f"privacy.columns: {column} is no personal column{nearest(column, personal_columns)}"
                )
        by_class: dict[PersonalClass, Treatment] = {item: getattr(self, item) for item in CLASSES}
        return {
            mart: {
                column: self.columns.get(f"{mart}.{column}", by_class[item]) for column, item in columns.items()
            }
            for mart, columns in personal.items()
        }
