"""`[lake]` and `[spark]`: where tables lie as Parquet, and who builds marts from them."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, SecretStr

from pipelines.settings.section import Section
from pipelines.settings.values import http_address

_BUCKET = re.compile(r"s3://[A-Za-z0-9][\w.-]+(/[\w.=-]+)*/?")


def location(text: str) -> str:
    """A folder, or `s3://bucket/prefix`. Credentials in it would end up in logs: refused with all else."""
    if "://" not in text:
        if not text or Path(text).expanduser() == Path(Path(text).anchor):
            raise ValueError("must name a folder, or a bucket as s3://bucket/prefix")
        return str(Path(text).expanduser())
    if not _BUCKET.fullmatch(text):
        raise ValueError("must be a folder, or s3://bucket/prefix with nothing else in it")
    return text.rstrip("/")


Location = Annotated[str, AfterValidator(location)]


def anchored(place: str, folder: Path) -> str:
    """The same, with a relative folder taken from there."""
    return place if "://" in place else str(folder / place)


class LakeSettings(Section):
    """`[lake]`: raw, history and control as Parquet in `path`; the masked marts of a Spark build in `marts`.

    Without keys those of S3's own tools are taken: AWS_ACCESS_KEY_ID, a profile, the machine's role.
    """

    path: Location = "warehouse/data/lake"
    marts: Location = "warehouse/data/marts"
    endpoint: Annotated[str, AfterValidator(http_address)] | None = None
    access_key: SecretStr | None = None
    secret_key: SecretStr | None = None


class SparkSettings(Section):
    """`[spark]`: who builds with `vetl build --engine spark`. `scratch` is seen by all of its machines.

    `master` is Spark's own, or `sc://host:port` of a Connect server; without it that of spark-defaults.conf, else
    this machine. `published`: the analysts' file is made, too.
    """

    master: str | None = None
    scratch: Path = Path("warehouse/data/spark")
    published: bool = True
