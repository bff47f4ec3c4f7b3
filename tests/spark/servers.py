"""Spark as on another machine: a Connect server."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from spark.on_spark import write_defaults
from support.processes import free_port, listens, running, until

_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def connect(python: Path, folder: Path) -> Generator[str]:
    """Run a Connect server with two cores and a catalogue of its own; yield its address."""
    port = free_port()
    own = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(port)}
    environment = {**os.environ, "SPARK_CONF_DIR": str(write_defaults(folder / "conf", own))}
    command = [_script(python, "spark-submit"), "--master", "local[2]", "--class", _CONNECT]
    with running(command, folder, environment):
        until("the Connect server", lambda: listens(port))
        yield f"sc://127.0.0.1:{port}"


def _script(python: Path, name: str) -> str:
    [script] = python.parent.parent.glob(f"lib/python*/site-packages/pyspark/bin/{name}")
    return str(script)
