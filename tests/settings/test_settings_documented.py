"""vetl.example.toml and the variables of the dbt project agree with the settings."""

import re
import tomllib
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from pipelines import bundled
from pipelines.core.endpoint import QueryNames
from pipelines.core.practice import Practice
from pipelines.settings import ENVIRONMENT_ONLY, Settings, load_settings
from pipelines.settings.definitions import DefinitionsSettings


def test_the_example_is_valid_as_it_is() -> None:
    settings = load_settings(bundled.example_settings())

    assert [practice.id for practice in settings.practices] == ["loc-001"]


def test_the_example_names_every_key_and_says_the_defaults() -> None:
    """A setting without documentation fails here; so does a setting whose default has changed."""
    text = bundled.example_settings().read_text("utf-8")
    everything = tomllib.loads(re.sub(r"^# (?=\w+ = |\[)", "", text, flags=re.MULTILINE))
    defaults = load_settings().model_dump(mode="json")

    for section, keys in sections():
        documented = everything.get(section, {})  # a section may have secrets alone
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


WITHOUT_DEFAULT = {
    "base_url", "requests_per_minute", "requests_per_minute_total", "memory_limit", "temp_directory", "parameters",
    "user_header", "email_to", "smtp_username", "endpoint", "master", "thresholds", "users", "recipients", "link",
    "folder",
}  # fmt: skip


def assert_default(section: str, key: str, documented: object, defaults: dict[str, Any]) -> None:
    default: Any = project_default(key) if section == "definitions" else defaults[section][key]
    if key in WITHOUT_DEFAULT:
        return
    paths = {"path", "published", "inbox", "marts", "scratch", "ledger", "stop_file", "passwords", "audit"}
    if key in paths and isinstance(default, str):
        assert default.endswith(str(documented))
    else:
        assert default == documented


def project_default(key: str) -> object:
    """Return the definition of the dbt project, which holds if the settings have none."""
    if key == "phone_regions":
        return {"loc-001": "US"}
    variables = yaml.safe_load((bundled.dbt_project() / "dbt_project.yml").read_text("utf-8"))["vars"]
    hours = {"opens": "opening_hour", "closes": "closing_hour", "weekdays": "opening_weekdays"}
    return {name: variables[one] for name, one in hours.items()} if key == "opening_hours" else variables[key]


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
    variables = yaml.safe_load((bundled.dbt_project() / "dbt_project.yml").read_text("utf-8"))["vars"]
    hours = {"opening_hour", "closing_hour", "opening_weekdays"}
    others = {"instant", "local_time", "lists", "windows"}

    settable = {*DefinitionsSettings.model_fields, *hours} - {"opening_hours", "phone_regions"}
    assert settable == variables.keys() - others
