"""The commands that only look, and the one that writes the first settings."""

import os
from pathlib import Path
from secrets import token_hex

from pipelines import bundled
from pipelines.cli.terminal import mention, print_json, short
from pipelines.core.errors import ConfigurationError
from pipelines.settings.sources import DEFAULT_FILE

_SECRETS = """\
# Secrets of vetl; keep this file to its owner (chmod 600) and out of version control.
# VETL_PARTNER__USERNAME=
# VETL_PARTNER__PASSWORD=
# VETL_PARTNER__ROLE=
# VETL_WEBHOOKS__SECRETS=

# With this key, drawn at random, personal data is published as hashes that still join; without it, as null.
# VETL_WAREHOUSE__PII_KEY={key}
"""


def init(*, as_json: bool) -> int:
    """`vetl init`: the commented example as `vetl.toml` in the working directory, and `.env` for the secrets."""
    target = Path.cwd() / DEFAULT_FILE
    secrets = target.with_name(".env")
    if not _written(target, bundled.example_settings().read_text("utf-8")):
        raise ConfigurationError(f"{target}: is already there and stays as it is")
    has_written = _written(secrets, _SECRETS.format(key=token_hex(32)))
    if as_json:
        print_json({"exit_code": 0, "path": target, "secrets": secrets if has_written else None})
    else:
        mention(f"wrote {short(target)}; set base_url and practices there")
        kept = "wrote" if has_written else "kept"
        mention(f"{kept} {short(secrets)}; set the credentials there, or in the environment")
        mention("then `vetl doctor` tells whether they fit the platform")
    return 0


def _written(target: Path, content: str) -> bool:
    """A new file for its owner alone; `False` where there is one already."""
    try:
        new = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(new, "w", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        return False
    except OSError as error:
        raise ConfigurationError(f"{target}: cannot be written: {error.strerror}") from None
    return True
