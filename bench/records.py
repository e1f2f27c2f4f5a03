"""Rows of 32 bytes in eight columns: the values of tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

DTYPE = np.dtype(
    [
        ("lat", "i4"),
        ("lon", "i4"),
        ("time", "i4"),
        ("precip", "f4"),
        ("solar", "f4"),
        ("air", "f4"),
        ("snow", "f4"),
        ("wind", "f4"),
    ]
)
BATCH = 10_000_000


def weather(count: int) -> Iterator[np.ndarray]:
    """Yields `count` rows in batches, with values like those of a reanalysis of the weather (ERA5).

    The grid has steps of a quarter of a degree, in thousandths of a degree; times are in minutes.
    """
    for first in range(0, count, BATCH):
        yield batch(first, min(BATCH, count - first))


def batch(first: int, count: int) -> np.ndarray:
    random = np.random.default_rng(first // BATCH)
    place = np.arange(first, first + count)
    rows = np.empty(count, DTYPE)
    rows["lon"] = place % 1440 * 250
    rows["lat"] = place // 1440 % 721 * 250 - 90000
    rows["time"] = place // (1440 * 721) * 60 + place % 60
    latitude = np.radians(rows["lat"] / 1000)
    rows["air"] = np.round(300 - 45 * np.abs(np.sin(latitude)) + random.normal(0, 3, count), 2)
    rows["wind"] = np.round(random.weibull(2, count) * 7, 2)
    chance = random.random(count)
    rows["precip"] = np.where(chance > 0.85, np.round(random.exponential(2, count), 2), 0)
    rows["snow"] = np.where((rows["air"] < 273) & (chance > 0.7), np.round(chance * 10, 1), 0)
    daylight = 900 * np.cos(latitude) * np.cos(rows["time"] % 1440 / 229.2)
    rows["solar"] = np.round(np.maximum(0, daylight), 0)
    return rows
