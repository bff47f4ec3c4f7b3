"""The working folder (`-C`) and the settings file (`--config`) of a command."""

import os
from pathlib import Path

from vetl.core.errors import WrongUse


def enter(folder: Path | None, config: Path | None) -> None:
    """Change to `folder`, and read settings from `config` instead of `vetl.toml`.

    A relative `config` starts at `folder`. Its path is put into the environment, so that child processes read the
    same file.

    Raises:
        WrongUse: the folder cannot be entered.
    """
    if folder:
        try:
            os.chdir(folder)
        except OSError as error:
            raise WrongUse(f"-C {folder}: {error.strerror}") from None
    if config:
        from vetl.settings.sources import CONFIG_VARIABLE  # noqa: PLC0415 - heavy, and not needed for `--help`

        os.environ[CONFIG_VARIABLE] = str(config.expanduser().absolute())
