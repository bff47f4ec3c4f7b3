"""The shown file: read-only, always the newest, and no page breaks if it lacks something."""

from pathlib import Path

import duckdb
import pytest
from board.published import MissingError, UnreadableError, now_published
from streamlit.testing.v1 import AppTest
from support.dashboard_pages import Copied, Open
from vetl.publishing.marts import table_of


def metrics(page: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in page.metric}


def test_a_new_file_is_shown_without_a_restart(opened: Open, copied: Copied) -> None:
    file = copied()
    page = opened("online-booking", file)
    before = metrics(page)

    copied("delete from marts.booking_funnel_daily where referral_source = 'google'")
    page.run()

    assert before["Sessions"] != metrics(page)["Sessions"]
    assert not page.exception


def test_the_old_file_is_read_until_the_page_is_drawn_again(copied: Copied) -> None:
    """A user who sees the old file and opens another part gets no mixture of the two."""
    old = now_published(copied())
    count = old.ask("select count(*) from marts.booking_sessions").item()
    new = now_published(copied("delete from marts.booking_sessions"))

    assert new != old
    assert new.ask("select count(*) from marts.booking_sessions").item() == 0
    assert count > 0


WRITES = ("delete from published.marts.practices", "copy (select 1) to 'x.csv'")


@pytest.mark.parametrize("statement", [*WRITES, "from read_text('/etc/passwd')"])
def test_nothing_can_be_written_and_no_other_file_read(published: Path, statement: str, tmp_path: Path) -> None:
    with pytest.raises((duckdb.Error, AttributeError, MissingError)):
        now_published(published).ask(statement)
    assert not list(tmp_path.glob("*.csv"))
    assert now_published(published).ask("select count(*) from marts.practices").item() == 2


@pytest.mark.parametrize(
    "path", ["", "call-back", "phones", "appointments", "online-booking", "outreach", "tasks", "health"]
)
def test_an_older_file_lacks_a_part_and_the_page_says_which(opened: Open, copied: Copied, path: str) -> None:
    """Every mart but the practices is gone: each part of each page names one, and the remedy."""
    with duckdb.connect(copied(), read_only=True) as connection:
        marts = [name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()]
    page = opened(path, copied(*(f"drop table {table_of(name)}" for name in marts if name != "practices")))

    assert not page.exception
    assert page.warning
    for warning in page.warning:
        assert warning.value.startswith("This file has no `")
        assert "vetl build --full-refresh" in warning.value


def test_a_missing_column_is_named(copied: Copied) -> None:
    file = now_published(copied("alter table marts.booking_funnel_daily drop column referral_medium"))

    with pytest.raises(MissingError, match="`referral_medium`"):
        file.ask("select referral_medium from marts.booking_funnel_daily")


def test_no_file_and_no_database_are_one_line(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "broken.duckdb").write_bytes(b"not a database" * 1000)

    assert "`vetl run` makes it" in opened(file=tmp_path / "none.duckdb").error[0].value
    assert "not a valid DuckDB database" in opened(file=tmp_path / "broken.duckdb").error[0].value
    with pytest.raises(UnreadableError):
        now_published(tmp_path / "none.duckdb")


def test_a_file_without_a_practice_shows_the_remedy(opened: Open, copied: Copied) -> None:
    page = opened(file=copied("delete from marts.practices"))

    assert "`vetl run` reads the first" in page.info[0].value
