"""Downloads, on the functions of offlinemaps.h."""
from __future__ import annotations

import ctypes
import enum
import itertools
import math
import queue
import time
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Optional

from . import _library
from ._handle import Handle, OfflineMapsError, check

if TYPE_CHECKING:
    from ._maps import Maps

SLICE = 0.2
"""Seconds that a call may wait in the library: Python raises KeyboardInterrupt between calls."""


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


ENDS = (State.DONE, State.FAILED, State.CANCELLED)


class Progress(NamedTuple):
    """How far a download is."""
    fraction: float
    """The part that is done, 0 to 1; never falls."""
    transferred: int
    """Bytes that came over the network."""
    state: State
    text: str
    """The state in English."""


_numbers = itertools.count(1)
_downloads: weakref.WeakValueDictionary[int, Download] = weakref.WeakValueDictionary()


@_library.ProgressFunction
def _show(number: int, fraction: float, transferred: int, state: int, text: Optional[bytes]) -> None:
    """On the library's thread. One function for all downloads: it must not be freed while it runs."""
    download = _downloads.get(number)
    if download is not None:
        download._show(Progress(fraction, transferred, State(state), (text or b"").decode(errors="replace")))


class Download:
    """A download that has begun. Iterate over it for its progress, or wait for its end; leaving a loop before its end stops it.

    Its maps hold it until it has ended, so it may be left alone. A download that is stopped keeps its bytes: the next one of the same
    package continues there.
    """

    def __init__(self, maps: Maps, name: str, *arguments: Any) -> None:
        self._maps = maps
        self._shown: queue.SimpleQueue[Progress] = queue.SimpleQueue()
        number, value = next(_numbers), ctypes.c_void_p()
        _downloads[number] = self
        # Before the call: the last progress may come before the call returns.
        maps._running.add(self)
        try:
            maps._handle.call(name, *arguments, _show, number, ctypes.byref(value))
        except BaseException:
            maps._running.discard(self)
            raise
        self._handle = Handle(maps._handle.library, "download", value.value, self)

    def _show(self, progress: Progress) -> None:
        self._shown.put(progress)
        if progress.state in ENDS:
            self._maps._running.discard(self)

    def __iter__(self) -> Iterator[Progress]:
        """The progress, whenever it changes; raises OfflineMapsError when the download fails.

        One loop: its end closes the download, and another one raises `wrong-state`.
        """
        if self._handle.is_closed:
            raise OfflineMapsError("wrong-state", "The download is closed.")
        try:
            while True:
                progress = self._shown.get()
                yield progress
                if progress.state in ENDS:
                    break
            self.wait()
        finally:
            self.close()

    def wait(self, seconds: Optional[float] = None) -> bool:
        """Waits for the end; False when it has not ended in time. Raises OfflineMapsError when the download failed."""
        ended = ctypes.c_int32()
        end = math.inf if seconds is None else time.monotonic() + seconds
        while not ended.value:
            left = end - time.monotonic()
            self._handle.call("ofm_download_wait", math.ceil(max(0, min(left, SLICE)) * 1_000), ctypes.byref(ended))
            if left <= SLICE:
                break
        return ended.value == 1

    def cancel(self) -> None:
        """Stops it; returns at once."""
        if not self._handle.is_closed:
            self._handle.call("ofm_download_cancel")

    def close(self) -> None:
        """Stops it when it has not ended, and frees it."""
        self._handle.close()
        self._maps._running.discard(self)

    def __enter__(self) -> Download:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()
