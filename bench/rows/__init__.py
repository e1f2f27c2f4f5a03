"""The rows of the table: one module each, with `TITLE`, `THREADS` and `groups(threads)`."""

ORDER = (
    "nd",
    "flat",
    "fresh",
    "noisy",
    "gzip",
    "boxes",
    "raw",
    "planes",
    "seismic_planes",
    "scalar",
    "million",
    "write_nd",
    "write_gzip",
    "write_raw",
    "append",
    "small",
    "commit",
    "repack",
    "ingest",
)
