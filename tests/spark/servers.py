"""Spark as on several machines: a standalone master with workers, and a Connect server."""

import os
import signal
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from spark.on_spark import write_defaults
from support.processes import free_port, listens, running, until

_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def standalone(python: Path, folder: Path) -> Generator[tuple[str, Callable[[], None]]]:
    """Run a standalone master with two workers; yield a function that kills the first with its executors."""
    script = _script(python, "spark-class")
    address, deploy = free_port(), "org.apache.spark.deploy"
    master = f"spark://127.0.0.1:{address}"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    with ExitStack() as stack:
        ports = ["--port", str(address), "--webui-port", str(free_port())]
        command = [script, f"{deploy}.master.Master", "--host", "127.0.0.1", *ports]
        stack.enter_context(running(command, folder, environment))
        each = ["--cores", "1", "--memory", "2G", "--host", "127.0.0.1", "--work-dir", str(folder / "work")]
        workers = [
            stack.enter_context(
                running(
                    [script, f"{deploy}.worker.Worker", *each, "--webui-port", port, master],
                    folder,
                    environment,
                )
            )
            for port in (str(free_port()), str(free_port()))
        ]
        until("the master", lambda: listens(address))
        yield master, lambda: os.killpg(workers[0].pid, signal.SIGKILL)


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
