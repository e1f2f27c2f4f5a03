"""Filters that the package imagecodecs decodes."""

import struct
from collections.abc import Callable
from typing import Any

from ._native import register_filter
from ._optional import needed_by

#: A function that decodes a chunk: the stored bytes, the client data, the bytes of a chunk.
_Decode = Callable[[bytes, "tuple[int, ...]", int], Any]


def use_imagecodecs() -> dict[int, str]:
    """Registers the filters that the package imagecodecs can decode, so that their chunks can be read.

    They are LZO (305), JPEG-LS as FCIDECOMP stores it (32018), JPEG (32019), JPEG 2000 (32031), SPERR (32028)
    and HTJ2K (32033). SZ3 (32024) is not among them: imagecodecs has a version whose streams differ from
    those in files of hdf5plugin.

    Returns:
        The number and the name of each filter that was registered.

    Raises:
        ImportError: imagecodecs is not installed.

    Example:
        >>> hs.use_imagecodecs()[32019]  # doctest: +SKIP
        'jpeg'
    """
    with needed_by("use_imagecodecs()"):
        import imagecodecs
    filters: dict[int, tuple[str, str, _Decode]] = {
        305: ("lzo", "LZO", lambda data, _, size: imagecodecs.lzo_decode(data, out=size)),
        32018: ("fcidecomp", "JPEGLS", lambda data, _, size: _image(imagecodecs.jpegls_decode(data), size)),
        32019: ("jpeg", "JPEG8", lambda data, _, size: _image(imagecodecs.jpeg8_decode(data), size)),
        32028: ("sperr", "SPERR", _sperr),
        32031: ("jpeg2000", "JPEG2K", lambda data, _, size: _image(imagecodecs.jpeg2k_decode(data), size)),
        32033: ("htj2k", "HTJ2K", lambda data, _, size: _image(imagecodecs.htj2k_decode(data), size)),
    }
    done = {}
    for number, (name, codec, decode) in filters.items():
        # Builds of imagecodecs may lack codecs.
        if getattr(getattr(imagecodecs, codec, None), "available", False):
            register_filter(number, decode)
            done[number] = name
    return done


def _image(image: Any, size: int) -> Any:
    """Returns the elements of an image in their order."""
    if image.nbytes != size:
        raise ValueError(f"the image in the chunk has {image.nbytes} bytes, and the chunk has {size}")
    return image.tobytes()


def _sperr(data: bytes, client_data: "tuple[int, ...]", size: int) -> Any:
    """Decodes a chunk of SPERR, whose first byte says how missing values are stored.

    The client data hold the rank and the size of a float, the options, and the shape. Everything that the
    codec takes from the chunk is compared with them first, since the codec does not check it.
    """
    import imagecodecs
    import numpy as np

    if len(client_data) < 4 or not data:
        raise ValueError("SPERR: the chunk or its parameters end early")
    facts, options, *dims = client_data
    rank = facts & 15
    dtype = np.dtype("f4" if facts & 16 else "f8")
    if rank != len(dims) or rank not in (2, 3) or int(np.prod(dims)) * dtype.itemsize != size:
        raise ValueError("SPERR: the parameters do not fit the chunk")
    if data[0] != 0:
        raise NotImplementedError("SPERR: chunks with missing values are not supported")
    # The axes are in the order of the file if they were swapped, and in that of Fortran if not.
    swapped = bool(options >> 31)
    shape = tuple(dims if swapped else dims[::-1])
    if rank == 2:
        return imagecodecs.sperr_decode(data[1:], shape=shape, dtype=dtype, header=False).tobytes()
    if len(data) < 15 or struct.unpack_from("<III", data, 3) != shape[::-1]:
        raise ValueError("SPERR: the chunk has another shape than its parameters say")
    return imagecodecs.sperr_decode(data[1:]).tobytes()
