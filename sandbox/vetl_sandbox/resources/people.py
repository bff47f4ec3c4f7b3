"""Clients and patients (contract: Client and patient)."""

from typing import Final

import polars as pl

from vetl_sandbox.openapi.shapes import array, nullable, ref
from vetl_sandbox.resources.resource import Resource, Scene

CLIENT_FIELDS: Final = ("id", "name", "email", "phone", "patients", "remote_id")
PATIENT_FIELDS: Final = ("id", "name", "client_id", "species", "breed")


def render_clients(rows: pl.DataFrame, scene: Scene) -> pl.DataFrame:
    """Return clients, each with its patients."""
    people = scene.people
    places = (rows["number"] - people.clients["number"][0]).cast(pl.Int32)
    pets = people.patients.filter(pl.col("client").is_in(places.implode()))
    patients = (
        render_patients(pets, scene)
        .with_columns(id=pets["number"] if scene.switches.integer_ids else pets["number"].cast(pl.String))
        .select(pl.struct(PATIENT_FIELDS).alias("patients"))
        .with_columns(pets["client"])
        .group_by("client", maintain_order=True)
        .agg("patients")
    )
    return (
        rows.with_columns(client=places)
        .join(patients, on="client", how="left", maintain_order="left")
        .select("name", "email", "phone", "patients", "remote_id")
    )


def render_patients(rows: pl.DataFrame, scene: Scene) -> pl.DataFrame:
    """Return patients with the fields of the contract."""
    owners = scene.people.clients["number"].gather(rows["client"])
    owners = owners if scene.switches.integer_ids else owners.cast(pl.String)
    return rows.select("name", "species", "breed", owners.alias("client_id"))


CLIENTS: Final = Resource(
    name="clients",
    path="clients",
    record="Client",
    section="Clients and patients",
    fields=CLIENT_FIELDS,
    render=render_clients,
    filterable={"name": pl.String(), "email": pl.String(), "phone": pl.String()},
    schemas={"patients": nullable(array(ref("Patient")))},
)
PATIENTS: Final = Resource(
    name="patients",
    path="patients",
    record="Patient",
    section="Clients and patients",
    fields=PATIENT_FIELDS,
    render=render_patients,
    filterable={"client_id": pl.String(), "name": pl.String()},
)
