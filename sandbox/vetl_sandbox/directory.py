"""Look-ups of a practice's people."""

from datetime import datetime

import polars as pl

from vetl_sandbox.resources.resource import Record
from vetl_sandbox.switches import Switches
from vetl_sandbox.table import Table


class Directory:
    """Clients and patients of one practice at one time, as records of the contract."""

    def __init__(self, clients: Table, patients: Table, now: datetime, switches: Switches) -> None:
        self._clients = clients
        self._patients = patients
        self._now = now
        self._switches = switches

    def client(self, client_id: str) -> Record | None:
        """Return the client with this id of the service."""
        return self._clients.get(client_id, self._now, self._switches)

    def client_row(self, client_id: str) -> Record:
        """Return the drawn row of a client, with more than its record: both names, the qualified remote id."""
        return _row(self._clients, client_id, self._now, self._switches)

    def patient_row(self, patient_id: str) -> Record:
        """Return the drawn row of a patient, which has more than its record: the remote id."""
        return _row(self._patients, patient_id, self._now, self._switches)

    def patient(self, patient_id: str) -> Record | None:
        """Return the patient with this id of the service."""
        return self._patients.get(patient_id, self._now, self._switches)

    def client_with_phone(self, phone: str) -> Record | None:
        """Return the client with this telephone number."""
        return _first(self._find_clients(pl.col("phone") == phone))

    def client_with_remote_id(self, remote_id: str) -> Record | None:
        """Return the client with this id in the practice management system, qualified or as in its record."""
        return _first(
            self._find_clients((pl.col("remote_id") == remote_id) | (pl.col("remote_client_id") == remote_id))
        )

    def patient_with_remote_id(self, remote_id: str) -> Record | None:
        """Return the patient with this id in the practice management system."""
        snapshot = self._patients.snapshot(self._now, self._switches)
        rows = snapshot.frame.filter(pl.col("remote_patient_id") == remote_id).head(1)
        return _first(self._patients.records(rows, snapshot))

    def clients_named(self, first: str, last: str, phone: str | None, email: str | None) -> list[Record]:
        """Return the clients with both names and the other values that are given, in any case of letters."""
        chosen = _same("first_name", first) & _same("last_name", last)
        if phone is not None:
            chosen &= pl.col("phone") == phone
        if email is not None:
            chosen &= _same("email", email)
        return self._find_clients(chosen)

    def _find_clients(self, chosen: pl.Expr) -> list[Record]:
        snapshot = self._clients.snapshot(self._now, self._switches)
        return self._clients.records(snapshot.frame.filter(chosen).head(2), snapshot)


def _row(table: Table, row_id: str, now: datetime, switches: Switches) -> Record:
    """Return a drawn row as it is, or the record of a written row."""
    snapshot = table.snapshot(now, switches)
    match = table.find(row_id, snapshot)
    return snapshot.frame.row(match, named=True) if isinstance(match, int) else match or {}


def _same(column: str, text: str) -> pl.Expr:
    return pl.col(column).str.to_lowercase() == text.lower()


def _first(records: list[Record]) -> Record | None:
    return records[0] if records else None
