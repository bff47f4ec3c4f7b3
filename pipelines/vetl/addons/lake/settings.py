"""`[lake]` and `[spark]`: the place of the Delta tables, and the Spark that builds marts from them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field

from vetl.settings.section import Section
from vetl.settings.sources import with_home

_BUCKET = re.compile(r"(s3|gs|az|abfs|abfss)://[A-Za-z0-9][\w.@-]+(/[\w.=-]+)*/?")


def _checked(text: str) -> str:
    """Return a folder or the address of a bucket; refuse credentials in it, which would reach logs."""
    if "://" not in text:
        if not text or with_home(Path(text)) == Path(Path(text).anchor):
            raise ValueError("must name a folder, or a bucket as s3://bucket/prefix")
        return str(with_home(Path(text)))
    if not _BUCKET.fullmatch(text):
        raise ValueError("must be a folder, or s3://bucket/prefix (az, abfss, gs) with nothing else in it")
    return text.rstrip("/")


class LakeSettings(Section):
    """`[lake]`: the tables of `vetl lake export`; if `path` is set, each publication updates them.

    `raw`: with raw, history and all of control, which have names and numbers in clear. `keep_days`: how long
    replaced files stay. The keys of a bucket are those of its own tools: AWS_ACCESS_KEY_ID and so on.
    """

    private_keys = ("path",)

    path: Annotated[str, AfterValidator(_checked)] | None = None
    raw: bool = False
    keep_days: Annotated[int, Field(ge=1)] = 7

    def location(self, private: Path) -> str:
        """Return the place of the lake, by default the folder `lake` beside the private file."""
        return self.path or str(private.with_name("lake"))

    def anchored(self, folder: Path) -> Self:
        """Return the section with an absolute folder."""
        places = [str(folder / place) for _, place in self.places("lake")]
        return self.model_copy(update={"path": places[0]} if places else {})

    def places(self, name: str) -> Iterator[tuple[str, Path]]:
        """Yield the folder if it is on this machine."""
        if self.path and "://" not in self.path:
            yield f"{name}.path", Path(self.path)


class SparkSettings(Section):
    """`[spark]`: the Spark of `vetl build --engine spark`; all of its machines need access to `scratch`.

    `master` is a master of Spark or `sc://host:port` of a Connect server. If it is not set, that of
    spark-defaults.conf is used, or else this machine.
    """

    private_keys = ("scratch",)
    emptied_keys = ("scratch",)

    master: str | None = None
    scratch: Path = Path("warehouse/data/spark")
