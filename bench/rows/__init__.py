"""The rows of the table: one module each, with `TITLE`, `THREADS` and `groups(threads)`."""

ORDER = ("nd", "flat", "fresh", "noisy", "gzip", "boxes", "raw", "planes", "scalar", "million")
