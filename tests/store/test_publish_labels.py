"""Columns of words: a value that many people share is published, and an address or a person's number never is."""

from pathlib import Path

import duckdb
import pytest
from hypothesis import example, given, settings, strategies as st
from support.examples import examples
from support.warehouse_with_rows import ask
from vetl.core.published_file import SOURCE_WORDS, SharedWords, Treatments
from vetl.core.text import is_label
from vetl.endpoints import RECEIVED, REGISTRY
from vetl.publishing.descriptions import personal_columns
from vetl.publishing.publication import publish

ROOT = Path(__file__).resolve().parents[2]
PII: Treatments = {"sessions": {}, "practices": {}, "unbooked_requests": {}}
NUMBERS = ("+12125550199", "+442079460018", "+99912345678901")


class Source:
    """A private file with these values in a column of words, each in rows of so many people."""

    def __init__(self, folder: Path) -> None:
        self.private, self.target = folder / "vetl.duckdb", folder / "analytics.duckdb"
        self.private.unlink(missing_ok=True)
        with duckdb.connect(str(self.private)) as connection:
            connection.execute("""
                create schema marts; create schema control;
                create table control.builds as select '1' as build_id, true as is_complete;
                create table control.phone_numbers (practice_id varchar, spelling varchar, e164 varchar);
                create table marts.practices as select 'Harbor Animal Hospital No. 12345678' as name;
                create table marts.sessions (session_id varchar, client_id varchar, referral_source varchar);
                create table marts.unbooked_requests (reason varchar);
            """)
            connection.executemany(
                "insert into control.phone_numbers values ('p', $1, $1)", [[n] for n in NUMBERS]
            )

    def add(self, value: str, people: int, rows: int = 1) -> None:
        """Add rows of so many people with the value."""
        self.run(
            "insert into marts.sessions select uuid()::varchar, person::varchar, $value"
            " from range($people) as persons (person), range($rows)",
            value=value,
            people=people,
            rows=rows,
        )

    def run(self, statement: str, **values: object) -> None:
        with duckdb.connect(str(self.private)) as connection:
            connection.execute(statement, values)

    def publish(self, shared: SharedWords | None = None) -> dict[str, int]:
        """Publish another build, and return how many different values were masked, by column."""
        self.run("update control.builds set build_id = (build_id::int + 1)::varchar")
        shared = shared or SharedWords()
        return dict(publish(self.private, self.target, pii=PII, pii_key=None, shared=shared).masked_words)

    def shown(self) -> set[str]:
        """Return the published values that are not masked."""
        rows = ask(self.target, "select distinct referral_source from marts.sessions")
        return {value for (value,) in rows if value and not value.startswith("masked ")}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


WORDS = (
    *(
        "spring_wellness",
        "Puppy & kitten, first visit",
        "F\u00eate 2026",
        "\U0001f43e",
        "20% off",
        "#1 vet",
        "21098765432",
    ),
    *(
        "20250314_newsletter",
        "Golden Retriever",
        "\u72ac",
        "a\nb",
        "@home",
        "https://vet.example/?a=1",
        "(555) 123",
    ),
    "A sentence of the campaign that is longer than sixty characters, as some are",
)


def test_a_word_is_published_once_many_people_share_it_whatever_its_letters(source: Source) -> None:
    for word in WORDS:
        source.add(word, 5)
    source.add("winter", 4)
    source.add("of one person", 1, rows=50)
    source.add("google", 1)
    source.add("Harbor Animal Hospital No. 12345678", 1)

    assert source.publish() == {"sessions.referral_source": 2}
    assert source.shown() == {*WORDS, "google", "Harbor Animal Hospital No. 12345678"}


def test_the_settings_say_how_many_people_are_enough_and_which_words_are_shown(source: Source) -> None:
    source.add("winter", 4)
    source.add("Spring", 1)

    assert source.publish(SharedWords(words=("spring",))) == {"sessions.referral_source": 1}
    assert source.shown() == {"Spring"}
    assert source.publish(SharedWords(fewest_people=4)) == {"sessions.referral_source": 1}
    assert source.shown() == {"winter"}


def test_a_word_that_too_few_share_again_is_masked_again(source: Source) -> None:
    source.add("winter", 5)
    assert source.publish() == {}
    source.run("delete from marts.sessions where client_id = '0'")

    assert source.publish() == {"sessions.referral_source": 1}


@st.composite
def contacts(draw: st.DrawFn) -> str:
    """Draw a text with an address or with the number of a known person, as a source writes it."""
    before = draw(st.sampled_from(["", "left at ", "for ", "mailto:", "call ", "(", "tel:", "12 "]))
    after = draw(st.sampled_from(["", " 2026", "!", ")", " please", ".", ", 3"]))
    sign = st.sampled_from(["", " ", "-", ".", "\N{NON-BREAKING HYPHEN}", "\N{NO-BREAK SPACE}", "/", ") "])
    digits = draw(st.sampled_from(["2125550199", "12125550199", "2079460018", "02079460018", "442079460018"]))
    cuts = draw(st.lists(st.integers(0, len(digits)), max_size=3, unique=True).map(sorted))
    parts = [digits[one:other] for one, other in zip([0, *cuts], [*cuts, len(digits)], strict=True)]
    number = draw(sign).join(parts)
    wide = number.translate(str.maketrans("0123456789", "".join(chr(0xFF10 + digit) for digit in range(10))))
    address = st.sampled_from(["jane@doe.example", "JANE@DOE", "jane\N{FULLWIDTH COMMERCIAL AT}doe.example"])
    return before + draw(st.one_of(st.sampled_from([number, wide]), address)) + after


@settings(max_examples=examples(15))  # each is a publication of many texts
@given(st.lists(contacts(), min_size=20, max_size=40, unique=True))
@example(["call 212 555 0199 2026"])
def test_no_address_and_no_number_of_a_person_is_published(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    source = Source(tmp_path_factory.mktemp("contacts"))
    source.run(
        "insert into marts.sessions select uuid()::varchar, person::varchar, text"
        " from (select unnest($texts) as text), range(30) as people (person)",
        texts=texts,
    )
    source.run("insert into marts.unbooked_requests select 'left at ' || unnest($texts)", texts=texts)

    assert source.publish() == {"sessions.referral_source": len(texts), "unbooked_requests.reason": len(texts)}


def test_a_phrase_of_vetl_before_a_word_does_not_mask_it(source: Source) -> None:
    source.run(
        "insert into marts.unbooked_requests"
        " values ('left at started'), ('task completed'), ('left at Doe, Jane'), (null)"
    )
    source.publish()

    reasons = {reason for (reason,) in ask(source.target, "from marts.unbooked_requests")}
    unmasked = {reason for reason in reasons if not (reason or "").startswith("masked ")}
    assert unmasked == {"left at started", "task completed", None}


def test_a_masked_value_is_the_same_after_the_next_publication(source: Source) -> None:
    source.add("Doe, Jane", 1)
    source.publish()

    masked = "select distinct referral_source from marts.sessions where starts_with(referral_source, 'masked ')"
    before = ask(source.target, masked)
    source.add("google", 1)
    source.publish()

    assert len(before) == 1
    assert ask(source.target, masked) == before


COLUMNS = [column for endpoint in (*REGISTRY, *RECEIVED) for column in endpoint.columns() if column.values]


def test_every_word_of_the_contract_is_published_as_it_is() -> None:
    words = {word for column in COLUMNS for word in column.values or ()}
    assert len(words) > 50
    assert [word for word in sorted(words) if not is_label(word)] == []


def test_every_column_of_such_words_is_known() -> None:
    assert {column.name for column in COLUMNS} <= SOURCE_WORDS
    personal = {column for columns in personal_columns(ROOT / "dbt").values() for column in columns}
    assert personal.isdisjoint(SOURCE_WORDS)
