"""`python -m fuzz TARGET [--seconds N] [--keep FOLDER]`: let atheris search for bytes that break a target."""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

try:
    atheris: Any = import_module("atheris")
except ImportError:
    sys.exit("python -m fuzz needs atheris, which has wheels for Python 3.11 and 3.12 only")

with atheris.instrument_imports(include=["vetl"]):
    from fuzz.targets import TARGETS, Target


def main() -> None:
    """Fuzz one target until the time is over (exit 0) or it breaks; the bytes that broke it are kept."""
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--keep", type=Path, help="a folder for the bytes that reach new code, used again")
    options = parser.parse_args()
    with TemporaryDirectory() as scratch:
        _fuzz(TARGETS[options.target], Path(scratch), options.keep or Path(scratch) / "corpus", options.seconds)


def _fuzz(target: Target, scratch: Path, corpus: Path, seconds: int) -> None:
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    words = scratch / "words"
    words.write_text("".join(f"{_quoted(word)}\n" for word in target.words))
    flags = [f"-max_total_time={seconds}", f"-dict={words}", "-max_len=4096", "-timeout=20", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *flags, f"-artifact_prefix={Path.cwd()}/", str(corpus)], target.one)
    atheris.Fuzz()


def _quoted(word: str) -> str:
    """Return bytes in the form of libFuzzer's dictionaries."""
    return '"' + "".join(f"\\x{byte:02x}" for byte in word.encode()) + '"'


if __name__ == "__main__":
    main()
