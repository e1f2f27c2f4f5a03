"""A synthetic seismic survey: bent layers, a fault, a channel and noise, as SEG-Y with IBM floats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import segyio

INLINES = np.arange(1100, 1356)
CROSSLINES = np.arange(300, 500)
SAMPLES, INTERVAL = 1000, 4.0
"""The number of samples of a trace, and the milliseconds between two samples."""


def ricker(frequency: float) -> np.ndarray:
    """Return a Ricker wavelet of a peak frequency, sampled at the interval of the survey."""
    time = np.arange(-25, 26) * INTERVAL / 1000
    a = (np.pi * frequency * time) ** 2
    return (1 - 2 * a) * np.exp(-a)


def traces() -> np.ndarray:
    """Return the amplitudes, of shape (inlines, crosslines, samples)."""
    random = np.random.default_rng(4)
    # Layers: reflection coefficients at random times of a trace through flat layers.
    layers = np.where(random.random(2 * SAMPLES) < 0.08, random.normal(0, 1, 2 * SAMPLES), 0)
    plain = np.convolve(layers, ricker(30), "same")
    bright = np.convolve(np.eye(1, 2 * SAMPLES, 750)[0], ricker(25), "same") * 6
    i, x = np.meshgrid(np.linspace(0, 1, INLINES.size), np.linspace(0, 1, CROSSLINES.size), indexing="ij")
    bend = 14 * np.sin(3 * i + 1) * np.cos(4 * x) + 10 * i * x
    # A channel meanders along the inlines at one time of the layers.
    middle = 0.5 + 0.18 * np.sin(9 * i) + 0.1 * np.sin(23 * i)
    channel = np.exp(-(((x - middle) / 0.035) ** 2))
    time = np.arange(SAMPLES, dtype="f4")
    out = np.empty((*i.shape, SAMPLES), "f4")
    for line in range(INLINES.size):
        # East of a dipping fault plane, the layers have slipped.
        slipped = x[line][:, None] > 0.35 + 0.3 * i[line, 0] + 0.25 * time / SAMPLES
        place = time + 300 + bend[line][:, None] - 28 * slipped
        low = place.astype("i4")
        part = (place - low).astype("f4")
        for values, weight in ((plain, 1.0), (bright, channel[line][:, None])):
            found = values[low] * (1 - part) + values[low + 1] * part
            out[line] = out[line] * (values is not plain) + found * weight
    out += random.normal(0, 0.12, out.shape).astype("f4")
    return out * np.float32(1000)


def write(path: Path, values: np.ndarray) -> None:
    """Write a survey as SEG-Y, with segyio."""
    spec = segyio.spec()
    spec.sorting, spec.format = 2, 1
    spec.samples = np.arange(SAMPLES) * INTERVAL
    spec.ilines, spec.xlines = INLINES, CROSSLINES
    with segyio.create(str(path), spec) as file:
        file.text[0] = segyio.tools.create_text_header(
            {1: "A SYNTHETIC SURVEY", 2: "LAYERS, A FAULT, A CHANNEL, NOISE"}
        )
        file.bin.update(hdt=int(INTERVAL * 1000), hns=SAMPLES, mfeet=1, rev=0x0100, trflag=1)
        headers = [
            {
                segyio.su.tracl: number + 1,
                segyio.su.iline: int(inline),
                segyio.su.xline: int(crossline),
                segyio.su.cdpx: int(4_000_000 + 250 * (inline - INLINES[0])),
                segyio.su.cdpy: int(67_000_000 + 125 * (crossline - CROSSLINES[0])),
                segyio.su.scalco: -10,
                segyio.su.ns: SAMPLES,
                segyio.su.dt: int(INTERVAL * 1000),
            }
            for number, (inline, crossline) in enumerate((i, x) for i in INLINES for x in CROSSLINES)
        ]
        for number, header in enumerate(headers):
            file.header[number] = header
        file.trace = values.reshape(-1, SAMPLES)
