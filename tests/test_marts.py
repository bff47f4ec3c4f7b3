from pathlib import Path

import pytest

from pipelines.bundled import dbt_project
from pipelines.core.errors import Permanent
from pipelines.loading.published.descriptions import personal_columns

DESCRIPTION = """
models:
  - name: clients
    columns:
      - name: client_id
      - name: email
        config:
          meta: {personal: contact}
      - name: remote_client_id
        config:
          meta: {unit: id}
"""


@pytest.fixture
def mart(tmp_path: Path) -> Path:
    """The description of a project's only mart, with a mistake."""
    path = tmp_path / "models" / "marts" / "practice" / "clients.sql"
    path.parent.mkdir(parents=True)
    path.write_text("select 1")
    return path


def test_marked_columns_are_named(tmp_path: Path, mart: Path) -> None:
    mart.with_suffix(".yml").write_text(DESCRIPTION)

    assert personal_columns(tmp_path) == {"clients": {"email": "contact"}}


def test_a_mart_without_personal_data_is_there_with_no_columns() -> None:
    assert personal_columns(dbt_project())["booking_funnel_daily"] == {}


def test_a_class_that_is_none_is_refused(tmp_path: Path, mart: Path) -> None:
    """If it counted as not personal, the column would be published in clear."""
    mart.with_suffix(".yml").write_text(DESCRIPTION.replace("contact", "kontakt"))

    with pytest.raises(Permanent, match=r"clients\.yml: email is kontakt; known are name, contact, text"):
        personal_columns(tmp_path)


@pytest.mark.usefixtures("mart")
def test_a_mart_without_a_description_is_refused(tmp_path: Path) -> None:
    """Without its columns it is unknown whether any of them is personal."""
    with pytest.raises(Permanent, match=r"clients\.yml: does not describe the mart clients"):
        personal_columns(tmp_path)


@pytest.mark.parametrize("content", ["", "models: [{name: patients}]", "sources: []"])
def test_a_description_of_something_else_is_refused(tmp_path: Path, mart: Path, content: str) -> None:
    mart.with_suffix(".yml").write_text(content)

    with pytest.raises(Permanent, match="does not describe the mart clients"):
        personal_columns(tmp_path)


def test_a_description_that_is_not_yaml_is_refused_in_one_line(tmp_path: Path, mart: Path) -> None:
    mart.with_suffix(".yml").write_text("models: [")

    with pytest.raises(Permanent, match=r"clients\.yml: not YAML") as refused:
        personal_columns(tmp_path)

    assert "\n" not in str(refused.value)


def test_a_python_mart_must_be_described_too(tmp_path: Path, mart: Path) -> None:
    mart.rename(mart.with_suffix(".py"))

    with pytest.raises(Permanent, match="does not describe the mart clients"):
        personal_columns(tmp_path)


def test_a_folder_without_marts_is_refused(tmp_path: Path) -> None:
    """Without a class, every column would be published in clear."""
    with pytest.raises(Permanent, match="no marts here"):
        personal_columns(tmp_path)
