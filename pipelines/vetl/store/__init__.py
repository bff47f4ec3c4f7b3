"""The private file: records into DuckDB, history, control tables."""

import os

# The allocator of polars has four pools for each core, and each keeps freed memory for half a second. With one
# pool and a second and a half, a first sync takes 15 MiB less and, because fewer pages are returned and requested
# again, a twentieth less CPU. polars reads the variable when it is imported.
os.environ.setdefault("_RJEM_MALLOC_CONF", "narenas:1,dirty_decay_ms:1500")
