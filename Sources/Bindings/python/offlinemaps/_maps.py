"""Maps, on the functions of offlinemaps.h."""
from __future__ import annotations

import ctypes
import json
import operator
import os
import threading
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Callable, NamedTuple, Optional, Union

from . import _library
from ._download import SLICE, Download
from ._handle import Handle, OfflineMapsError, begin, check


def _text(value: object, name: str, kind: str = "a str") -> bytes:
    """A text for the library, which refuses what is no UTF-8."""
    if not isinstance(value, str):
        raise TypeError(f"The {name} must be {kind}, not {type(value).__name__}.")
    if "\0" in value:
        raise OfflineMapsError("invalid-arguments", f"The {name} has a character of number zero.")
    return value.encode(errors="surrogatepass")


def _whole(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"The {name} must be an int, not {type(value).__name__}.") from None


def _interruptible(call: Callable[[], Any]) -> Any:
    """What a long call returns. Python raises KeyboardInterrupt between calls, so the main thread lets another one make it.

    After an interrupt the call goes on, and its result is thrown away.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    future: Future[Any] = Future()
    has_ended = threading.Event()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)
        has_ended.set()
    threading.Thread(target=run, name="offlinemaps call", daemon=True).start()
    while not has_ended.wait(SLICE):
        pass
    return future.result()


class Tile(NamedTuple):
    """A tile, uncompressed; without bytes where its server has none."""
    body: bytes
    media_type: str


class Maps:
    """The maps of a folder. Every call raises OfflineMapsError when it fails; all may be used by several threads."""

    def __init__(self, folder: Union[str, os.PathLike[str]], catalog: str, key: str, *,
                 token: Optional[str] = None, library: Union[str, os.PathLike[str], None] = None) -> None:
        """Opens the folder, makes it where it is missing, and continues interrupted downloads. Needs no network.

        `token`: of a server that shows its catalog with a token only; it is sent to that server alone.
        """
        place = folder.__fspath__() if isinstance(folder, os.PathLike) else folder
        texts: list[Optional[bytes]] = [_text(place, "folder", "a str or a path of one"), _text(catalog, "catalog"), _text(key, "key")]
        texts.append(None if token is None else _text(token, "token"))
        self._running: set[Download] = set()
        loaded, value = _library.load(library), ctypes.c_void_p()
        begin()
        check(loaded, loaded.ofm_maps_open(*texts, ctypes.byref(value)))
        self._handle = Handle(loaded, "maps", value.value, self)

    def close(self) -> None:
        """Stops the downloads, which keep their bytes, and lets go of the folder, after the calls that other threads have under way."""
        self._handle.close()

    def __enter__(self) -> Maps:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def catalog(self, max_age: int = 86_400) -> dict[str, Any]:
        """What the publisher offers: `packages` and `styles`. The server is asked when it was not within so many seconds."""
        age = min(_whole(max_age, "max_age"), 2**62)
        return _interruptible(lambda: self._json("ofm_maps_catalog", age))

    def search(self, text: str, language: str = "en") -> list[dict[str, Any]]:
        """The packages whose names match, best first."""
        return self._json("ofm_maps_search", _text(text, "text"), _text(language, "language"))

    def installed(self) -> list[dict[str, Any]]:
        """What is on the device."""
        return self._json("ofm_maps_installed")

    def updates(self) -> dict[str, Any]:
        """What an update would download, by the last list."""
        return self._json("ofm_maps_updates")

    def verify(self) -> list[dict[str, Any]]:
        """Reads every byte of what is installed; what is missing or damaged, nothing when all is whole.

        A damaged map stays until `download` or `update` has downloaded it again.
        """
        return _interruptible(lambda: self._json("ofm_maps_verify"))

    def download(self, package: str, style: Optional[str] = None) -> Download:
        """Begins to download a package and a style, or to bring them to the newest version of the last list.

        The list is read again when it is a day old; `update` asks the server at once.
        """
        return Download(self, "ofm_maps_download", _text(package, "package"), _text(style, "style") if style is not None else None)

    def update(self) -> Download:
        """Asks the server for the list, and begins to bring everything that is installed to the newest version, with patches."""
        return Download(self, "ofm_maps_update")

    def remove(self, package: str) -> None:
        """Removes a package."""
        self._handle.call("ofm_maps_remove", _text(package, "package"))

    def style(self, style: str, package: str) -> dict[str, Any]:
        """An installed style whose tiles, sprites and glyphs are files of this device. Do not store it."""
        return self._json("ofm_maps_style", _text(style, "style"), _text(package, "package"))

    def tile(self, z: int, x: int, y: int, tileset: Optional[str] = None) -> Optional[Tile]:
        """A tile of what is installed; y counts from the north. None when it is not here.

        Zooms are 0 to 22, x and y below 2^z; others are the error `invalid-arguments`.
        """
        z, x, y = _whole(z, "z"), _whole(x, "x"), _whole(y, "y")
        # Before the call: ctypes would keep the lowest 32 bits.
        if not (0 <= z <= 22 and 0 <= x < 1 << z and 0 <= y < 1 << z):
            raise OfflineMapsError("invalid-arguments", f"{z}/{x}/{y} is no tile: zooms are 0 to 22, x and y below 2^z.")
        handle = self._taken("ofm_maps_tile", _text(tileset, "tileset") if tileset is not None else None, z, x, y)
        return Tile(*self._bytes(handle)) if handle else None

    def set_offline(self, offline: bool) -> None:
        """Holds all requests back, until it is called with False or the maps are closed."""
        self._handle.call("ofm_maps_set_offline", int(offline))

    def _taken(self, name: str, *arguments: Any) -> Optional[int]:
        out = ctypes.c_void_p()
        self._handle.call(name, *arguments, ctypes.byref(out))
        return out.value

    def _bytes(self, data: Optional[int]) -> tuple[bytes, str]:
        library = self._handle.library
        try:
            return ctypes.string_at(library.ofm_data_bytes(data), library.ofm_data_length(data)), library.ofm_data_type(data).decode()
        finally:
            library.ofm_data_free(data)

    def _json(self, name: str, *arguments: Any) -> Any:
        return json.loads(self._bytes(self._taken(name, *arguments))[0])
