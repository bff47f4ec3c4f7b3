"""Certificates of `localhost` that nobody vouches for, until `SSL_CERT_FILE` names them."""

import subprocess
from pathlib import Path


def self_signed(folder: Path) -> tuple[Path, Path]:
    """Make a certificate and its key in a folder; return both files."""
    made = folder / "cert.pem", folder / "key.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    )
    name = ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*command.split(), *name, "-out", made[0], "-keyout", made[1]], check=True, capture_output=True)
    return made
