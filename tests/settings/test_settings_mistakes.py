"""A mistake in the settings is one line that names the place."""

import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from support.settings_file import HARBOR, SECRET, complaint, written
from vetl.core.errors import ConfigurationError
from vetl.settings import load_settings

pytestmark = pytest.mark.usefixtures("empty_folder")
MISTAKES = {
    "[partner]\nbase_url = x": "is not TOML: .*line 2",
    "practices = [": "is not TOML: .*",
    '"a\\nb" = 1': "unknown key a b",
    '[definitions]\nnever_call = ["don\'t"]': "letters, digits",
    "[partnr]": "unknown key partnr; did you mean partner",
    "[tally]": "unknown key tally; known are .*; or its addon is not installed",
    "[warehouse]\npth = 'x'": "unknown key warehouse.pth; did you mean path",
    "[privacy]\ncontacts = true": r"unknown key privacy.contacts; it belongs to \[warehouse\]",
    "[partner]\nnothing_like_it = 1": "unknown key partner.nothing_like_it; known are allow_plain_http, ",
    "partner = 3": "partner must be a table",
    "[partner]\nmax_in_flight = 0": "partner.max_in_flight must be greater than or equal to 1",
    "[partner]\nmax_in_flight = true": "partner.max_in_flight must be a number",
    "[partner]\ntimeout_seconds = nan": "partner.timeout_seconds must be ",
    "[partner]\ntimeout_seconds = 1e300": "partner.timeout_seconds must be less than or equal to 31622400",
    "[partner]\nmax_in_flight = 1e300": "partner.max_in_flight must be a smaller number",
    "[act]\nsettle_minutes = 1e300": "act.settle_minutes must be less than or equal to 527040",
    "[lake]\npath = 'a\\u0000b'".replace("'", '"'): r"lake.path must not hold the character '\\x00'",
    "[webhooks]\ninbox = 'a\\u0000b'".replace("'", '"'): r"webhooks.inbox must not hold the character '\\x00'",
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
    "[webhooks]\nproxies = '10.0.0.7'": "webhooks.proxies must be a list, in brackets",
    "[webhooks]\nhost = ''": "webhooks.host must have at least 1 character",
    "[webhooks]\ninbox = 3": "webhooks.inbox must be a path",
    "[webhooks]\ninbox = '~nobody-here/inbox'": "webhooks.inbox must not begin with ~ and the name of no account",
    "[lake]\npath = '~nobody-here/lake'": "lake.path must not begin with ~ and the name of no account",
    "[webhooks]\nport = 70000": "webhooks.port must be less than or equal to 65535",
    "[warehouse]\npath = ''": "warehouse.path must name a file",
    "[warehouse]\npath = 'data/Raw.db'": "warehouse.path must not be called raw: DuckDB could not distinguish",
    "[warehouse]\npublished = 'data/marts.duckdb'": "warehouse.published must not be called marts",
    "[alerts]\nwebhook = 'https://hooks.example.com/T0/secret'": "alerts.webhook must .* VETL_ALERTS__WEBHOOK",
    "[schedule]\nmax_age = '999999d'": 'schedule.max_age must be a time such as "90m"',
    "[schedule]\nhourly = 'daily'": "schedule.hourly must be a cron line",
    "[schedule]\ntime_zone = 'Mars/Base'": "schedule.time_zone must be an IANA time zone",
    "[privacy]\ncontact = 'hide'": "privacy.contact must be 'null', 'hash' or 'clear'",
    "[privacy]\nfewest_people = 0": "privacy.fewest_people must be greater than or equal to 1",
    "[privacy]\nadress = 'null'": (
        "unknown key privacy.adress; known are columns, contact, fewest_people, name, text, words"
    ),
    "[privacy.columns]\n'clients.name' = 'hide'": "privacy.columns.clients.name must be 'null', 'hash' or 'clear'",
    "[privacy.columns]\nclients.name = 'null'": "privacy.columns.clients must be 'null', 'hash' or 'clear'",
    "[warehouse]\npublished = 'warehouse/data/vetl.duckdb'": "must be different places",
    "[warehouse]\npublished = 'warehouse/../warehouse/data/./vetl.duckdb'": "must be different places",
    "[warehouse]\npublished = 'warehouse/data/inbox.sqlite'": "must be different places",
    "[warehouse]\npublished = 'warehouse/data/contacts.duckdb'": "contacts.duckdb beside .* must be different",
    "[warehouse]\npath = 'a.duckdb'\npublished = 'a.duckdb.notes.sqlite'": "must not begin with the name of",
    "[warehouse]\npublished = 'vetl.toml'": "vetl.toml and warehouse.published must be different places",
    "[webhooks]\ninbox = '.env'": ".env and webhooks.inbox must be different places",
    "[lake]\npath = 'warehouse/data/analytics.parquet'": "lake.path and the Parquet folder of .* must be",
    "[spark]\nscratch = 'warehouse'": "spark.scratch must not hold warehouse.path",
    '[dashboard]\nhost = "0.0.0.0"\nuser_header = "X-User"': "name in proxies the addresses of the proxies",
    '[dashboard]\nproxies = ["proxy"]': r"dashboard.proxies\[0\] must be an address such as 10.0.0.7",
    "[act.templates.call_back]\ntitle = 'Call {name}'": (
        "act.templates.call_back.title names an unknown field; known are practice, channel,"
    ),
    "[act.templates.call_back]\ndescription = 'Call {client_name!r}'": "client_name alone, as {client_name}",
    "[act.templates.text]\ndescription = 'Call us }'": "act.templates.text.description has a single { or }",
    "[act.templates.fax]\ntitle = 'x'": "unknown key act.templates.fax; ",
    '[warehouse]\npath = "o\'neil.duckdb"': 'warehouse.path must not hold the character "\'": dbt',
    "[warehouse]\npublished = 'a;b.duckdb'": "warehouse.published must not hold the character ';': dbt",
    "[warehouse]\npath = 'number #1/vetl.duckdb'": "warehouse.path must not hold the character '#': dbt",
    "[practices]\nid = 'a'": r"practices must be a list of tables: \[\[practices\]\]",
    "[[practices]]\nid = 'a'": r"practices\[0\].name is missing",
    HARBOR.replace("group", "grup"): r"unknown key practices\[0\].grup; did you mean group",
    HARBOR.replace("York", "Yrk"): r"practices\[0\].time_zone must be .*; did you mean America/New_York",
    HARBOR.replace("America/New_York", "../etc/passwd"): r"practices\[0\].time_zone must be an IANA",
    HARBOR.replace("America/New_York", "localtime"): r"practices\[0\].time_zone must be an IANA",
    HARBOR.replace("2025-01-01", "'soon'"): r"practices\[0\].history_start must be a valid date",
    HARBOR.replace("2025", "0025"): r"practices\[0\].history_start must be greater than or equal to 1900-01-01",
    HARBOR.replace("loc-001", "loc 001\\n"): r"practices\[0\].id must be visible ASCII",
    HARBOR.replace("Harbor", "Har\\nbor"): r"practices\[0\].name must be one line without control characters",
    HARBOR.replace("Harbor", "Har\\u202ebor"): r"practices\[0\].name must be one line without control characters",
    HARBOR.replace("East", "E\\u0085ast"): r"practices\[0\].group must be one line without control characters",
    HARBOR + HARBOR: "practices: the id loc-001 is there twice",
    '[warehouse]\nmemory_limit = "lots"': "must be an amount such as 4GB",
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
        ("VETL_ALERTS__EMAIL_TO", "a@example.com", 'alerts.email_to must be JSON, such as \\["a", "b"\\]'),
        ("VETL_PRACTICES", '[{"id": "a"}]', r"practices\[0\].name is missing"),
        ("VETL_PRACTICES__0__NAME", "a", "practices must be a list of tables: .* or VETL_PRACTICES as JSON"),
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
