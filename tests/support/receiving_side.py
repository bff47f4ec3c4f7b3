"""vetl's receiver in a process of its own, beside a platform that runs in this one."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import sandbox
from pipelines.cli.demo_webhooks import receiver
from pipelines.cli.sandbox import Platform


@contextmanager
def receiving(folder: Path, platform: sandbox.Handle) -> Generator[str]:
    """The receiver's address; its inbox lies in the folder, where the defaults put it."""
    described = Platform(
        base_url=platform.base_url,
        username=platform.username,
        password=platform.password,
        role=platform.role,
        webhook_secret=platform.webhook_secret,
        practices=tuple(platform.describe()["practices"]),
        clock=platform.now(),
    )
    with receiver(folder, described) as address:
        yield address
