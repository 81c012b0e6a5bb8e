"""The functions of offlinemaps.h by ctypes: the same names and arguments."""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import pathlib
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Optional

ABI_VERSION = 1
VARIABLE = "OFFLINEMAPS_LIBRARY"

ProgressFunction = ctypes.CFUNCTYPE(None, c_void_p, c_double, c_uint64, c_int32, c_char_p)

_OUT = POINTER(c_void_p)
# Each function: its result and its arguments. A `c_void_p` as a result is an int, or None for NULL.
_FUNCTIONS = {
    "ofm_abi_version": (c_int32, []),
    "ofm_error_code": (c_char_p, [c_void_p]),
    "ofm_error_message": (c_char_p, [c_void_p]),
    "ofm_error_free": (None, [c_void_p]),
    "ofm_data_bytes": (c_void_p, [c_void_p]),
    "ofm_data_length": (c_size_t, [c_void_p]),
    "ofm_data_type": (c_char_p, [c_void_p]),
    "ofm_data_free": (None, [c_void_p]),
    "ofm_maps_open": (c_void_p, [c_char_p, c_char_p, c_char_p, c_char_p, _OUT]),
    "ofm_maps_free": (None, [c_void_p]),
    "ofm_maps_catalog": (c_void_p, [c_void_p, c_int64, _OUT]),
    "ofm_maps_search": (c_void_p, [c_void_p, c_char_p, c_char_p, _OUT]),
    "ofm_maps_installed": (c_void_p, [c_void_p, _OUT]),
    "ofm_maps_updates": (c_void_p, [c_void_p, _OUT]),
    "ofm_maps_verify": (c_void_p, [c_void_p, _OUT]),
    "ofm_maps_download": (c_void_p, [c_void_p, c_char_p, c_char_p, ProgressFunction, c_void_p, _OUT]),
    "ofm_maps_update": (c_void_p, [c_void_p, ProgressFunction, c_void_p, _OUT]),
    "ofm_maps_remove": (c_void_p, [c_void_p, c_char_p]),
    "ofm_maps_style": (c_void_p, [c_void_p, c_char_p, c_char_p, _OUT]),
    "ofm_maps_tile": (c_void_p, [c_void_p, c_char_p, c_int32, c_int32, c_int32, _OUT]),
    "ofm_maps_set_offline": (c_void_p, [c_void_p, c_int32]),
    "ofm_download_wait": (c_void_p, [c_void_p, c_int64, POINTER(c_int32)]),
    "ofm_download_cancel": (None, [c_void_p]),
    "ofm_download_free": (None, [c_void_p]),
}


def find(path: Optional[os.PathLike[str] | str] = None) -> str:
    """The library: the named file, that of the variable OFFLINEMAPS_LIBRARY, the one in the package, or the system's."""
    if path or (path := os.environ.get(VARIABLE)):
        return os.fspath(path)
    own = pathlib.Path(__file__).with_name("libofflinemaps.so")
    found = str(own) if own.exists() else ctypes.util.find_library("offlinemaps")
    if not found:
        raise OSError(f"libofflinemaps.so is not found; name it with Maps(..., library=...) or {VARIABLE}")
    return found


def load(path: Optional[os.PathLike[str] | str] = None) -> ctypes.CDLL:
    """Loads the library and describes its functions; OSError when it is missing or of another version."""
    library = ctypes.CDLL(find(path))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    if (version := library.ofm_abi_version()) != ABI_VERSION:
        raise OSError(f"libofflinemaps has version {version} of its interface; this package needs {ABI_VERSION}")
    return library
