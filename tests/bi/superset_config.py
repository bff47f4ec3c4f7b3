"""The configuration of Superset for `make superset`: on this machine alone, over the published file."""

import os

SECRET_KEY = os.environ["SUPERSET_SECRET_KEY"]
SQLALCHEMY_DATABASE_URI = f"sqlite:///{os.environ['SUPERSET_HOME']}/superset.db"
PREVENT_UNSAFE_DB_CONNECTIONS = False  # otherwise Superset allows no DuckDB file
WTF_CSRF_ENABLED = False  # the client is not a browser
