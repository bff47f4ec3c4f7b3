"""`vetl init`: write the first settings of a folder."""

import os
import sys
from pathlib import Path
from secrets import token_hex

from vetl import bundled
from vetl.cli.first_settings import FirstAnswers, ask, filled
from vetl.cli.terminal import mention, print_json, short, this_command
from vetl.core.errors import ConfigurationError, cannot_write
from vetl.settings.sources import DEFAULT_FILE

_SECRETS = """\
# Secrets of vetl; keep this file to its owner (chmod 600) and out of version control.
# VETL_PARTNER__USERNAME=
# VETL_PARTNER__PASSWORD=
# VETL_PARTNER__ROLE=
# VETL_WEBHOOKS__SECRETS=

# With this key, drawn at random, personal data is published as hashes that still join; without it, as null.
# VETL_WAREHOUSE__PII_KEY={key}
"""


_IGNORED = """\
.env
warehouse/
*.log
"""


def init(*, as_json: bool) -> int:
    """Run `vetl init`: write `vetl.toml`, `.env` and `.gitignore` into the working directory.

    On a terminal, ask for the address and the practices first.

    Raises:
        ConfigurationError: `vetl.toml` exists already, or a file cannot be written.
    """
    target = Path.cwd() / DEFAULT_FILE
    if target.exists():
        raise ConfigurationError(f"{target}: exists already and was not changed")
    settings = bundled.example_settings().read_text("utf-8")
    answers = _answers() if sys.stdin.isatty() and not as_json else None
    if not _write_new(target, filled(settings, answers) if answers else settings):
        raise ConfigurationError(f"{target}: exists already and was not changed")
    secrets, ignored = target.with_name(".env"), target.with_name(".gitignore")
    has_written = _write_new(secrets, _SECRETS.format(key=token_hex(32)))
    has_ignored = _write_new(ignored, _IGNORED)
    if as_json:
        print_json({"exit_code": 0, "path": target, "secrets": secrets if has_written else None})
        return 0
    still_open = " and ".join(key for key, answer in _open_keys(answers).items() if not answer)
    mention(f"wrote {short(target)}" + (f"; set {still_open} there" if still_open else ""))
    mention(f"{'wrote' if has_written else 'kept'} {short(secrets)}; set the credentials there")
    mention(f"{'wrote' if has_ignored else 'kept'} {short(ignored)}; secrets and data stay out of version control")
    mention(f"Next: {this_command()} doctor")
    return 0


def _answers() -> FirstAnswers | None:
    """Return the answers, or `None` if the input ended."""
    mention("Press Enter to skip a question; vetl.toml can be edited later.")
    try:
        return ask(input, mention)
    except EOFError:
        return None


def _open_keys(answers: FirstAnswers | None) -> dict[str, object]:
    """Return the answers by the key of `vetl.toml` that each sets."""
    return {"base_url": answers and answers.address, "practices": answers and answers.practices}


def _write_new(target: Path, content: str) -> bool:
    """Write a file that only its owner can read. Return false if the file exists already."""
    try:
        new = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(new, "w", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        return False
    except OSError as error:
        raise ConfigurationError(cannot_write(target, error)) from None
    return True
