"""Maps and downloads, on the functions of offlinemaps.h."""
from __future__ import annotations

import ctypes
import enum
import json
import os
import queue
from types import TracebackType
from typing import Any, Iterator, NamedTuple, Optional, Union

from . import _library


class OfflineMapsError(Exception):
    """Why a call failed: a stable word for programs, and what happened and what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} [{code}]")
        self.code, self.message = code, message


class State(enum.IntEnum):
    """Where a download is."""
    WAITING = 0
    DOWNLOADING = 1
    VERIFYING = 2
    INSTALLING = 3
    PAUSED = 4
    DONE = 5
    FAILED = 6
    CANCELLED = 7

    @classmethod
    def _missing_(cls, value: object) -> State:
        return cls.WAITING  # of a newer library


class Progress(NamedTuple):
    """How far a download is."""
    fraction: float
    """The part that is done, 0 to 1; never falls."""
    transferred: int
    """Bytes that came over the network."""
    state: State
    text: str
    """The state in English."""


class Tile(NamedTuple):
    """A tile, uncompressed; without bytes where its server has none."""
    body: bytes
    media_type: str


class Maps:
    """The maps of a folder. Every call raises OfflineMapsError when it fails; all may be used by several threads."""

    def __init__(self, folder: Union[str, os.PathLike[str]], catalog: str, key: str,
                 library: Union[str, os.PathLike[str], None] = None) -> None:
        """Opens the folder, makes it where it is missing, and continues interrupted downloads. Needs no network."""
        self._handle: Optional[int] = None
        self._library = _library.load(library)
        self._handle = self._taken("ofm_maps_open", os.fspath(folder).encode(), catalog.encode(), key.encode())

    def close(self) -> None:
        """Stops the downloads, which keep their bytes, and lets go of the folder."""
        handle, self._handle = self._handle, None
        if handle:
            self._library.ofm_maps_free(handle)

    def __enter__(self) -> Maps:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def catalog(self, max_age: int = 86_400) -> dict[str, Any]:
        """What the publisher offers: `packages` and `styles`. The server is asked when it was not within so many seconds."""
        return self._json("ofm_maps_catalog", self._open, max_age)

    def search(self, text: str, language: str = "en") -> list[dict[str, Any]]:
        """The packages whose names match, best first."""
        return self._json("ofm_maps_search", self._open, text.encode(), language.encode())

    def installed(self) -> list[dict[str, Any]]:
        """What is on the device."""
        return self._json("ofm_maps_installed", self._open)

    def updates(self) -> dict[str, Any]:
        """What an update would download, by the last list."""
        return self._json("ofm_maps_updates", self._open)

    def verify(self) -> list[dict[str, Any]]:
        """Reads every byte of what is installed; what is missing or damaged, nothing when all is whole.

        A damaged map stays until `download` or `update` has downloaded it again.
        """
        return self._json("ofm_maps_verify", self._open)

    def download(self, package: str, style: Optional[str] = None) -> Download:
        """Begins to download a package and a style, or to bring them to the newest version of the last list.

        The list is read again when it is a day old; `update` asks the server at once.
        """
        return Download(self, "ofm_maps_download", package.encode(), style.encode() if style else None)

    def update(self) -> Download:
        """Asks the server for the list, and begins to bring everything that is installed to the newest version, with patches."""
        return Download(self, "ofm_maps_update")

    def remove(self, package: str) -> None:
        """Removes a package."""
        self._call("ofm_maps_remove", self._open, package.encode())

    def style(self, style: str, package: str) -> dict[str, Any]:
        """An installed style whose tiles, sprites and glyphs are files of this device. Do not store it."""
        return self._json("ofm_maps_style", self._open, style.encode(), package.encode())

    def tile(self, z: int, x: int, y: int, tileset: Optional[str] = None) -> Optional[Tile]:
        """A tile of what is installed; y counts from the north. None when it is not here.

        Zooms are 0 to 22, x and y below 2^z; others are the error `invalid-arguments`.
        """
        # Before the call: ctypes would keep the lowest 32 bits.
        if not (0 <= z <= 22 and 0 <= x < 1 << z and 0 <= y < 1 << z):
            raise OfflineMapsError("invalid-arguments", f"{z}/{x}/{y} is no tile: zooms are 0 to 22, x and y below 2^z.")
        handle = self._taken("ofm_maps_tile", self._open, tileset.encode() if tileset else None, z, x, y)
        return Tile(*self._bytes(handle)) if handle else None

    def set_offline(self, offline: bool) -> None:
        """Holds all requests back, until it is called with False or the maps are closed."""
        self._call("ofm_maps_set_offline", self._open, int(offline))

    @property
    def _open(self) -> int:
        if self._handle is None:
            raise OfflineMapsError("wrong-state", "The maps are closed.")
        return self._handle

    def _call(self, name: str, *arguments: Any) -> None:
        error = getattr(self._library, name)(*arguments)
        if error:
            code, message = self._library.ofm_error_code(error), self._library.ofm_error_message(error)
            self._library.ofm_error_free(error)
            raise OfflineMapsError(code.decode(), message.decode())

    def _taken(self, name: str, *arguments: Any) -> Optional[int]:
        out = ctypes.c_void_p()
        self._call(name, *arguments, ctypes.byref(out))
        return out.value

    def _bytes(self, handle: Optional[int]) -> tuple[bytes, str]:
        try:
            body = ctypes.string_at(self._library.ofm_data_bytes(handle), self._library.ofm_data_length(handle))
            return body, self._library.ofm_data_type(handle).decode()
        finally:
            self._library.ofm_data_free(handle)

    def _json(self, name: str, *arguments: Any) -> Any:
        return json.loads(self._bytes(self._taken(name, *arguments))[0])


class Download:
    """A download that has begun. Iterate over it for its progress, or wait for its end; leaving a loop before its end stops it.

    A download that is stopped keeps its bytes: the next one of the same package continues there.
    """

    def __init__(self, maps: Maps, name: str, *arguments: Any) -> None:
        self._maps = maps
        shown: queue.SimpleQueue[Progress] = queue.SimpleQueue()
        # On the library's thread. It must not hold this object, or nothing would free it.
        self._function = _library.ProgressFunction(
            lambda _, fraction, transferred, state, text: shown.put(
                Progress(fraction, transferred, State(state), (text or b"").decode(errors="replace"))))
        self._shown = shown
        self._handle: Optional[int] = maps._taken(name, maps._open, *arguments, self._function, None)

    def __iter__(self) -> Iterator[Progress]:
        """The progress, whenever it changes; raises OfflineMapsError when the download fails.

        One loop: its end closes the download, and another one raises `wrong-state`.
        """
        if self._handle is None:
            raise OfflineMapsError("wrong-state", "The download is closed.")
        try:
            while True:
                progress = self._shown.get()
                yield progress
                if progress.state in (State.DONE, State.FAILED, State.CANCELLED):
                    break
            self.wait()
        finally:
            self.close()

    def wait(self, seconds: Optional[float] = None) -> bool:
        """Waits for the end; False when it has not ended in time. Raises OfflineMapsError when the download failed."""
        ended = ctypes.c_int32()
        handle = self._handle
        if handle is None:
            raise OfflineMapsError("wrong-state", "The download is closed.")
        self._maps._call("ofm_download_wait", handle, -1 if seconds is None else int(seconds * 1_000), ctypes.byref(ended))
        return ended.value == 1

    def cancel(self) -> None:
        """Stops it; returns at once."""
        if self._handle:
            self._maps._library.ofm_download_cancel(self._handle)

    def close(self) -> None:
        """Stops it when it has not ended, and frees it."""
        handle, self._handle = self._handle, None
        if handle:
            self._maps._library.ofm_download_free(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()
