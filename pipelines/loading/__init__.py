import os

# polars gives freed memory back within a tenth of a second. By default it keeps it while there is other memory.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:100,muzzy_decay_ms:0")
