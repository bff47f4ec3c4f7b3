"""A dbt project with few of vetl's models: some of them, all that they are made from, and tests of both.

A build of it takes the same steps as a build of the whole project.
"""

import re
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import yaml
from vetl import bundled
from vetl.bundled import dbt_project

READ_BY_VETL = ("practices", "proof", "int_time_boundaries")
BOUNDARIES = """{{ config(materialized='table') }}
select 'the day ends' as what, min(days.ends_at) as next_at
from {{ ref('int_practice_days') }} as days cross join {{ ref('int_source_clock') }} as clock
where days.ends_at > clock.source_clock
"""
"""The next change that only time causes. The real model needs all models of booking requests."""
LEFT_OUT = shutil.ignore_patterns("target", "logs", "exposures", "metrics")
MACRO = re.compile(r"{%-? macro (\w+)\(.*?{%-? endmacro", re.DOTALL)


def small_project(folder: Path, *models: str) -> Path:
    """Return the folder of a new project with these models in the given folder."""
    project = folder / "dbt"
    shutil.copytree(dbt_project(), project, ignore=LEFT_OUT)
    settings = yaml.safe_load((project / "dbt_project.yml").read_text("utf-8"))
    del settings["data_tests"]["vetl"]["intermediate"]  # dbt warns of unused settings, and parses again each time
    (project / "dbt_project.yml").write_text(yaml.safe_dump(settings), "utf-8")
    for description in (project / "models").rglob("*.yml"):
        described = yaml.safe_load(description.read_text("utf-8"))
        described.pop("unit_tests", None)  # their inputs may be models that are left out
        for model in described.get("models", ()) if "intermediate" in description.parts else ():
            for tested in (model, *model.get("columns", ())):
                tested.pop("data_tests", None)  # they are half of all tests
        description.write_text(yaml.safe_dump(described), "utf-8")
    files = {path.stem: path for path in (project / "models").rglob("*.sql")}
    files["int_time_boundaries"].write_text(BOUNDARIES, "utf-8")
    wanted = _with_inputs({*READ_BY_VETL, *models}, project, files)
    for name in files.keys() - wanted:
        files[name].unlink()
        files[name].with_suffix(".yml").unlink()
    return project


@contextmanager
def few_models(folder: Path, *models: str) -> Generator[None]:
    """Let vetl build such a project in place of its own."""
    few = small_project(folder, *models)
    with patch.object(bundled, "dbt_project", lambda: few):
        yield


def _with_inputs(models: set[str], project: Path, files: dict[str, Path]) -> set[str]:
    """Return the models, and those that their text, their tests or the macros in it name."""
    macros = {
        found[1]: found[0]
        for path in (project / "macros").rglob("*.sql")
        for found in MACRO.finditer(path.read_text("utf-8"))
    }
    wanted, ahead = set[str](), [*models]
    while ahead:
        name = ahead.pop()
        if name in wanted or (name not in files and name not in macros):
            continue
        wanted.add(name)
        text = macros.get(name) or files[name].read_text("utf-8") + files[name].with_suffix(".yml").read_text(
            "utf-8"
        )
        ahead += [macro for macro in macros if f"{macro}(" in text]
        quoted = re.findall(r"ref\('(\w+)'|'((?:stg|int)_\w+)'", text)
        named = {one or other for one, other in quoted}
        ahead += [model for model in files if model in named or f"{model.partition('__')[0]}__" in named]
    return wanted & files.keys()
