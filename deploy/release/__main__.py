"""`make release`: everything that is published, made from a clean checkout and tried as a stranger would.

Only `pyproject.toml` has the version. Nothing is uploaded: `dist/` then holds the wheel, the source archive, the
bill of materials, the notes and the checksums.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
TRIED = ("3.11", "3.12", "3.13")
"""Python versions that a release is tried with; at least one interpreter must be installed."""


def main() -> None:
    """Make, check and try a release."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", metavar="VERSION", help="try only this version; repeatable")
    parser.add_argument("--dirty", action="store_true", help="also with changes that are not committed")
    options = parser.parse_args()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    if not options.dirty and (changes := run("git", "status", "--porcelain")):
        sys.exit(f"there are changes that are not committed, perhaps made by `make answers`:\n{changes}")
    notes = section((ROOT / "CHANGELOG.md").read_text("utf-8"), version)
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "hatchling", "build", "-d", str(DIST))
    wheel, archive = next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))
    if unknown := beside_git(archive, set(run("git", "ls-files").splitlines())):
        sys.exit(f"{archive.name} holds {len(unknown)} files that git does not know, for example {unknown[0]}")
    tell(run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(archive)))
    tried = [python for name in options.python or TRIED if (python := interpreter(name))]
    if not tried:
        sys.exit(f"none of Python {', '.join(options.python or TRIED)} is on the PATH")
    for number, python in enumerate(tried):
        materials = DIST / f"vetl-{version}.cdx.json" if number == 0 else None
        try_installed(python, wheel, version, materials)
    (DIST / "NOTES.md").write_text(notes, "utf-8")
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(DIST.iterdir())]
    (DIST / "SHA256SUMS").write_text("".join(sums), "utf-8")
    made = ", ".join(sorted(path.name for path in DIST.iterdir()))
    tell(f"vetl {version} is in {DIST.relative_to(ROOT)}/: {made}")


def section(changelog: str, version: str) -> str:
    """Return the changelog of this version: the text below `## [1.2.3] - 2026-01-31`."""
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$"
    match = re.search(rf"{heading}\n(.*?)(?=^## |^\[|\Z)", changelog, re.MULTILINE | re.DOTALL)
    if not match or not match[1].strip():
        sys.exit(f"CHANGELOG.md has no section '## [{version}] - YYYY-MM-DD', or nothing in it")
    return match[1].strip() + "\n"


def beside_git(archive: Path, tracked: set[str]) -> list[str]:
    """Return the files of a source archive that are not in git: local data, environments, secrets."""
    with tarfile.open(archive) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    return sorted(names - tracked - {"PKG-INFO"})


def interpreter(version: str) -> str | None:
    """Return the path of `python3.12` and the like."""
    path = shutil.which(f"python{version}")
    works = path and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0  # noqa: S603 - an interpreter
    if not works:
        tell(f"Python {version} is not here and was not tried")
    return path if works else None


def try_installed(python: str, wheel: Path, version: str, materials: Path | None) -> None:
    """Install the wheel into an empty environment, and run the main job there, away from the checkout."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(python, "-m", "venv", str(place / "venv"))
        inside = str(place / "venv" / "bin" / "python")
        run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
        packages = len(run(inside, "-m", "pip", "list", "--format", "freeze").splitlines()) - 1
        size = sum(path.stat().st_size for path in (place / "venv").rglob("*") if path.is_file())
        vetl = str(place / "venv" / "bin" / "vetl")
        version_line = run(vetl, "--version", folder=place)
        if version_line != f"vetl {version}":
            sys.exit(f"{wheel.name} calls itself {version_line!r}")
        run(vetl, "demo", "--days", "30", "--practices", "1", "--quiet", folder=place)
        asked = ("select count(*) from marts.phone_calls", "--format", "csv")
        calls = run(vetl, "query", *asked, folder=place / "demo").splitlines()[-1]
        tell(f"{Path(python).name}: {packages} packages, {size >> 20} MiB, the demo published {calls} calls")
        if materials:
            options = ["environment", inside, "--output-format", "JSON", "--output-file", str(materials)]
            run(sys.executable, "-m", "cyclonedx_py", *options)


def run(*command: str, folder: Path = ROOT) -> str:
    """Return the output of a command that must succeed; it runs without the settings of this shell."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("VETL_", "PYTHONPATH"))}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def tell(line: str) -> None:
    """Print one line about a finished step."""
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
