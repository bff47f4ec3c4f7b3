"""Settings: every key of the contract, every way to set it, and one clear line for every mistake.

vetl.example.toml and the variables of the dbt project agree with the settings.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, SecretStr
from support.settings_file import HARBOR, SECRET, complaint, written
from vetl import bundled
from vetl.addons.postgres.settings import PublishSettings
from vetl.addons.webhooks.settings import ReceiverSettings
from vetl.core.endpoint import QueryNames
from vetl.core.errors import ConfigurationError
from vetl.core.list_read import Practice
from vetl.core.published_file import PersonalClass
from vetl.endpoints import REGISTRY
from vetl.settings import Login, environment_only, load_settings, settings_class
from vetl.settings.core_sections import DefinitionsSettings

pytestmark = pytest.mark.usefixtures("empty_folder")

PERSONAL: Mapping[str, Mapping[str, PersonalClass]] = {
    "clients": {"name": "name", "phone": "contact"},
    "calls": {"name": "name", "summary": "text"},
}


def test_practices_are_read_with_their_types_or_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    written(HARBOR)
    assert load_settings().practices == (
        Practice("loc-001", "Harbor Animal Hospital", "America/New_York", date(2025, 1, 1), "East"),
    )

    monkeypatch.setenv(
        "VETL_PRACTICES", '[{"id": "a", "name": "A", "time_zone": "UTC", "history_start": "2025-02-03"}]'
    )
    assert load_settings().practices == (Practice("a", "A", "UTC", date(2025, 2, 3)),)


def test_the_environment_wins_over_env_file_over_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    written("[partner]\nmax_in_flight = 2\ntimeout_seconds = 2\nbase_url = 'https://toml.example'")
    written("VETL_PARTNER__MAX_IN_FLIGHT=3\nVETL_PARTNER__TIMEOUT_SECONDS=3\nOTHER_PROGRAM=1\n", ".env")
    monkeypatch.setenv("VETL_PARTNER__MAX_IN_FLIGHT", "4")

    partner = load_settings().partner

    assert (partner.max_in_flight, partner.timeout_seconds) == (4, 3)
    assert partner.base_url == "https://toml.example"


def test_vetl_config_names_the_file_and_relative_paths_start_at_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written("[warehouse]\npath = 'data/private.duckdb'\npublished = '/srv/vetl.duckdb'", "elsewhere/my.toml")
    written("VETL_PARTNER__ROLE=beside\n", "elsewhere/.env")
    written("VETL_PARTNER__ROLE=here\n", ".env")
    monkeypatch.setenv("VETL_CONFIG", "elsewhere/my.toml")

    settings = load_settings()

    assert settings.warehouse.path == tmp_path / "elsewhere/data/private.duckdb"
    assert settings.warehouse.published == Path("/srv/vetl.duckdb")
    assert settings.partner.role == "beside"


def test_query_names_override_only_the_given_names() -> None:
    written("[partner.parameters.appointments]\nstart = 'updated_after'")

    names = load_settings().partner.query_names(REGISTRY)

    assert names == {
        item.name: replace(item.names, start="updated_after") if item.name == "appointments" else item.names
        for item in REGISTRY
    }


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETL_WAREHOUSE__PII_KEY", "")

    assert load_settings().warehouse.pii_key is None


def test_only_a_folder_without_any_of_the_sign_in_is_taken_for_a_demos(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USERNAME", "PASSWORD", "ROLE"):
        monkeypatch.delenv(f"VETL_PARTNER__{name}", raising=False)
    monkeypatch.setenv("VETL_PARTNER__BASE_URL", "http://127.0.0.1:8080")
    with pytest.raises(ConfigurationError, match="vetl demo --keep"):
        load_settings().login()
    monkeypatch.setenv("VETL_PARTNER__USERNAME", "partner@example.com")
    with pytest.raises(ConfigurationError) as caught:
        load_settings().login()
    assert "demo" not in str(caught.value)


def test_login_needs_all_four(monkeypatch: pytest.MonkeyPatch) -> None:
    written("[partner]\nbase_url = 'https://api.example.com'")
    monkeypatch.setenv("VETL_PARTNER__USERNAME", "me")

    with pytest.raises(ConfigurationError, match="VETL_PARTNER__PASSWORD, VETL_PARTNER__ROLE: not set"):
        load_settings().login()

    monkeypatch.setenv("VETL_PARTNER__PASSWORD", SECRET)
    monkeypatch.setenv("VETL_PARTNER__ROLE", "PARTNER")
    login = load_settings().login()
    assert login == Login("https://api.example.com", "me", SecretStr(SECRET), "PARTNER")
    assert SECRET not in repr(login)


def test_a_secret_may_be_in_a_file_that_its_variable_names(monkeypatch: pytest.MonkeyPatch) -> None:
    written("[partner]\nbase_url = 'https://api.example.com'")
    Path("secret").write_text(f"{SECRET}\n", "utf-8")
    Path("dsn").write_text("postgresql://here", "utf-8")
    monkeypatch.setenv("VETL_PARTNER__PASSWORD_FILE", "secret")
    Path(".env").write_text("VETL_PUBLISH__POSTGRES__DSN_FILE=dsn\nVETL_PARTNER__ROLE=PARTNER\n", "utf-8")
    monkeypatch.setenv("VETL_PARTNER__USERNAME", "me")

    settings = load_settings()
    assert settings.login().password == SecretStr(SECRET)
    assert PublishSettings.of(settings).postgres.dsn == SecretStr("postgresql://here")
    monkeypatch.setenv("VETL_PARTNER__PASSWORD", SECRET)
    assert "PASSWORD_FILE: VETL_PARTNER__PASSWORD is set, too" in complaint()
    monkeypatch.delenv("VETL_PARTNER__PASSWORD")
    Path("secret").write_text("\n", "utf-8")
    assert complaint() == "environment variable VETL_PARTNER__PASSWORD_FILE: the file is empty"
    monkeypatch.setenv("VETL_PARTNER__PASSWORD_FILE", SECRET)
    assert complaint() == (
        "environment variable VETL_PARTNER__PASSWORD_FILE: the file cannot be read: No such file or directory"
    )
    monkeypatch.setenv("VETL_PARTNER__PASSWORD_FILE", "~nobody-here/secret")
    assert complaint().endswith("its path must not begin with ~ and the name of no account")
    monkeypatch.setenv("VETL_PARTNER__USER_FILE", "secret")
    monkeypatch.delenv("VETL_PARTNER__PASSWORD_FILE")
    assert "unknown key partner.user_file" in complaint()


WEAK = ("k", "key", "a" * 40, "0123456789abcdef0123456789abcde", "Password1" * 4, "12345678" * 4)


@pytest.mark.parametrize("key", WEAK)
def test_a_masking_key_that_can_be_found_by_trying_is_taken_and_warned_of(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Any value that is not empty is a key: a warehouse that was published with a weak one must still publish."""
    monkeypatch.setenv("VETL_WAREHOUSE__PII_KEY", key)

    [line] = load_settings().warehouse.weak_key()

    assert "VETL_WAREHOUSE__PII_KEY can be found by trying" in line
    monkeypatch.setenv("VETL_WAREHOUSE__PII_KEY", token_hex(16))
    assert load_settings().warehouse.weak_key() == []


@pytest.mark.parametrize("name", ["VETL_WEBHOOKS__SECRETS", "VETL_DASHBOARD__PASSWORD"])
@pytest.mark.parametrize("secret", ["a" * 40, "Password1" * 4, "12345678" * 4, "0123456789", "abcabc"])
def test_a_secret_of_a_simple_pattern_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, secret: str) -> None:
    monkeypatch.setenv(name, secret)

    line = complaint()

    assert f"environment variable {name}: " in line
    assert "must not repeat a short text" in line
    assert secret not in line
    monkeypatch.setenv("VETL_WEBHOOKS__SECRETS", "loc-001=" + secret)
    assert "must not repeat a short text" in complaint()
    monkeypatch.setenv("VETL_WEBHOOKS__SECRETS", token_hex(16) + ", loc-001=" + token_hex(16))
    monkeypatch.setenv("VETL_DASHBOARD__PASSWORD", "long and secret")
    load_settings()


def test_a_link_to_the_private_file_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    written("[warehouse]\npath = 'real/vetl.duckdb'\npublished = 'link/vetl.duckdb'")

    assert "must be different places" in complaint()


def test_no_secret_is_in_the_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    for section, keys in environment_only().items():
        for key in keys:
            if key != "role":
                value = f"jane={SECRET}" if key == "tokens" else SECRET
                monkeypatch.setenv(f"VETL_{section}__{key}".upper().replace(".", "__"), value)

    settings = load_settings()

    assert ReceiverSettings.of(settings).secrets is not None
    assert SECRET not in repr(settings)
    assert SECRET not in str(settings.model_dump())


def test_a_column_is_treated_as_set_else_as_its_class(monkeypatch: pytest.MonkeyPatch) -> None:
    written("[privacy]\ncontact = 'null'\n[privacy.columns]\n'clients.name' = 'clear'")
    monkeypatch.setenv("VETL_PRIVACY__TEXT", "null")

    treatments = load_settings().privacy.treatments(PERSONAL)

    assert treatments == {
        "clients": {"name": "clear", "phone": "null"},
        "calls": {"name": "hash", "summary": "null"},
    }


@pytest.mark.parametrize(
    ("column", "line"),
    [
        ("clients.nme", "clients.nme is no personal column; did you mean clients.name?"),
        ("daily.calls", "daily.calls is no personal column; known are calls.name, calls.summary, clients.name, "),
    ],
)
def test_a_column_that_is_not_personal_is_refused(column: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETL_PRIVACY__COLUMNS", f'{{"{column}": "null"}}')

    with pytest.raises(ConfigurationError) as caught:
        load_settings().privacy.treatments(PERSONAL)

    assert str(caught.value).startswith(f"privacy.columns: {line}")


def test_the_example_is_valid_names_every_key_and_says_the_defaults() -> None:
    """A setting without documentation fails here; so does a setting whose default has changed."""
    assert [practice.id for practice in load_settings(bundled.example_settings()).practices] == ["loc-001"]
    text = bundled.example_settings().read_text("utf-8")
    everything = tomllib.loads(re.sub(r"^# (?=\w+ = |\[)", "", text, flags=re.MULTILINE))
    defaults = load_settings().model_dump(mode="json")

    for section, field in settings_class().model_fields.items():
        if not isinstance(field.annotation, type) or not issubclass(field.annotation, BaseModel):
            continue
        documented = everything.get(section, {})  # a section may have secrets alone
        for key in field.annotation.model_fields:
            secret = next((one for one in environment_only().get(section, ()) if one.split(".")[0] == key), None)
            if secret:
                assert f"VETL_{section}__{secret}=".upper().replace(".", "__") in text
            else:
                assert key in documented, f"{section}.{key} is not in vetl.example.toml"
                assert_default(section, key, documented[key], defaults)
    assert set(everything["practices"][0]) == set(Practice.__slots__)
    assert set(everything["partner"]["parameters"]["appointments"]) == set(QueryNames.__slots__)


WITHOUT_DEFAULT = {
    "lake.path",
    "base_url", "requests_per_minute", "requests_per_minute_total", "memory_limit", "temp_directory", "parameters",
    "times_without_offset",
    "user_header", "email_to", "smtp_username", "master", "thresholds", "users", "recipients", "link",
    "folder",
}  # fmt: skip


def assert_default(section: str, key: str, documented: object, defaults: dict[str, Any]) -> None:
    default: Any = project_default(key) if section == "definitions" else defaults[section][key]
    if key in WITHOUT_DEFAULT or f"{section}.{key}" in WITHOUT_DEFAULT:
        return
    paths = {
        "path",
        "published",
        "inbox",
        "scratch",
        "ledger",
        "stop_file",
        "passwords",
        "audit",
        "marks",
    }
    if key in paths and isinstance(default, str):
        assert default.endswith(str(documented))
    else:
        assert default == documented


def project_default(key: str) -> object:
    """Return the definition of the dbt project, which holds if the settings have none."""
    if key == "phone_regions":
        return {"loc-001": "US"}
    variables = yaml.safe_load((bundled.dbt_project() / "dbt_project.yml").read_text("utf-8"))["vars"]
    hours = {"opens": "opening_hour", "closes": "closing_hour", "weekdays": "opening_weekdays"}
    return {name: variables[one] for name, one in hours.items()} if key == "opening_hours" else variables[key]


def test_definitions_become_variables_of_the_dbt_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETL_DEFINITIONS__EPISODE_DAYS", "21")
    monkeypatch.setenv("VETL_DEFINITIONS__KEPT_STATUSES", '["COMPLETED", "CHECKED_OUT"]')
    monkeypatch.setenv("VETL_DEFINITIONS__OPENING_HOURS", '{"opens": 9, "closes": 17, "weekdays": 5}')

    assert load_settings().definitions.variables() == {
        "closing_hour": 17,
        "episode_days": 21,
        "kept_statuses": ["COMPLETED", "CHECKED_OUT"],
        "opening_hour": 9,
        "opening_weekdays": 5,
    }


def test_every_variable_can_be_set() -> None:
    variables = yaml.safe_load((bundled.dbt_project() / "dbt_project.yml").read_text("utf-8"))["vars"]
    hours = {"opening_hour", "closing_hour", "opening_weekdays"}
    others = {"instant", "local_time", "lists", "windows", "zone_corrections"}

    settable = {*DefinitionsSettings.model_fields, *hours} - {"opening_hours", "phone_regions"}
    assert settable == variables.keys() - others
