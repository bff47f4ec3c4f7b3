"""Values where the contract lists words: what else a source sends there is published if it looks like one."""

import re
from pathlib import Path

import duckdb
import pytest

from pipelines.core.labels import LABELS, is_label
from pipelines.core.privacy import Treatments
from pipelines.endpoints import REGISTRY
from pipelines.endpoints.received import RECEIVED
from pipelines.loading.published.descriptions import personal_columns
from pipelines.loading.published.publish import publish

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = (
    "Call Jane at +1 555 010 9999",
    "jane@example.com",
    "\N{FULLWIDTH DIGIT FIVE}" * 7,
    "Jane Doe of Harbor Street, " * 2,
)
PII: Treatments = {"daily": {}, "unknown_values": {}}


@pytest.fixture
def private(tmp_path: Path) -> Path:
    path = tmp_path / "vetl.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create schema marts")
        values = [*HOSTILE, "snoozed", "booked", None]
        connection.execute(
            "create table marts.daily as select unnest($1) as outcome, 1 as calls, 'A 1' as id", [values]
        )
        connection.execute(
            "create table marts.unknown_values as"
            " select outcome as unknown_value, 2 as occurrences from marts.daily where outcome <> 'booked'"
        )
    return path


@pytest.mark.parametrize("key", [None, "0123456789abcdef0123456789abcdef"])
def test_what_is_unlike_a_word_is_masked_and_counted(private: Path, tmp_path: Path, key: str | None) -> None:
    target = tmp_path / "analytics.duckdb"

    result = publish(private, target, pii=PII, pii_key=key)

    assert result.masked_values == 2 * len(HOSTILE)
    with duckdb.connect(str(target), read_only=True) as connection:
        shown = [row[0] for row in connection.execute("select outcome from marts.daily").fetchall()]
        again = [row[0] for row in connection.execute("select unknown_value from marts.unknown_values").fetchall()]
        assert connection.execute("select distinct id from marts.daily").fetchall() == [("A 1",)]
    masked = {value for value in shown if value and value.startswith("masked ")}
    assert len(masked) == len(HOSTILE)
    assert {value for value in shown if value not in masked} == {"snoozed", "booked", None}
    assert masked | {"snoozed"} == set(again)
    content = target.read_bytes()
    assert [value for value in HOSTILE if value.encode() in content] == []


def test_a_masked_value_is_the_same_after_the_next_publication(private: Path, tmp_path: Path) -> None:
    with duckdb.connect(str(private)) as connection:
        connection.execute("create schema control")
        connection.execute(
            "create table control.builds as"
            " select '1' as build_id, null::varchar as previous_id, true as is_complete"
        )
    target, grains = tmp_path / "analytics.duckdb", {"daily": ("outcome",)}
    publish(private, target, pii=PII, pii_key=None, grains=grains)
    before = _masked(target)
    with duckdb.connect(str(private)) as connection:
        connection.execute("update control.builds set build_id = '2', previous_id = '1'")
        connection.execute(
            "create table control.changed_in_daily as"
            " select *, -1 as weight from marts.daily where outcome like '%@%'"
            " union all select * replace (5 as calls), 1 from marts.daily where outcome like '%@%'"
        )
        connection.execute("update marts.daily set calls = 5 where outcome like '%@%'")

    publish(private, target, pii=PII, pii_key=None, grains=grains)

    assert before == _masked(target)
    with duckdb.connect(str(target), read_only=True) as connection:
        assert connection.execute("select count(*), max(calls) from marts.daily").fetchall() == [(7, 5)]


PEOPLE = {
    "a friend: Jane Doe": True,
    "jane_doe": True,
    "JANE DOE-SMITH": False,
    "call (212) 555-0100, please": True,
    "2125550100": True,
    "campaign 2125550199": False,
    "JANE@example.com": True,
    "info@example.com": False,
    "rex": False,
    "Spring 2026": False,
    "Harbor Animal Hospital": False,
}


@pytest.fixture
def with_people(private: Path) -> Path:
    """Words of a source, some of which are a client's, and a client called like the practice."""
    with duckdb.connect(str(private)) as connection:
        connection.execute("""
            create table marts.clients as select * from (values
                ('Jane Doe', '+1 212-555-0100', 'jane@example.com'), ('Rex', null, null),
                ('Harbor Animal Hospital', null, null)
            ) as rows (name, phone, email);
            create table marts.practices as select 'Harbor Animal Hospital' as name;
        """)
        connection.execute("create table marts.sessions as select unnest($1) as referral_source", [list(PEOPLE)])
    return private


PEOPLE_PII: Treatments = {
    **PII,
    "clients": {"name": "hash", "phone": "null", "email": "hash"},
    "sessions": {},
    "practices": {},
}


def _sources(target: Path) -> list[str]:
    with duckdb.connect(str(target), read_only=True) as connection:
        return [row[0] for row in connection.execute("select referral_source from marts.sessions").fetchall()]


def test_a_person_who_is_named_where_words_belong_is_masked(with_people: Path, tmp_path: Path) -> None:
    target = tmp_path / "analytics.duckdb"

    result = publish(with_people, target, pii=PEOPLE_PII, pii_key=None)

    shown = _sources(target)
    assert result.people_in_words == sum(PEOPLE.values()) + 2  # and two of the hostile ones
    assert {value for value in shown if not value.startswith("masked ")} == {
        word for word, is_person in PEOPLE.items() if not is_person
    }
    assert len(set(shown)) == len(PEOPLE)


def test_who_is_published_in_clear_is_not_looked_for(with_people: Path, tmp_path: Path) -> None:
    target = tmp_path / "analytics.duckdb"
    clear: Treatments = {**PEOPLE_PII, "clients": {"name": "clear", "phone": "clear", "email": "clear"}}

    publish(with_people, target, pii=clear, pii_key=None)

    assert sorted(_sources(target)) == sorted(PEOPLE)


def test_a_person_who_comes_later_masks_what_was_published_before(with_people: Path, tmp_path: Path) -> None:
    """What changed is not all that is brought then: the rows that name her did not change."""
    target, grains = tmp_path / "analytics.duckdb", {"sessions": ("referral_source",)}
    with duckdb.connect(str(with_people)) as connection:
        connection.execute("""
            create schema control;
            create table control.builds as
            select '1' as build_id, null::varchar as previous_id, true as is_complete;
        """)
    publish(with_people, target, pii=PEOPLE_PII, pii_key=None, grains=grains)
    before = _sources(target)
    with duckdb.connect(str(with_people)) as connection:
        connection.execute("""
            update control.builds set build_id = '2', previous_id = '1';
            insert into marts.clients values ('Jane Doe-Smith', null, null);
            create table control.changed_in_sessions as select *, 1 as weight from marts.sessions limit 0;
        """)

    publish(with_people, target, pii=PEOPLE_PII, pii_key=None, grains=grains)

    assert set(before) - set(_sources(target)) == {"JANE DOE-SMITH"}


def _masked(target: Path) -> set[str]:
    with duckdb.connect(str(target), read_only=True) as connection:
        return {row[0] for row in connection.execute("select outcome from marts.daily").fetchall()}


def test_every_word_of_the_contract_is_published_as_it_is() -> None:
    words = {
        word
        for endpoint in (*REGISTRY, *RECEIVED)
        for column in endpoint.columns()
        for word in column.values or ()
    }
    assert len(words) > 50
    assert [word for word in sorted(words) if not is_label(word)] == []


def test_every_column_of_such_words_is_known() -> None:
    """By the record models, and by the mart that lists what they do not know."""
    named = {column.name for endpoint in (*REGISTRY, *RECEIVED) for column in endpoint.columns() if column.values}
    listing = (ROOT / "dbt/models/marts/practice/unknown_values.sql").read_text("utf-8")
    listed = set(re.findall(r"\('\w+', '(\w+)', \[", listing))
    assert len(listed) > 10
    assert named | listed <= LABELS
    personal = {column for columns in personal_columns(ROOT / "dbt").values() for column in columns}
    assert personal.isdisjoint(LABELS)
