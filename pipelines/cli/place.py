"""The folder that a command works in, and the file that it reads its settings from: `-C` and `--config`."""

import os
from pathlib import Path

from pipelines.core.errors import WrongUse


def enter(folder: Path | None, config: Path | None) -> None:
    """Change to `folder`, then read `config` instead of `vetl.toml`. A relative `config` starts at `folder`.

    The file is named in the environment, so that the processes that a command starts read it too.

    Raises:
        WrongUse: the folder cannot be entered.
    """
    if folder:
        try:
            os.chdir(folder)
        except OSError as error:
            raise WrongUse(f"-C {folder}: {error.strerror}") from None
    if config:
        from pipelines.settings.sources import CONFIG_VARIABLE  # noqa: PLC0415 - heavy, and not needed for `--help`

        os.environ[CONFIG_VARIABLE] = str(config.expanduser().absolute())
