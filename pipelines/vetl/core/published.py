"""The schemas of the published file: `marts`, which answer questions, and `meta`, vetl's own tables about them."""

MARTS = "marts"
META = "meta"
SCHEMAS = (MARTS, META)

DIGESTS = "digests"
"""The table that publishing writes; no model of dbt makes it."""

OWN = frozenset({"catalogue", "metrics", "practice_days", "proof", "report_revisions", "unknown_values", DIGESTS})
"""The tables of `meta`; a test compares them with the dbt project."""


def schema_of(table: str) -> str:
    """Return the schema of a published table."""
    return META if table in OWN else MARTS
