"""`[privacy]`: what is published of personal columns, by their class and by column."""

from collections.abc import Mapping

from pydantic import Field

from pipelines.core.errors import ConfigurationError
from pipelines.core.privacy import CLASSES, PersonalClass, Treatment
from pipelines.settings.section import Section
from pipelines.settings.sources import nearest


class PrivacySettings(Section):
    """A treatment for each class, which the marts' descriptions give to columns; `columns` goes before it."""

    name: Treatment = "hash"
    contact: Treatment = "hash"
    text: Treatment = "hash"
    columns: dict[str, Treatment] = Field(default_factory=dict[str, Treatment])

    def treatments(self, personal: Mapping[str, Mapping[str, PersonalClass]]) -> dict[str, dict[str, Treatment]]:
        """What to do with every personal column, by mart.

        Raises:
            ConfigurationError: `columns` names one that is not personal, or not there.
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
