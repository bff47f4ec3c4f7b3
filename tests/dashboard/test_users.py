"""Users who see their practices alone: on no page, in no list, in no download and by no address anything else.

Names and numbers are on the work list if `contacts.duckdb` is beside the published file and may be read.
"""

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from argon2 import PasswordHasher
from board.pages import PAGES
from board.published import MissingError, now_published
from streamlit.testing.v1 import AppTest
from support.dashboard_pages import Ask, Copied, Open
from vetl.cli.passwords import is_password_of, set_password
from vetl.publishing.marts import table_of

PATHS = ["", *(page.path for page in PAGES[1:])]
"""The first page has the bare address."""
PASSWORD = "quite long and secret"
LOOK_UP = "look the client id up"


@pytest.fixture
def file(copied: Copied) -> Path:
    return copied()


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide the audit log of a dashboard with a user of one practice, and one without any."""
    passwords = tmp_path / "passwords"
    for name in ("anna", "gone"):
        set_password(passwords, name, PASSWORD)
    monkeypatch.setenv("VETL_DASHBOARD__USERS", json.dumps({"anna": ["loc-001"], "nobody": [], "boss": None}))
    monkeypatch.setenv("VETL_DASHBOARD__PASSWORDS", str(passwords))
    monkeypatch.setenv("VETL_DASHBOARD__AUDIT", str(tmp_path / "audit.jsonl"))
    return tmp_path / "audit.jsonl"


def signed_in(page: AppTest, name: str = "anna", password: str = PASSWORD) -> AppTest:
    page.text_input[0].input(name)
    page.text_input[1].input(password)
    return page.button[0].click().run()


def shown(page: AppTest) -> str:
    """Return all that the browser is sent."""
    parts = [str(element.proto) for element in page.main] + [str(element.proto) for element in page.sidebar]
    return "\n".join([*parts, *(table.value.to_csv() for table in page.dataframe)])


def write_contacts(published: Path) -> None:
    """Write the file as `[warehouse] contacts` does: here everybody on the list but one is known."""
    with duckdb.connect(published.with_name("contacts.duckdb")) as connection:
        connection.execute(f"""
            attach '{published}' as published (read_only);
            create table call_back_list as
            select practice_id, episode_id, 'Name at ' || practice_id as name, '+15550100' as phone_number,
                   null::varchar as email, null::varchar as pet
            from published.marts.call_back_list where episode_id <> (
                select min(episode_id) from published.marts.call_back_list
                where reason not in ('declined', 'resolved')
            )
        """)


@pytest.mark.usefixtures("users")
@pytest.mark.parametrize("path", PATHS)
def test_no_page_shows_another_practice(path: str, opened: Open, ask: Ask, file: Path) -> None:
    names = dict(ask("select practice_id, name from marts.practices"))
    page = signed_in(opened(path, file, practice="loc-002"))

    assert not page.exception
    text = shown(page)
    assert names["loc-001"] in text
    assert names["loc-002"] not in text
    assert page.session_state.view.file.practices == ("loc-001",)


def test_no_mart_has_a_row_of_another_practice(published: Path) -> None:
    limited = now_published(published, ("loc-001",))
    marts = [
        name
        for (name,) in limited.ask(
            "select view_name from duckdb_views() where schema_name in ('marts', 'meta')"
        ).rows()
    ]

    assert len(marts) > 30
    for mart in set(marts) - {"catalogue", "metrics"}:
        practices = limited.ask(f"select distinct practice_id from {table_of(mart)}").get_column("practice_id")
        assert set(practices) <= {"loc-001"}
    for statement in (
        "from published.marts.practices",
        f"from '{published}'",
        f"attach '{published}' as mine",
        "set enable_external_access = true",
    ):
        with pytest.raises((MissingError, duckdb.Error)):
            limited.ask(statement)
    nobody = now_published(published, ())
    assert nobody.ask("select count(*) from marts.phone_calls").item() == 0


def test_users_see_their_names_and_each_look_is_noted(opened: Open, users: Path, file: Path, ask: Ask) -> None:
    write_contacts(file)
    page = signed_in(opened("call-back", file))
    page.run()

    table = page.dataframe[0].value
    assert set(table["name"].dropna()) == {"Name at loc-001"}
    [line] = [json.loads(line) for line in users.read_text("utf-8").splitlines()]
    mine = ask(
        "select episode_id from marts.call_back_list where practice_id = 'loc-001'"
        " and reason not in ('declined', 'resolved')"
    )
    assert (line["user"], line["page"], line["with_names"]) == ("anna", "call-back", True)
    assert {person["episode_id"] for person in line["people"]} == {episode for (episode,) in mine}
    assert users.stat().st_mode & 0o777 == 0o600
    assert "+15550100" not in users.read_text("utf-8")


def test_a_list_that_cannot_be_noted_is_not_shown(opened: Open, users: Path) -> None:
    users.mkdir()
    page = signed_in(opened("call-back"))

    assert "audit log" in page.error[0].value
    assert not page.dataframe


@pytest.mark.usefixtures("users")
@pytest.mark.parametrize(
    ("name", "password"),
    [("anna", "wrong and long"), ("boss", PASSWORD), ("gone", PASSWORD), ("", ""), ("x:y", "z")],
)
def test_nobody_else_comes_in(opened: Open, name: str, password: str) -> None:
    page = signed_in(opened("online-booking"), name, password)

    assert page.error[0].value == "That is not the name with its password."
    assert not page.metric


@pytest.mark.usefixtures("users")
def test_a_session_ends(opened: Open) -> None:
    page = signed_in(opened("online-booking"))
    assert page.metric

    name, at = page.session_state.signed_in
    page.session_state.signed_in = (name, at - 13 * 3600)
    assert not page.run().metric


def test_a_removed_user_does_not_sign_in_again_and_the_file_has_no_password(tmp_path: Path) -> None:
    file = tmp_path / "passwords"
    set_password(file, "anna", PASSWORD)
    set_password(file, "bob", PASSWORD + "!")
    assert is_password_of(file, "anna", PASSWORD)
    assert PASSWORD not in file.read_text("utf-8")
    assert file.stat().st_mode & 0o777 == 0o600
    of_bob = [line for line in file.read_text("utf-8").splitlines(keepends=True) if line.startswith("bob")]
    file.write_text("".join(of_bob))
    assert not is_password_of(file, "anna", PASSWORD)
    assert not is_password_of(tmp_path / "none", "anna", PASSWORD)
    for name in ("", "a:b", " a", "a\nb"):
        with pytest.raises(ValueError, match="a name is made of"):
            set_password(file, name, PASSWORD)
    with pytest.raises(ValueError, match="at least 10 characters"):
        set_password(file, "anna", "short")


TWELVE = """
import sys
from pathlib import Path
from threading import Thread
from vetl.cli.passwords import is_password_of
threads = [Thread(target=is_password_of, args=(Path(sys.argv[1]), "anna", f"wrong {n}")) for n in range(12)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


def test_many_passwords_at_once_take_the_memory_of_two(tmp_path: Path) -> None:
    """Sixty took 1,950 MiB. These hashes are of the library's own cost, 64 MiB each."""
    file = tmp_path / "passwords"
    file.write_text(f"anna:{PasswordHasher().hash(PASSWORD)}\n")
    command = [sys.executable, "-c", TWELVE, file]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert int(done.stdout) < 300 * 1024


def test_clients_to_call_are_named_if_there_are_contacts(opened: Open, file: Path) -> None:
    without = opened("call-back", file)
    assert "name" not in without.dataframe[0].value
    assert any(LOOK_UP in caption.value for caption in without.caption)

    write_contacts(file)
    page = opened("call-back", file)

    table = page.dataframe[0].value
    assert not page.exception
    assert len(table) == len(without.dataframe[0].value)
    assert list(table["name"].isna()).count(True) == 1
    numbers = table[["phone_number", "dial"]].dropna()
    assert set(numbers.itertuples(index=False, name=None)) == {("+15550100", "tel:+15550100")}
    assert not any(LOOK_UP in caption.value for caption in page.caption)


@pytest.mark.parametrize("broken", [b"", b"not a database" * 1000])
def test_contacts_that_cannot_be_read_are_not_spoken_of(opened: Open, file: Path, broken: bytes) -> None:
    file.with_name("contacts.duckdb").write_bytes(broken)
    page = opened("call-back", file)

    assert not page.exception
    assert not page.error
    assert "name" not in page.dataframe[0].value
    assert any(LOOK_UP in caption.value for caption in page.caption)
