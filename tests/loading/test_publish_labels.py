"""Columns of words: a word that many people share is published, and no spelling of a person is."""

import re
import unicodedata
from pathlib import Path

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.warehouse_with_rows import ask
from vetl.core.labels import COMMON_WORDS, SOURCE_WORDS, is_label
from vetl.core.privacy import Treatments
from vetl.endpoints import REGISTRY
from vetl.endpoints.received import RECEIVED
from vetl.loading.published.descriptions import personal_columns
from vetl.loading.published.publish import publish

ROOT = Path(__file__).resolve().parents[2]
PII: Treatments = {
    "clients": {"name": "hash", "phone": "null", "email": "hash"},
    "sessions": {},
    "practices": {},
    "leaks": {},
}
CLIENTS = (
    ("Jane Doe", "+1 212-555-0199", "jane@doe.example"),
    ("Sofía Maria de Wrenfield Ortega", None, None),
    ("Golden", None, None),
    ("Rex", None, None),
)


class Source:
    """Return a private file with these values in a column of words, each in rows of so many people."""

    def __init__(self, folder: Path) -> None:
        self.private, self.target = folder / "vetl.duckdb", folder / "analytics.duckdb"
        self.private.unlink(missing_ok=True)
        with duckdb.connect(str(self.private)) as connection:
            connection.execute("""
                create schema marts; create schema control;
                create table control.builds as select '1' as build_id, true as is_complete;
                create table marts.clients (name varchar, phone varchar, email varchar);
                create table marts.practices as select 'Harbor Animal Hospital No. 12345678' as name;
                create table marts.sessions (session_id varchar, client_id varchar, referral_source varchar);
                create table marts.leaks (reason varchar);
            """)
            connection.executemany("insert into marts.clients values (?, ?, ?)", CLIENTS)

    def add(self, value: str, people: int, rows: int = 1) -> None:
        """Add rows of so many people with the value."""
        self.run(
            "insert into marts.sessions select uuid()::varchar, person::varchar, $value"
            " from range($people) as persons (person), range($rows)",
            value=value,
            people=people,
            rows=rows,
        )

    def build(self) -> None:
        """Count one more build."""
        self.run("update control.builds set build_id = (build_id::int + 1)::varchar")

    def run(self, statement: str, **values: object) -> None:
        with duckdb.connect(str(self.private)) as connection:
            connection.execute(statement, values)

    def publish(self, pii: Treatments = PII) -> int:
        """Publish, and return how many different values were masked."""
        return publish(self.private, self.target, pii=pii, pii_key=None).masked_words

    def unmasked_values(self) -> set[str]:
        """Return the published values that are not masked."""
        rows = ask(self.target, "select distinct referral_source from marts.sessions")
        return {value for (value,) in rows if value and not value.startswith("masked ")}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def test_a_word_is_published_once_many_people_share_it(source: Source) -> None:
    for value, people, rows in (
        ("spring_wellness", 5, 1),
        ("Puppy & kitten, first visit", 30, 1),
        ("Fête 2026", 9, 2),
        ("winter", 4, 1),
        ("of one person", 1, 50),
        ("google", 1, 1),
        ("Golden Retriever", 10, 1),
        ("golden years", 9, 1),
        ("Harbor Animal Hospital No. 12345678", 1, 1),
    ):
        source.add(value, people, rows)

    masked = source.publish()

    assert source.unmasked_values() == {
        "spring_wellness",
        "Puppy & kitten, first visit",
        "Fête 2026",
        "google",
        "Golden Retriever",
        "Harbor Animal Hospital No. 12345678",
    }
    assert masked == 3


NAMES = ("Jane Doe", "Sofía Maria de Wrenfield Ortega")


def _numbers() -> st.SearchStrategy[str]:
    digits = "2125550199"
    sign = st.sampled_from(
        ["", " ", "-", ".", "\N{NON-BREAKING HYPHEN}", "\N{EN DASH}", "\N{NO-BREAK SPACE}", "/"]
    )
    wide = str.maketrans("0123456789", "".join(chr(0xFF10 + digit) for digit in range(10)))
    written = st.tuples(sign, sign).map(lambda signs: f"{digits[:3]}{signs[0]}{digits[3:6]}{signs[1]}{digits[6:]}")
    return st.one_of(
        written, written.map(lambda text: text.translate(wide)), written.map(lambda text: f"1 {text}")
    )


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def _names() -> st.SearchStrategy[str]:
    """Draw two parts of a name or more, in any order, between signs, with or without accents and initials."""
    between = st.sampled_from([" ", "_", ", ", "  ", "-", "\n", "\N{NO-BREAK SPACE}", " Q. ", ".", "\t", "/", ""])
    style = st.sampled_from([str, str.lower, str.upper, _decomposed])

    @st.composite
    def drawn(draw: st.DrawFn) -> str:
        name = draw(st.sampled_from(NAMES)).split()
        parts = draw(st.permutations(name if len(name) == 2 else draw(st.sampled_from([name, name[3:]]))))
        return draw(style)(draw(between).join(parts))

    return drawn()


@st.composite
def spellings(draw: st.DrawFn) -> str:
    """Draw a person's name, number or address as a source writes it into a text."""
    before = draw(st.sampled_from(["", "left at ", "for ", "a friend: ", "mailto:", "call ", "(", "tel:"]))
    after = draw(st.sampled_from(["", " 2026", "!", ")", " please", " and Rex"]))
    address = st.sampled_from(
        ["jane@doe.example", "JANE@DOE.EXAMPLE", "jane\N{FULLWIDTH COMMERCIAL AT}doe.example"]
    )
    return before + draw(st.one_of(_names(), _numbers(), address)) + after


@settings(max_examples=examples(4), deadline=None)
@given(st.lists(spellings(), min_size=50, max_size=50, unique=True), st.sampled_from([1, 30]))
@example(["call DESOFÍAORTEGAMARIAWRENFIELD please"], 30)
def test_no_spelling_of_a_person_is_published(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], people: int
) -> None:
    """200 spellings are drawn: of one row each, and in rows of thirty people."""
    source = Source(tmp_path_factory.mktemp("spellings"))
    source.run(
        "insert into marts.sessions select uuid()::varchar, person::varchar, text"
        " from (select unnest($texts) as text), range($people) as people (person)",
        texts=texts,
        people=people,
    )
    source.run("insert into marts.leaks select 'left at ' || unnest($texts)", texts=texts)

    masked = source.publish()

    assert source.unmasked_values() == set()
    assert masked == len({*texts, *(f"left at {text}" for text in texts)})
    assert ask(source.target, "from marts.leaks where not starts_with(reason, 'masked ')") == []


def test_a_prefix_of_vetl_before_a_word_does_not_mask_it(source: Source) -> None:
    source.run(
        "insert into marts.leaks values ('left at started'), ('task completed'), ('left at Doe, Jane'), (null)"
    )
    source.publish()

    reasons = {reason for (reason,) in ask(source.target, "from marts.leaks")}
    unmasked = {reason for reason in reasons if not (reason or "").startswith("masked ")}
    assert unmasked == {"left at started", "task completed", None}


def test_names_that_are_published_in_clear_are_not_looked_for(source: Source) -> None:
    source.add("jane doe", 5)

    source.publish({**PII, "clients": {"name": "clear", "phone": "clear", "email": "clear"}})

    assert source.unmasked_values() == {"jane doe"}


def test_a_word_that_changes_make_common_unmasks_the_rows_of_before(source: Source) -> None:
    source.add("winter", 4)
    assert source.publish() == 1
    source.build()
    source.add("winter", 5)

    assert source.publish() == 0
    assert source.unmasked_values() == {"winter"}


def test_a_later_person_masks_an_already_published_word(source: Source) -> None:
    source.add("summer field", 9)
    source.publish()
    assert source.unmasked_values() == {"summer field"}
    source.build()
    source.add("google", 1)
    source.run("insert into marts.clients values ('Summer Field', null, null)")

    source.publish()

    assert source.unmasked_values() == {"google"}


def test_a_masked_value_is_the_same_after_the_next_publication(source: Source) -> None:
    source.add("Doe, Jane", 1)
    source.publish()

    masked = "select distinct referral_source from marts.sessions where starts_with(referral_source, 'masked ')"
    before = ask(source.target, masked)
    source.build()
    source.add("google", 1)
    source.publish()

    assert len(before) == 1
    assert ask(source.target, masked) == before


COLUMNS = [column for endpoint in (*REGISTRY, *RECEIVED) for column in endpoint.columns() if column.values]
LISTING = (ROOT / "dbt/models/marts/practice/unknown_values.sql").read_text("utf-8")


def test_every_word_of_the_contract_is_published_as_it_is() -> None:
    words = {word for column in COLUMNS for word in column.values or ()}
    listing = LISTING.split("%}")[0]
    listed = {word.lower() for word in re.findall(r"'([A-Za-z_]+)'(?!, '\w+', \[)(?!, \[)", listing)}
    marts = set(re.findall(r"\('(\w+)', '", LISTING))
    assert len(words) > 50
    assert [word for word in sorted(words) if not is_label(word)] == []
    assert listed - marts <= COMMON_WORDS | words


def test_every_column_of_such_words_is_known() -> None:
    """The record models name the columns, and so does the mart of values that the models do not know."""
    listed = set(re.findall(r"\('\w+', '(\w+)', \[", LISTING))
    assert len(listed) > 10
    assert {column.name for column in COLUMNS} | listed <= SOURCE_WORDS
    personal = {column for columns in personal_columns(ROOT / "dbt").values() for column in columns}
    assert personal.isdisjoint(SOURCE_WORDS)
