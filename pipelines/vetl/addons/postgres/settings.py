"""`[publish.postgres]`: the database that each publication is copied to."""

from pydantic import SecretStr

from vetl.settings.section import Section


class PostgresSettings(Section):
    """The database, from `VETL_PUBLISH__POSTGRES__DSN`: `postgresql://user:password@host/database`."""

    dsn: SecretStr | None = None


class PublishSettings(Section):
    """`[publish]`: where published marts go beside their file. Addresses have passwords, so no file has them."""

    secret_keys = ("postgres.dsn",)

    postgres: PostgresSettings = PostgresSettings()
