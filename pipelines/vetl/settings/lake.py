"""`[lake]` and `[spark]`: the folders of the Parquet tables, and the Spark that builds marts from them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, SecretStr

from vetl.settings.checked_values import http_address
from vetl.settings.section import Section

_BUCKET = re.compile(r"s3://[A-Za-z0-9][\w.-]+(/[\w.=-]+)*/?")


def location(text: str) -> str:
    """Return a folder or `s3://bucket/prefix`; refuse credentials in it, which would reach logs."""
    if "://" not in text:
        if not text or Path(text).expanduser() == Path(Path(text).anchor):
            raise ValueError("must name a folder, or a bucket as s3://bucket/prefix")
        return str(Path(text).expanduser())
    if not _BUCKET.fullmatch(text):
        raise ValueError("must be a folder, or s3://bucket/prefix with nothing else in it")
    return text.rstrip("/")


Location = Annotated[str, AfterValidator(location)]


class LakeSettings(Section):
    """`[lake]`: raw, history and control as Parquet in `path`, and the masked marts of a Spark build in `marts`.

    If no keys are set, those of S3's own tools are used: AWS_ACCESS_KEY_ID, a profile, or the machine's role.
    """

    secret_keys = ("access_key", "secret_key")
    private_keys = ("path",)

    path: Location = "warehouse/data/lake"
    marts: Location = "warehouse/data/marts"
    endpoint: Annotated[str, AfterValidator(http_address)] | None = None
    access_key: SecretStr | None = None
    secret_key: SecretStr | None = None

    def anchored(self, folder: Path) -> Self:
        """Return the section with absolute folders."""
        places = {key: str(folder / place) for key, place in self._folders()}
        return self.model_copy(update=places)

    def places(self, name: str) -> Iterator[tuple[str, Path]]:
        """Yield the folders on this machine."""
        yield from ((f"{name}.{key}", Path(place)) for key, place in self._folders())

    def _folders(self) -> Iterator[tuple[str, str]]:
        places = (("path", self.path), ("marts", self.marts))
        yield from ((key, place) for key, place in places if "://" not in place)


class SparkSettings(Section):
    """`[spark]`: the Spark of `vetl build --engine spark`; all of its machines need access to `scratch`.

    `master` is a master of Spark or `sc://host:port` of a Connect server. If it is not set, that of
    spark-defaults.conf is used, or else this machine. `published`: the build also writes the published file.
    """

    private_keys = ("scratch",)
    emptied_keys = ("scratch",)

    master: str | None = None
    scratch: Path = Path("warehouse/data/spark")
    published: bool = True
