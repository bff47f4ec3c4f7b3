import os

# polars gives freed memory back at once. By default it keeps it, for as long as the system has other memory.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")
