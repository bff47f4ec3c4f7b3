"""Superset for `make superset`: on this machine alone, over the published file."""

import os

SECRET_KEY = os.environ["SUPERSET_SECRET_KEY"]
SQLALCHEMY_DATABASE_URI = f"sqlite:///{os.environ['SUPERSET_HOME']}/superset.db"
PREVENT_UNSAFE_DB_CONNECTIONS = False  # else no DuckDB file is allowed
WTF_CSRF_ENABLED = False  # who asks is no browser
