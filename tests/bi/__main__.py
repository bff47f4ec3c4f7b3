"""Run Superset over a published file, and compare a chart's data with the mart.

`make superset`; `python -m bi --python PYTHON` runs it with the Python of an environment that has Superset.
Database, dataset and chart are made by Superset's API.
"""

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import httpx
from support.dashboard_browser import answered
from support.processes import free_port
from support.published import publish_small

MART, MEASURE, BY = "practice_weekly", "leaks", "practice_id"


def main() -> None:
    """Publish a small platform's marts and show one mart in a chart; return 1 if the chart differs."""
    parser = argparse.ArgumentParser(prog="python -m bi")
    parser.add_argument("--python", type=Path, required=True, help="of the environment that has Superset")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        published = publish_small(home / "vetl").resolve()
        with _superset(options.python.absolute(), home) as superset:
            shown = _chart(superset, f"duckdb:///{published}?access_mode=READ_ONLY")
        with duckdb.connect(published, read_only=True) as connection:
            mart = connection.execute(
                f"select {BY}, sum({MEASURE})::bigint from marts.{MART} group by all order by all"
            ).fetchall()
    if not mart or shown != mart:
        sys.exit(f"Superset's chart shows {shown}, the mart has {mart}")
    sys.stdout.write(f"Superset's chart of {MEASURE} by {BY} is that of the mart: {shown}\n")


@contextmanager
def _superset(python: Path, home: Path) -> Generator[httpx.Client]:
    """A running Superset in a folder of its own, with a signed-in session."""
    password = secrets.token_urlsafe()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "FLASK_APP": "superset",
        "SUPERSET_CONFIG_PATH": str(Path(__file__).with_name("superset_config.py")),
        "SUPERSET_HOME": str(home),
        "SUPERSET_SECRET_KEY": secrets.token_urlsafe(42),
    }
    command = python.with_name("superset")
    admin = ["--username", "admin", "--firstname", "A", "--lastname", "B", "--email", "a@example.org"]
    with (home / "superset.log").open("w") as log:
        for step in (["db", "upgrade"], ["fab", "create-admin", *admin, "--password", password], ["init"]):
            done = subprocess.run([command, *step], env=environment, check=False, stdout=log, stderr=log)
            if done.returncode:
                sys.exit(f"superset {step[0]} ended with {done.returncode}:\n{Path(log.name).read_text()[-2000:]}")
        port = free_port()
        serve = [command, "run", "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(serve, env=environment, stdout=log, stderr=log)
        try:
            answered(f"http://127.0.0.1:{port}/health", process)
            with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=120) as client:
                signed_in = _made(
                    client, "security/login", username="admin", password=password, provider="db", refresh=False
                )
                client.headers["Authorization"] = f"Bearer {signed_in['access_token']}"
                yield client
        finally:
            process.terminate()
            process.wait(30)


def _chart(superset: httpx.Client, uri: str) -> list[tuple[str, int]]:
    """Return the rows of a chart over the mart, one for each practice."""
    database = _made(superset, "database/", database_name="vetl", sqlalchemy_uri=uri)["id"]
    dataset = _made(superset, "dataset/", database=database, schema="marts", table_name=MART)["id"]
    measure = {"expressionType": "SQL", "sqlExpression": f"sum({MEASURE})", "label": MEASURE}
    query = {"columns": [BY], "metrics": [measure], "orderby": [[BY, True]], "row_limit": 1000}
    chart = _made(
        superset,
        "chart/",
        slice_name="Booking requests not booked, by practice",
        viz_type="table",
        datasource_id=dataset,
        datasource_type="table",
        params=json.dumps({"viz_type": "table", "query_mode": "aggregate", "groupby": [BY], "metrics": [measure]}),
        query_context=json.dumps(
            {"datasource": {"id": dataset, "type": "table"}, "queries": [query], "result_format": "json"}
        ),
    )["id"]
    answer = superset.get(f"chart/{chart}/data/")
    answer.raise_for_status()
    return [(row[BY], row[MEASURE]) for row in answer.json()["result"][0]["data"]]


def _made(superset: httpx.Client, what: str, **body: Any) -> dict[str, Any]:
    answer = superset.post(what, json=body)
    if answer.is_error:
        sys.exit(f"Superset answered {answer.status_code} to {what}: {answer.text[:500]}")
    return dict(answer.json())


if __name__ == "__main__":
    main()
