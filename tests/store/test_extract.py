"""`vetl publish --for`: a file with the practices of one group, and nothing of the others in any byte."""

import shutil
from pathlib import Path

import pytest
from support.practice_site import practice_table
from support.published import published_once
from support.warehouse_with_rows import ask as rows_of
from vetl.cli import app
from vetl.core.errors import WarehouseError
from vetl.figures.ask import MetricQuestion, ask
from vetl.publishing.copies import extract
from vetl.publishing.digests import verify


def test_a_file_for_a_group_has_its_practices_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = published_once()
    file = Path(shutil.copy(published, tmp_path / "analytics.duckdb"))
    rows = rows_of(file, "select practice_id, name, time_zone, history_start from marts.practices order by 1")
    groups = ("group = 'East Side'\n", *["group = 'West'\n"] * (len(rows) - 1))
    tables = "".join(
        practice_table(key, name=name, time_zone=zone, start=start, more=group)
        for (key, name, zone, start), group in zip(rows, groups, strict=True)
    )
    (tmp_path / "vetl.toml").write_text(f"[warehouse]\npublished = 'analytics.duckdb'\n{tables}", "utf-8")
    monkeypatch.chdir(tmp_path)

    assert app.execute(["publish", "--for", "East Side"]) == 0
    assert app.execute(["publish", "--for", "East Side"]) == 0  # it replaces its own file
    assert app.execute(["publish", "--for", "Nord"]) == 2

    own = tmp_path / "analytics.east-side.duckdb"
    content = own.read_bytes()
    assert b"loc-001" in content
    assert not any(text.encode() in content for key, name, *_ in rows[1:] for text in (key, name))
    assert verify(own).different == ()
    here, all_of = (ask(one, MetricQuestion("calls", ("practice",))).rows for one in (own, file))
    assert here == [row for row in all_of if row[0] == "loc-001"]


def test_it_replaces_no_other_file(tmp_path: Path) -> None:
    published = published_once()
    other = tmp_path / "notes.duckdb"
    other.write_text("mine")
    with pytest.raises(WarehouseError, match="vetl did not publish it"):
        extract(published, other, ["loc-001"])
    with pytest.raises(WarehouseError, match="is the published file"):
        extract(published, published, ["loc-001"])
    assert other.read_text() == "mine"
