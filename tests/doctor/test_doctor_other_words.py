"""First syncs, without doctor, of servers with other parameter names and values than the sandbox."""

from collections.abc import Callable
from typing import Any

import pytest
from support.lying_proxy import lying
from support.platform_and_settings import Clinic

Words = Callable[[str, dict[str, Any]], None]


def numbers_as_text(_path: str, page: dict[str, Any]) -> None:
    for name in ("page", "per_page", "total_pages", "total_count"):
        if name in page:
            page[name] = str(page[name])


def the_total_alone(_path: str, page: dict[str, Any]) -> None:
    for name in ("page", "per_page", "total_pages"):
        page.pop(name, None)
    page["links"] = {"next": "/somewhere"}


def null_for_an_empty_list(_path: str, page: dict[str, Any]) -> None:
    if not page["total_count"]:
        page["content"] = None


def pages_as_people_count(_path: str, page: dict[str, Any]) -> None:
    """Echo pages that count from 1, and the number of rows as the size."""
    page["page"] = page.get("page", 0) + 1
    page["per_page"] = len(page["content"])


def times_without_offset_and_ids_as_numbers(_path: str, page: dict[str, Any]) -> None:
    for row in page["content"]:
        for name, value in row.items():
            if name.endswith("_at") and value:
                row[name] = value.removesuffix("Z").replace("-", "").replace(":", "").replace(".", ",")
            elif name == "id" and str(value).isdigit() and str(int(value)) == str(value):
                row[name] = int(value)


def numbers_as_text_and_other_times(path: str, page: dict[str, Any]) -> None:
    numbers_as_text(path, page)
    times_without_offset_and_ids_as_numbers(path, page)


def the_total_alone_and_null_for_an_empty_list(path: str, page: dict[str, Any]) -> None:
    null_for_an_empty_list(path, page)
    the_total_alone(path, page)


@pytest.mark.parametrize(
    "words",
    [numbers_as_text_and_other_times, the_total_alone_and_null_for_an_empty_list, pages_as_people_count],
)
def test_it_is_certified_and_equals_the_truth(clinic: Clinic, words: Words) -> None:
    with lying(clinic.platform.base_url, words) as base_url:
        settings = clinic.config.read_text()
        clinic.config.write_text(settings.replace(clinic.platform.base_url, base_url))
        result = clinic.sync()

    assert result.exit_code == 0, result
    assert clinic.differences() == []
