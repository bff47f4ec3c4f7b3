"""Read `vetl.toml` and the environment; no other module reads them.

A value comes from the environment variable `VETL_<SECTION>__<KEY>`, else from a `.env` file, else from
`vetl.toml`, else from the defaults below. A `.env` file may be beside `vetl.toml` and in the working directory;
the one beside `vetl.toml` wins. Secrets are refused in `vetl.toml`. Relative paths start at the folder of
`vetl.toml`, or at the working directory if there is no such file.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import pydantic_settings
from pydantic import SecretStr, ValidationError, create_model, model_validator

from vetl import hooks
from vetl.core.errors import ConfigurationError
from vetl.core.list_read import Practice
from vetl.core.text import is_this_machine
from vetl.settings import core_sections
from vetl.settings.section import Section, duckdb_file, same_place
from vetl.settings.sources import Sources, secret_files

_DOTENV = "dotenv_variables"
"""The initial value of `Settings` that holds the variables of the `.env` files."""


@dataclass(frozen=True, slots=True)
class Login:
    """The platform's address and the credentials of the sign-in (contract: Sign-in)."""

    base_url: str
    username: str = field(repr=False)
    password: SecretStr
    role: str


class Settings(pydantic_settings.BaseSettings):
    """The sections of the core. `load_settings` adds those of addons, and raises readable errors."""

    model_config = pydantic_settings.SettingsConfigDict(
        env_prefix="VETL_",
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="ignore",  # a `.env` is shared with other programs; `Sources` refuses unknown sections
        frozen=True,
        hide_input_in_errors=True,
    )

    partner: core_sections.PartnerSettings = core_sections.PartnerSettings()
    warehouse: core_sections.WarehouseSettings = core_sections.WarehouseSettings()
    phone_calls: core_sections.PhoneCallsSettings = core_sections.PhoneCallsSettings()
    webhooks: core_sections.WebhooksSettings = core_sections.WebhooksSettings()
    definitions: core_sections.DefinitionsSettings = core_sections.DefinitionsSettings()
    privacy: core_sections.PrivacySettings = core_sections.PrivacySettings()
    schedule: core_sections.ScheduleSettings = core_sections.ScheduleSettings()
    alerts: core_sections.AlertSettings = core_sections.AlertSettings()
    dashboard: core_sections.DashboardSettings = core_sections.DashboardSettings()
    practices: tuple[Practice, ...] = ()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[pydantic_settings.BaseSettings],
        init_settings: pydantic_settings.PydanticBaseSettingsSource,
        env_settings: pydantic_settings.PydanticBaseSettingsSource,
        dotenv_settings: pydantic_settings.PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: pydantic_settings.PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[pydantic_settings.PydanticBaseSettingsSource, ...]:
        """Return the sources of values, the strongest first: the environment, the `.env` files, `vetl.toml`."""
        # `vetl.toml` and the `.env` files arrive as initial values, because pydantic-settings expands `${X}` in
        # `.env` and has no clear line for a broken file.
        dotenv = pydantic_settings.EnvSettingsSource(settings_cls)
        initial = (
            init_settings.init_kwargs if isinstance(init_settings, pydantic_settings.InitSettingsSource) else {}
        )
        dotenv.env_vars = {name.lower(): value for name, value in initial.pop(_DOTENV, {}).items()}
        if isinstance(env_settings, pydantic_settings.EnvSettingsSource):
            files = {name.lower() for name in secret_files(environment_only())}
            variables = env_settings.env_vars.items()
            env_settings.env_vars = {name: value for name, value in variables if name.lower() not in files}
        return env_settings, dotenv, init_settings

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        twice = [name for name, times in Counter(item.id for item in self.practices).items() if times > 1]
        if twice:
            msg = f"practices: the id {twice[0]} is there twice"
            raise ValueError(msg)
        configured = {item.id for item in self.practices}
        for name, section in self.sections():
            for key, practices in section.practices_named():
                if unknown := set(practices) - configured:
                    msg = f"{name}.{key}: practice {min(unknown)} is not configured"
                    raise ValueError(msg)
        return self

    def sections(self) -> Iterator[tuple[str, Section]]:
        """Yield each section with its name."""
        yield from ((name, value) for name, value in self if isinstance(value, Section))

    def login(self) -> Login:
        """Return the address and the credentials of the platform.

        Raise `ConfigurationError` if a value is not set; one line names all missing values.
        """
        partner = self.partner
        if partner.base_url and partner.username and partner.password and partner.role:
            return Login(partner.base_url, partner.username.get_secret_value(), partner.password, partner.role)
        missing = [
            f"VETL_PARTNER__{key.upper()}"
            for key in ("base_url", "username", "password", "role")
            if not getattr(partner, key)
        ]
        msg = f"{', '.join(missing)}: not set (in the environment or in .env; base_url also in vetl.toml)"
        # a demo's folder keeps the address alone; whoever set a part of the rest has a platform of their own
        is_here = partner.base_url and is_this_machine(urlsplit(partner.base_url).hostname or "")
        if is_here and missing == ["VETL_PARTNER__USERNAME", "VETL_PARTNER__PASSWORD", "VETL_PARTNER__ROLE"]:
            msg += "; the platform of `vetl demo` has ended with it: `vetl demo --keep` keeps it running"
        raise ConfigurationError(msg)


@cache
def settings_class() -> type[Settings]:
    """Return the settings with the addons: sections of their own, and keys that they add to one of the core."""
    models = _sections_of(Settings)
    for name, model in hooks.sections():
        models[name] = _joined(f"{name.title()}WithAddons", model, models[name]) if name in models else model
    fields: dict[str, Any] = {name: (model, model()) for name, model in models.items()}
    globals()["SettingsWithAddons"] = create_model(
        "SettingsWithAddons", __base__=Settings, __module__=__name__, **fields
    )
    return globals()["SettingsWithAddons"]


def _joined(name: str, *models: type[Section]) -> type[Section]:
    globals()[name] = type(name, models, {"__module__": __name__})
    return globals()[name]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - of a module
    """Return a class that is made when the addons are loaded, for pickled settings."""
    if not name.endswith("WithAddons"):
        raise AttributeError(name)
    settings_class()
    return globals()[name]


def _sections_of(settings: type[Settings]) -> dict[str, type[Section]]:
    return {
        name: field.annotation
        for name, field in settings.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
    }


def section_models() -> dict[str, type[Section]]:
    """Return the model of each section by name."""
    return _sections_of(settings_class())


def environment_only() -> dict[str, tuple[str, ...]]:
    """Return the keys by section that are refused in `vetl.toml`."""
    return {name: model.secret_keys for name, model in section_models().items() if model.secret_keys}


def load_settings(config: Path | None = None, *, needs_secrets: bool = True) -> Settings:
    """Read the settings from `config`, or else from the file in `VETL_CONFIG` or `vetl.toml`.

    Without `needs_secrets` a `.env` that this account may not read is left out: analysts ask the published file.

    Raise `ConfigurationError` if a value is wrong; the line has the file or variable, the key and the expected
    value.
    """
    sources = Sources.find(config, needs_secrets=needs_secrets)
    table = sources.read_toml()
    keys = _known_keys()
    sources.refuse_unknown_sections(table, keys)
    sources.refuse_secrets(table, environment_only())
    try:
        secrets = environment_only()
        files = secret_files(secrets)
        variables = {name: value for name, value in sources.read_dotenv().items() if name.upper() not in files}
        initial: dict[str, Any] = {**table, _DOTENV: {**variables, **sources.read_secret_files(secrets)}}
        settings = settings_class()(**initial)
    except ValidationError as error:
        raise sources.explain(error, keys) from None
    except pydantic_settings.SettingsError as error:
        raise sources.explain_undecoded(error) from None
    anchored = {name: section.anchored(sources.folder) for name, section in settings.sections()}
    settings = settings.model_copy(update=anchored)
    _refuse_unusable_files(settings, sources)
    return settings


def published_file() -> Path:
    """Return the published file, for a command that needs no secret."""
    require_settings(needs_secrets=False)
    return load_settings(needs_secrets=False).warehouse.published


def require_settings(*, needs_secrets: bool = True) -> None:
    """Require a `vetl.toml` or a variable with a setting that is no secret."""
    Sources.find(None, needs_secrets=needs_secrets).require_settings(_known_keys(), environment_only())


def _known_keys() -> dict[str, tuple[str, ...]]:
    """Return the keys of each section, for "did you mean"."""
    keys = {name: tuple(section.model_fields) for name, section in section_models().items()}
    return {**keys, "practices": tuple(item.name for item in fields(Practice))}


def _refuse_unusable_files(settings: Settings, sources: Sources) -> None:
    """Refuse absolute paths that name the same file in two spellings, or that dbt cannot open."""
    warehouse = settings.warehouse
    for key, path in (("path", warehouse.path), ("published", warehouse.published)):
        try:
            duckdb_file(path)
        except ValueError as error:
            raise sources.refuse(f"warehouse.{key} {error}") from None
    own = [*sources.dotenv_files, *([sources.config] if sources.config else [])]
    if clash := same_place(settings.sections(), warehouse.path, own):
        raise sources.refuse(clash)
