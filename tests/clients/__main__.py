"""Read a published file with older DuckDBs, pandas and polars, each in its own environment: `make clients`."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import duckdb
from vetl.core.published_file import Treatments
from vetl.publishing.contacts import write_contacts
from vetl.publishing.parquet import write_parquet
from vetl.publishing.publication import publish

VERSIONS = ("1.1.3", "1.4.0", "2.0.0")
FRAMES = ("pandas", "polars", "pyarrow")
"""Read the file with each of these DuckDBs, and Parquet without DuckDB."""

READ = """
import sys, duckdb
with duckdb.connect(sys.argv[1], read_only=True) as connection:
    rows = connection.execute("select client_id, seen_at at time zone 'UTC', tags from marts.clients").fetchall()
    told = connection.execute("select comment from duckdb_tables() where table_name = 'clients'").fetchall()
with duckdb.connect(sys.argv[2], read_only=True) as connection:
    names = connection.execute("select name from clients").fetchall()
import pandas, polars
with duckdb.connect(sys.argv[1], read_only=True) as connection:
    frames = [
        connection.sql("select client_id, tags from marts.clients").df(),
        connection.sql("select client_id, tags from marts.clients").pl().to_pandas(),
        pandas.read_parquet(sys.argv[3], columns=["client_id", "tags"]),
        polars.read_parquet(sys.argv[3], columns=["client_id", "tags"]).to_pandas(),
    ]
read = {(frame.client_id[0], tuple(frame.tags[0]), len(frame)) for frame in frames}
print(duckdb.__version__, rows, told, names, read)
"""
EXPECTED = "[('c1', datetime.datetime(2025, 1, 2, 3, 4, 5), ['a', 'b'])] [('One row per client',)] [('Jane',)]"
FRAMES_EXPECTED = "{('c1', ('a', 'b'), 1)}"


def main() -> None:
    """Publish a file with today's DuckDB, then read it with each version; end at the first that fails."""
    with tempfile.TemporaryDirectory() as folder:
        private, published = Path(folder) / "vetl.duckdb", Path(folder) / "analytics.duckdb"
        with duckdb.connect(str(private)) as connection:
            connection.execute("""
                create schema marts;
                create table marts.clients as select 'p' as practice_id, 'c1' as client_id, 'Jane' as name,
                    null::varchar as phone, null::varchar as email,
                    timestamptz '2025-01-02 03:04:05+00' as seen_at,
                    ['a', 'b'] as tags;
                comment on table marts.clients is 'One row per client';
                create table marts.phone_calls as select 'p' as practice_id, 'k' as call_key, 'c1' as client_id,
                    'Jane' as client_name, null::varchar as phone_number;
                create table marts.call_back_list as select 'p' as practice_id, 'e' as episode_id,
                    'c1' as client_id, 'call' as last_contact_kind, 'k' as last_contact_id,
                    null::varchar as phone_number;
            """)
        marts: Treatments = {"clients": {"name": "hash"}, "phone_calls": {}, "call_back_list": {}}
        publish(private, published, pii=marts, pii_key=None)
        contacts = write_contacts(private, published)
        (clients,) = write_parquet(published, 1).rglob("clients.parquet")
        for version in VERSIONS:
            answer = _read(Path("build") / "clients" / version, version, published, contacts, clients)
            if answer != f"{version} {EXPECTED} {FRAMES_EXPECTED}":
                sys.exit(f"DuckDB {version} reads {answer}")
            sys.stdout.write(f"DuckDB {version} reads both files, pandas and polars through it and Parquet\n")


def _read(environment: Path, version: str, *files: Path) -> str:
    python = environment / "bin" / "python"
    if not python.exists():
        venv.create(environment, with_pip=True)
    packages = [f"duckdb=={version}", "pytz", *FRAMES]
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True
    )
    done = subprocess.run([python, "-c", READ, *files], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
