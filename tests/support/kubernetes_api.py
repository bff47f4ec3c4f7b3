"""The part of Kubernetes' interface that Dagster's launcher uses; a job's container is a process here."""

import json
import re
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import yaml
from support.processes import serving

_JOB = re.compile(r"^/apis/batch/v1/namespaces/default/jobs/([\w-]+)/status$")


@dataclass
class Cluster:
    """A substitute for a cluster. `jobs` has the posted jobs by name; processes get `environment`."""

    environment: Mapping[str, str]
    folder: Path
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    _processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def create(self, job: dict[str, Any]) -> None:
        name = job["metadata"]["name"]
        [container] = job["spec"]["template"]["spec"]["containers"]
        variables = {one["name"]: one["value"] for one in container.get("env", ()) if "value" in one}
        with (self.folder / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                container["args"],
                cwd=self.folder,
                env={**self.environment, **variables},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.jobs[name] = job

    def status(self, name: str) -> dict[str, int]:
        code = self._processes[name].poll()
        return {"active": 1} if code is None else {"succeeded": 1} if code == 0 else {"failed": 1}

    def end(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait(60)


@contextmanager
def kubernetes(cluster: Cluster, kubeconfig: Path) -> Generator[None]:
    """Serve the cluster on a port of its own, which `kubeconfig` then names."""

    class Interface(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            job = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            cluster.create(job)
            self._answer(201, job)

        def do_GET(self) -> None:
            asked = _JOB.match(self.path)
            if asked and asked[1] in cluster.jobs:
                self._answer(200, {**cluster.jobs[asked[1]], "status": cluster.status(asked[1])})
            elif self.path.startswith("/api/v1/namespaces/default/pods"):  # for the report of a failure
                self._answer(200, {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": []})
            else:
                self._answer(404, {"kind": "Status", "status": "Failure", "code": 404})

        def _answer(self, code: int, document: Mapping[str, Any]) -> None:
            body = json.dumps(document).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with serving(Interface) as address:
        named = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
            "clusters": [{"name": "here", "cluster": {"server": address}}],
            "users": [{"name": "me", "user": {}}],
        }
        kubeconfig.write_text(yaml.safe_dump(named), "utf-8")
        try:
            yield
        finally:
            cluster.end()
