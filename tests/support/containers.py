"""What a container or a unit gives to its command: files, user and environment; without Docker, by bubblewrap.

All share one network of their own, so that ports are those of the files and nothing else is reached.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENVIRONMENT = Path(sys.prefix)
USER = 10001
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ssl", "/etc/passwd", "/etc/ld.so.cache", "/etc/alternatives")


@dataclass(frozen=True)
class Given:
    """A command, its variables, and its mounts: the folder or file at each path, and whether it may be written."""

    command: Sequence[str]
    environment: Mapping[str, str]
    mounts: Mapping[str, tuple[Path, bool]]
    scratch: Sequence[str] = field(default=("/tmp",))

    def line(self, network: int, command: Sequence[str] | None = None) -> list[str]:
        """Return the command line that runs it, or another command in its place, as the user of the image."""
        installed = {str(path): (path, False) for path in (ROOT, ENVIRONMENT, Path(sys.base_prefix))}
        mounts = {**installed, "/opt/vetl": (ENVIRONMENT, False), **self.mounts}
        # bubblewrap makes missing parents for its own user alone.
        parents = dict.fromkeys(parent for path in mounts for parent in [*reversed(Path(path).parents)][1:])
        binds = [part for parent in parents for part in ("--perms", "0755", "--dir", str(parent))]
        binds += [part for path in SYSTEM for part in ("--ro-bind-try", path, path)]
        binds += [part for path in ("/dev/shm", *self.scratch) for part in ("--perms", "1777", "--tmpfs", path)]
        for path, (source, may_write) in mounts.items():
            binds += ["--bind" if may_write else "--ro-bind", str(source), path]
        return [
            *("nsenter", f"--net=/proc/{network}/ns/net", "bwrap", "--proc", "/proc", "--dev", "/dev", *binds),
            *("--unshare-pid", "--die-with-parent", "--chdir", "/var/lib/vetl", "--clearenv"),
            *(part for name, value in self.environment.items() for part in ("--setenv", name, value)),
            *("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--remount-ro", "/"),
            *("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs"),
            *(command or self.command),
        ]


@contextmanager
def network() -> Generator[int]:
    """Provide a network with nothing but its own loopback: the process that holds it."""
    reading, writing = os.pipe()
    command = ["bwrap", "--unshare-net", "--ro-bind", "/", "/", "--info-fd", str(writing), "sleep", "infinity"]
    with subprocess.Popen(command, pass_fds=[writing]) as holder:
        os.close(writing)
        with os.fdopen(reading) as told:
            inside: int = json.load(told)["child-pid"]
        try:
            yield inside
        finally:
            os.kill(inside, 9)
            holder.wait()


def image_environment() -> dict[str, str]:
    """Return the variables of the image."""
    text = (ROOT / "deploy/Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = " ".join(re.findall(r"^ENV (.*)$", text.rpartition("\nFROM ")[2], re.MULTILINE))
    variables = {name: value for name, _, value in (part.partition("=") for part in lines.split())}
    return {**variables, "PATH": variables["PATH"].replace("$PATH", "/usr/local/bin:/usr/bin:/bin")}
