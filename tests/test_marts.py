"""Marts whose columns are not classified as personal or not are refused."""

from pathlib import Path

import pytest
from vetl.core.errors import Permanent
from vetl.publishing.descriptions import personal_columns

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


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (DESCRIPTION.replace("contact", "kontakt"), "email is kontakt; known are name, contact, text"),
        ("models: [{name: patients}]", "does not describe the mart clients"),
        ("sources: []", "does not describe the mart clients"),
        ("", "does not describe the mart clients"),
        ("models: [", "not YAML"),
        (None, "does not describe the mart clients"),
    ],
)
@pytest.mark.parametrize("suffix", [".sql", ".py"])
def test_a_mart_is_refused_if_its_personal_columns_are_not_known(
    tmp_path: Path, mart: Path, suffix: str, content: str | None, why: str
) -> None:
    """Its columns would count as not personal, and would be published in clear."""
    if content is not None:
        mart.with_suffix(".yml").write_text(content)
    mart.rename(mart.with_suffix(suffix))

    with pytest.raises(Permanent, match=rf"clients\.yml: {why}") as refused:
        personal_columns(tmp_path)

    assert "\n" not in str(refused.value)


def test_a_folder_without_marts_is_refused(tmp_path: Path) -> None:
    """Without a class, every column would be published in clear."""
    with pytest.raises(Permanent, match="no marts here"):
        personal_columns(tmp_path)
