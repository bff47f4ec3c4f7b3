"""Every check after each job of a story, as Dagster's pages show it: passed, failed with its reason, or as it was."""

from collections.abc import Generator, Sequence
from typing import Any

import dagster as dg
import pytest
from support.dagster_site import Site, site_of
from support.processes import graphql

from pipelines.orchestration.read_config import Again, run_config
from sandbox.platform import Credentials

CHECKS = """{ assetNodes { assetKey { path } assetChecksOrError { ... on AssetChecks { checks { name
  executionForLatestMaterialization { status runId evaluation { success severity description } } } } } } }"""
ONE_MART = dg.AssetKey(["marts", "staff_tasks"])
TASKS = ("partner/staff_tasks", "certified")

Check = tuple[str, str]
Shown = dict[Check, dict[str, Any] | None]


def shown(site: Site) -> Shown:
    """The last execution of every check, by asset and name; none if the check has never been run."""
    nodes = graphql(site.pages, CHECKS)["assetNodes"]
    return {
        ("/".join(node["assetKey"]["path"]), check["name"]): check["executionForLatestMaterialization"]
        for node in nodes
        for check in node["assetChecksOrError"].get("checks", ())
    }


def of_status(checks: Shown, *statuses: str) -> set[Check]:
    return {key for key, execution in checks.items() if execution and execution["status"] in statuses}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[Site]:
    folder = tmp_path_factory.mktemp("checks")
    with site_of(folder, practices=2, days=10, calls=80, location="pipelines.definitions") as site:
        yield site


def after(site: Site, job: str, config: Any = None, assets: Sequence[dg.AssetKey] = ()) -> tuple[bool, Shown]:
    """Whether a run of the job worked, and every check after it; each check has a result, or was never run."""
    run = site.ended(site.launch(job, config, assets))
    checks = shown(site)
    assert of_status(checks, "EXECUTION_FAILED", "SKIPPED", "IN_PROGRESS") == set(), run.run_id
    return run.is_success, checks


def test_no_check_is_shown_as_failed_that_was_not_run(site: Site) -> None:
    is_success, checks = after(site, "everything")
    assert is_success
    yellow = of_status(checks, "FAILED")
    assert yellow <= {("published/analytics", "volume")}  # the calls of ten days are few
    tested = of_status(checks, "SUCCEEDED")
    assert len(tested) > 200

    for job in ("drain", "watch", "everything", "build"):
        is_success, checks = after(site, job)
        assert (is_success, of_status(checks, "SUCCEEDED")) == (True, tested), job
    is_success, checks = after(site, "everything", run_config(Again.recent))
    assert (is_success, of_status(checks, "SUCCEEDED")) == (True, tested)
    is_success, checks = after(site, "__ASSET_JOB", assets=[ONE_MART])
    assert (is_success, of_status(checks, "SUCCEEDED")) == (True, tested)

    # The platform refuses a practice: the checks of its lists are red, each with the practice and the reason.
    gone = site.platform.practices[1].id
    taken = site.platform.platform.world.practices.pop(gone)
    is_success, checks = after(site, "everything")
    assert not is_success
    assert {name for _, name in of_status(checks, "FAILED") - yellow} == {"certified"}
    assert TASKS in of_status(checks, "FAILED")
    site.platform.platform.world.practices[gone] = taken

    # Nobody can sign in: the steps after the lists are skipped, and each of their checks keeps its last result.
    password = site.platform.password
    site.platform.platform.credentials = Credentials(password="another")
    site.platform.platform.revoke_tokens()
    before = of_status(checks, "SUCCEEDED")
    is_success, checks = after(site, "everything")
    assert not is_success
    assert of_status(checks, "SUCCEEDED") == before
    kept = checks["published/analytics", "volume"]
    assert kept
    assert "sign-in refused" in kept["evaluation"]["description"]
    assert "Not run since" in kept["evaluation"]["description"]

    site.platform.platform.credentials = Credentials(password=password)
    is_success, checks = after(site, "everything")
    assert (is_success, of_status(checks, "FAILED")) == (True, yellow)
