"""Settings: every key of the contract, every way to set it, and one clear line for every mistake."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from pipelines import bundled
from pipelines.core.endpoint import QueryNames
from pipelines.core.errors import ConfigurationError
from pipelines.core.practice import Practice
from pipelines.core.privacy import PersonalClass
from pipelines.settings import ENVIRONMENT_ONLY, Login, Settings, load_settings
from pipelines.settings.definitions import DefinitionsSettings

HARBOR = """
[[practices]]
id = "loc-001"
name = "Harbor Animal Hospital"
time_zone = "America/New_York"
history_start = 2025-01-01
group = "East"
"""
PERSONAL: Mapping[str, Mapping[str, PersonalClass]] = {
    "clients": {"name": "name", "phone": "contact"},
    "calls": {"name": "name", "summary": "text"},
}
SECRET = "hunter2-do-not-print-this-anywhere"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty working directory and an environment without settings."""
    monkeypatch.chdir(tmp_path)
    for name in ("CONFIG", "PARTNER__USERNAME", "PARTNER__PASSWORD", "WAREHOUSE__PATH"):
        monkeypatch.delenv(f"VETL_{name}", raising=False)


def written(text: str, name: str = "vetl.toml") -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def complaint() -> str:
    """The line that loading ends with."""
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    line = str(caught.value)
    assert "\n" not in line
    assert SECRET not in line
    return line


def test_without_a_file_the_defaults_of_the_contract_hold(tmp_path: Path) -> None:
    settings = load_settings()

    assert settings.practices == ()
    assert settings.partner.base_url is None
    assert settings.partner.requests_per_minute is None
    assert settings.partner.max_in_flight == 8
    assert settings.partner.timeout_seconds == 30
    assert settings.warehouse.path == tmp_path / "warehouse/data/vetl.duckdb"
    assert settings.warehouse.published == tmp_path / "warehouse/data/analytics.duckdb"
    assert settings.warehouse.lock_wait_seconds == 600
    assert settings.phone_calls.details == "recent"
    assert settings.phone_calls.details_budget == 2000
    assert (settings.webhooks.host, settings.webhooks.port) == ("127.0.0.1", 8090)
    assert settings.webhooks.inbox == tmp_path / "warehouse/data/inbox.sqlite"


@pytest.mark.parametrize("key", ["path", "published"])
@pytest.mark.parametrize("name", ["marts.duckdb", "Raw.db", "control"])
def test_a_file_that_is_called_like_a_schema_in_it_is_refused(key: str, name: str) -> None:
    """DuckDB takes `marts.phone_calls` in a file marts.duckdb for ambiguous: an analyst could ask nothing."""
    written(f"[warehouse]\n{key} = 'data/{name}'")

    with pytest.raises(ConfigurationError, match=rf"warehouse\.{key}.*must not be called"):
        load_settings()


def test_practices_are_read_with_their_types() -> None:
    written(HARBOR)

    assert load_settings().practices == (
        Practice("loc-001", "Harbor Animal Hospital", "America/New_York", date(2025, 1, 1), "East"),
    )


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
    written("[warehouse]\npath = 'data/private.duckdb'", "elsewhere/my.toml")
    written("VETL_PARTNER__ROLE=beside\n", "elsewhere/.env")
    written("VETL_PARTNER__ROLE=here\n", ".env")
    monkeypatch.setenv("VETL_CONFIG", "elsewhere/my.toml")

    settings = load_settings()

    assert settings.warehouse.path == tmp_path / "elsewhere/data/private.duckdb"
    assert settings.partner.role == "beside"


def test_absolute_paths_stay() -> None:
    written("[warehouse]\npath = '/srv/vetl.duckdb'")

    assert load_settings().warehouse.path == Path("/srv/vetl.duckdb")


def test_query_names_override_only_what_is_given() -> None:
    written("[partner.parameters.appointments]\nstart = 'updated_after'")
    own = QueryNames(page="page_number")

    partner = load_settings().partner

    assert partner.query_names("appointments", own) == QueryNames(start="updated_after", page="page_number")
    assert partner.query_names("staff_tasks", own) == own


def test_a_trailing_slash_of_base_url_goes() -> None:
    written("[partner]\nbase_url = 'http://localhost:8080/base/'")

    assert load_settings().partner.base_url == "http://localhost:8080/base"


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETL_WAREHOUSE__PII_KEY", "")

    assert load_settings().warehouse.pii_key is None


def test_practices_can_come_from_the_environment_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "VETL_PRACTICES", '[{"id": "a", "name": "A", "time_zone": "UTC", "history_start": "2025-02-03"}]'
    )

    assert load_settings().practices == (Practice("a", "A", "UTC", date(2025, 2, 3)),)


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


@pytest.mark.parametrize("key", ["k", "key", "a" * 40, "0123456789abcdef0123456789abcde"])
def test_a_masking_key_that_can_be_found_by_trying_is_refused(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("VETL_WAREHOUSE__PII_KEY", key)

    line = complaint()

    assert "environment variable VETL_WAREHOUSE__PII_KEY: warehouse.pii_key must be 32 random characters" in line
    assert "vetl init" in line


def test_a_link_to_the_private_file_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    written("[warehouse]\npath = 'real/vetl.duckdb'\npublished = 'link/vetl.duckdb'")

    assert "must be three different files" in complaint()


def test_no_secret_is_in_the_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    for section, keys in ENVIRONMENT_ONLY.items():
        for key in keys:
            if key != "role":
                monkeypatch.setenv(f"VETL_{section}__{key}".upper(), SECRET)

    settings = load_settings()

    assert settings.webhooks.secrets is not None
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


MISTAKES = {
    "[partner]\nbase_url = x": "is not TOML: .*line 2",
    "practices = [": "is not TOML: .*",
    "[partnr]": "unknown key partnr; did you mean partner",
    "[warehouse]\npth = 'x'": "unknown key warehouse.pth; did you mean path",
    "[partner]\nnothing_like_it = 1": "unknown key partner.nothing_like_it; known are allow_plain_http, ",
    "partner = 3": "partner must be a table",
    "[partner]\nmax_in_flight = 0": "partner.max_in_flight must be greater than or equal to 1",
    "[partner]\nmax_in_flight = true": "partner.max_in_flight must be a number",
    "[partner]\ntimeout_seconds = nan": "partner.timeout_seconds must be a",
    "[partner]\ntimeout_seconds = 0": "partner.timeout_seconds must be greater than 0",
    "[partner]\nbase_url = 'example.com'": "partner.base_url must be an address such as https://",
    "[partner]\nbase_url = 'ftp://example.com'": "partner.base_url must be an address",
    "[partner]\nbase_url = 'http://[::1'": "partner.base_url must be an address",
    f"[partner]\nbase_url = 'https://me:{SECRET}@example.com'": "partner.base_url must not hold a user name",
    f"[partner]\npassword = '{SECRET}'": "partner.password must not be in this file; set VETL",
    f"[warehouse]\npii_key = '{SECRET}'": "warehouse.pii_key must not be in this file",
    f"[webhooks]\nsecrets = '{SECRET}'": "webhooks.secrets must not be in this file",
    "[partner.parameters.appointments]\nstrt = 'x'": "partner.parameters.appointments.strt must be 'start', ",
    "[partner.parameters.appointments]\nstart = ''": "partner.parameters.appointments.start must name a query",
    "[partner.parameters.appointments]\npage = 'a b'": "partner.parameters.appointments.page must name a query",
    "[partner.parameters]\nappointments = 'x'": "partner.parameters.appointments must be a table",
    "[phone_calls]\ndetails = 'some'": "phone_calls.details must be 'all', 'recent' or 'off'",
    "[webhooks]\nport = 70000": "webhooks.port must be less than or equal to 65535",
    "[warehouse]\npath = ''": "warehouse.path must name a file",
    "[privacy]\ncontact = 'hide'": "privacy.contact must be 'null', 'hash' or 'clear'",
    "[privacy]\nadress = 'null'": "unknown key privacy.adress; known are columns, contact, name, text",
    "[privacy.columns]\n'clients.name' = 'hide'": "privacy.columns.clients.name must be 'null', 'hash' or 'clear'",
    "[privacy.columns]\nclients.name = 'null'": "privacy.columns.clients must be 'null', 'hash' or 'clear'",
    "[warehouse]\npublished = 'warehouse/data/vetl.duckdb'": "must be three different files",
    "[warehouse]\npublished = 'warehouse/../warehouse/data/./vetl.duckdb'": "must be three different files",
    "[warehouse]\npublished = 'warehouse/data/inbox.sqlite'": "must be three different files",
    '[warehouse]\npath = "o\'neil.duckdb"': 'warehouse.path must not hold the character "\'": dbt',
    "[warehouse]\npublished = 'a;b.duckdb'": "warehouse.published must not hold the character ';': dbt",
    "[warehouse]\npath = 'number #1/vetl.duckdb'": "warehouse.path must not hold the character '#': dbt",
    "[practices]\nid = 'a'": r"practices must be a list of tables, \[\[practices\]\]",
    "[[practices]]\nid = 'a'": r"practices\[0\].name is missing",
    HARBOR.replace("group", "grup"): r"unknown key practices\[0\].grup; did you mean group",
    HARBOR.replace("York", "Yrk"): r"practices\[0\].time_zone must be .*; did you mean America/New_York",
    HARBOR.replace("America/New_York", "../etc/passwd"): r"practices\[0\].time_zone must be an IANA",
    HARBOR.replace("2025-01-01", "'soon'"): r"practices\[0\].history_start must be a valid date",
    HARBOR.replace("loc-001", "loc 001\\n"): r"practices\[0\].id must be visible ASCII",
    HARBOR + HARBOR: "practices: the id loc-001 is there twice",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_in_the_file_is_one_line_with_file_and_key(text: str) -> None:
    path = written(text)

    line = complaint()

    assert line.startswith(f"{path.absolute()}: ")
    assert re.search(MISTAKES[text], line), line


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("VETL_PARTNER__MAX_IN_FLIGHT", "many", "partner.max_in_flight must be a valid integer"),
        ("VETL_PARTNER__PASWORD", SECRET, "unknown key partner.pasword; did you mean password"),
        ("VETL_PRTNER__PASSWORD", SECRET, "unknown section prtner; did you mean partner"),
        ("VETL_PARTNER", "{", "partner must be JSON"),
        ("VETL_PRACTICES", '[{"id": "a"}]', r"practices\[0\].name is missing"),
        ("VETL_PARTNER__PARAMETERS__APPOINTMENTS__STRT", "x", "partner.parameters.appointments.strt must be"),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(
    variable: str, value: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(HARBOR)
    monkeypatch.setenv(variable, value)

    line = complaint()

    assert line.startswith(f"environment variable {variable}: ")
    assert re.search(expected, line), line


def test_a_mistake_in_the_env_file_names_that_file(tmp_path: Path) -> None:
    written("VETL_PARTNER__TIMEOUT_SECONDS=soon\n", ".env")

    assert complaint().startswith(f"VETL_PARTNER__TIMEOUT_SECONDS in {tmp_path / '.env'}: partner.timeout_seconds")


def test_a_named_file_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETL_CONFIG", "nowhere/vetl.toml")

    assert complaint() == "nowhere/vetl.toml: cannot be read: No such file or directory"


def test_a_file_that_is_not_utf_8_is_said_to_be_so() -> None:
    Path("vetl.toml").write_bytes('[[practices]]\nname = "Müller"'.encode("latin-1"))

    assert complaint().endswith("vetl.toml: is not UTF-8 text")


def test_a_byte_order_mark_is_no_mistake() -> None:
    Path("vetl.toml").write_bytes(b"\xef\xbb\xbf" + HARBOR.encode())

    assert len(load_settings().practices) == 1


def test_the_example_is_valid_as_it_is() -> None:
    settings = load_settings(bundled.example_settings())

    assert [practice.id for practice in settings.practices] == ["loc-001"]


def test_the_example_names_every_key_and_says_the_defaults() -> None:
    """A setting without documentation fails here; so does one whose default has moved."""
    text = bundled.example_settings().read_text("utf-8")
    everything = tomllib.loads(re.sub(r"^# (?=\w+ = |\[)", "", text, flags=re.MULTILINE))
    defaults = load_settings().model_dump(mode="json")

    for section, keys in sections():
        documented = everything[section]
        for key in keys:
            if key in ENVIRONMENT_ONLY.get(section, ()):
                assert f"VETL_{section}__{key}=".upper() in text
            else:
                assert key in documented, f"{section}.{key} is not in vetl.example.toml"
                assert_default(section, key, documented[key], defaults)
    assert set(everything["practices"][0]) == set(Practice.__slots__)
    assert set(everything["partner"]["parameters"]["appointments"]) == set(QueryNames.__slots__)


def sections() -> list[tuple[str, list[str]]]:
    return [
        (name, list(field.annotation.model_fields))
        for name, field in Settings.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    ]


def assert_default(section: str, key: str, documented: object, defaults: dict[str, Any]) -> None:
    default: Any = project_default(key) if section == "definitions" else defaults[section][key]
    if key in {
        "base_url",
        "requests_per_minute",
        "parameters",
        "user_header",
        "email_to",
        "smtp_username",
        "endpoint",
        "master",
    }:
        return
    if key in {"path", "published", "inbox", "marts", "scratch"} and isinstance(default, str):
        assert default.endswith(str(documented))
    else:
        assert default == documented


def project_default(key: str) -> object:
    """Definitions that are not set are those of the dbt project."""
    if key == "phone_regions":
        return {"loc-001": "US"}
    told = yaml.safe_load((bundled.dbt_project() / "dbt_project.yml").read_text("utf-8"))["vars"]
    hours = {"opens": "opening_hour", "closes": "closing_hour", "weekdays": "opening_weekdays"}
    return {name: told[one] for name, one in hours.items()} if key == "opening_hours" else told[key]


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
    told = yaml.safe_load((bundled.dbt_project() / "dbt_project.yml").read_text("utf-8"))["vars"]
    hours = {"opening_hour", "closing_hour", "opening_weekdays"}
    others = {"instant", "local_time", "lists", "windows"}

    assert {*DefinitionsSettings.model_fields, *hours} - {"opening_hours", "phone_regions"} == told.keys() - others


def test_a_word_that_would_break_a_statement_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETL_DEFINITIONS__NEVER_CALL", """["don't"]""")

    with pytest.raises(ConfigurationError, match="letters, digits"):
        load_settings()


@given(st.text(max_size=60) | st.text('[]="\\n.a', max_size=30))
def test_no_text_brings_anything_but_settings_or_one_line(text: str) -> None:
    path = Path("vetl.toml")
    path.write_text(text, "utf-8", errors="surrogatepass")
    line = ""
    try:
        load_settings(path)
    except ConfigurationError as error:
        line = str(error)
    assert len(line.splitlines()) <= 1


def test_a_key_with_a_line_break_is_still_one_line() -> None:
    written('"a\\nb" = 1')

    assert "unknown key a b" in complaint()
