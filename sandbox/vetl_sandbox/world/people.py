"""Clients and their pets. They are few and never change: each practice has one table, drawn whole."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vetl_sandbox.world import names
from vetl_sandbox.world.lives import Millis
from vetl_sandbox.world.practices import Practice

PEOPLE_PER_PRACTICE = 10_000_000
"""Client and patient ids are integers: the practice's number times this, plus the person's place."""

_DAY = 86_400_000
FIRST_VISIT_WITHIN = 30 * _DAY
"""New clients call, book and visit at most so long before their first visit."""
_WITHOUT_EMAIL = 0.12
_SUFFIX_MISSING = 0.15
_PHONES = 6_990_000


@dataclass(frozen=True)
class People:
    """The clients and patients of one practice.

    Attributes:
        clients: number, first_name, last_name, name, email, phone, remote_id, remote_client_id.
        patients: number, client (place in `clients`), name, species, breed, remote_patient_id.
        first_visit: Per client, the instant from which a call counts as an existing client's.
        first_patient: Per client, the place of the first patient.
        pets: Per client, how many patients there are.
    """

    practice: Practice
    clients: pl.DataFrame
    patients: pl.DataFrame
    first_visit: Millis
    first_patient: NDArray[np.int32]
    pets: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.first_visit)

    def patient_of(self, clients: NDArray[np.int32], luck: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return one of each client's patients; -1 if there is no client."""
        chosen = self.first_patient[clients] + (luck * self.pets[clients]).astype(np.int32)
        return np.where(clients < 0, -1, chosen).astype(np.int32)

    def due(
        self, clients: NDArray[np.int32], at: Millis, soon: NDArray[np.bool_], luck: NDArray[np.float64]
    ) -> NDArray[np.int32]:
        """Replace clients whose first visit is far away: by one who comes soon, or by one who has been here."""
        visits, order = self._by_first_visit
        now, later = np.searchsorted(visits, at), np.searchsorted(visits, at + FIRST_VISIT_WITHIN)
        first = np.where(soon, now, 0)
        count = np.where(soon, later, now) - first
        others = order[(first + luck * count).astype(np.int64).clip(0, len(self) - 1)]
        return np.where((self.first_visit[clients] > at + FIRST_VISIT_WITHIN) & (count > 0), others, clients)

    @cached_property
    def _by_first_visit(self) -> tuple[Millis, NDArray[np.int32]]:
        order = np.argsort(self.first_visit, kind="stable").astype(np.int32)
        return self.first_visit[order], order

    @cached_property
    def place_of(self) -> dict[str, int]:
        """Return the place of a client by id."""
        return {str(number): place for place, number in enumerate(self.clients["number"])}


def people(practice: Practice, count: int, seed: int, since: int, until: int) -> People:
    """Draw `count` clients; some become clients between `since` and `until` (milliseconds), some never do."""
    rng = np.random.default_rng([seed, practice.number, 1])
    pets = rng.choice(np.array([1, 2, 3], dtype=np.int32), count, p=[0.6, 0.3, 0.1])
    first_patient = np.concatenate([[0], np.cumsum(pets)[:-1]]).astype(np.int32)
    return People(
        practice=practice,
        clients=_clients(practice, count, rng),
        patients=_patients(practice, pets, rng),
        first_visit=rng.integers(since - 400 * _DAY, until + 90 * _DAY, count),
        first_patient=first_patient,
        pets=pets,
    )


def _clients(practice: Practice, count: int, rng: np.random.Generator) -> pl.DataFrame:
    place = np.arange(count)
    server = f"-{practice.server_id}" if practice.server_id else ""
    return pl.DataFrame(
        {
            "number": practice.number * PEOPLE_PER_PRACTICE + 1 + place,
            "first_name": _pick(names.FIRST, count, rng),
            "last_name": _pick(names.LAST, count, rng),
            "local": 2_000_000 + (place * 7919 + practice.number * 104_729) % _PHONES,
            "remote": 1000 + place * 3 + practice.number,
            "with_email": rng.random(count) >= _WITHOUT_EMAIL,
            "with_suffix": rng.random(count) >= _SUFFIX_MISSING,
        }
    ).select(
        "number",
        "first_name",
        "last_name",
        name=pl.concat_str("first_name", pl.lit(" "), "last_name"),
        email=pl.when("with_email").then(pl.format("client{}@example.com", "number")),
        phone=pl.format(f"{practice.country_code}{practice.area_code}{{}}", "local"),
        remote_id=pl.format("{}{}", "remote", pl.when("with_suffix").then(pl.lit(server)).otherwise(pl.lit(""))),
        remote_client_id=pl.format(f"{{}}{server}", "remote"),
    )


def _patients(practice: Practice, pets: NDArray[np.int32], rng: np.random.Generator) -> pl.DataFrame:
    count = int(pets.sum())
    species = rng.choice(len(names.BREEDS), count, p=names.SPECIES_SHARES)
    breeds = [(kind, breed) for kind, of in names.BREEDS.items() for breed in of]
    counts = np.array([len(of) for of in names.BREEDS.values()])
    breed = np.concatenate([[0], np.cumsum(counts)[:-1]])[species] + (rng.random(count) * counts[species]).astype(
        int
    )
    place = np.arange(count)
    server = f"-{practice.server_id}" if practice.server_id else ""
    return (
        pl.DataFrame(
            {
                "number": practice.number * PEOPLE_PER_PRACTICE + 1 + place,
                "client": np.repeat(np.arange(len(pets), dtype=np.int32), pets),
                "name": _pick(names.PETS, count, rng),
                "species": pl.Series([kind for kind, _ in breeds]).gather(breed),
                "breed": pl.Series([name for _, name in breeds]).gather(breed),
                "remote": 500 + place * 2,
            }
        )
        .with_columns(remote_patient_id=pl.format(f"{{}}{server}", "remote"))
        .drop("remote")
    )


def _pick(values: tuple[str, ...], count: int, rng: np.random.Generator) -> pl.Series:
    return pl.Series(values).gather(rng.integers(0, len(values), count))
