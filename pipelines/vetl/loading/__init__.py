import os

# polars gives freed memory back after half a second. By default it keeps it while the system has other memory.
os.environ.setdefault("_RJEM_MALLOC_CONF", "muzzy_decay_ms:0")
