"""Handles of the library: the process that may use them, and when they are freed."""
from __future__ import annotations

import ctypes
import os
import sys
import threading
import weakref
from typing import Any, Optional


class OfflineMapsError(Exception):
    """Why a call failed: a stable word for programs, and what happened and what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} [{code}]")
        self.code, self.message = code, message


# The process that opened maps. A child of fork has none of the library's threads: every call would wait for ever.
_process: Optional[int] = None


def begin() -> None:
    """Before the library opens maps: raises `wrong-state` in a child of fork whose parent opened some."""
    global _process
    if _process is None:
        _process = os.getpid()
    if _process != os.getpid():
        raise OfflineMapsError(
            "wrong-state", "The library was opened before fork, and does not work in the child. Open maps in the child alone, or start it "
            'by multiprocessing.get_context("spawn").')


def check(library: ctypes.CDLL, error: Optional[int]) -> None:
    """Raises the error of a function, when there is one, and frees it."""
    if error:
        code, message = library.ofm_error_code(error), library.ofm_error_message(error)
        library.ofm_error_free(error)
        raise OfflineMapsError(code.decode(), message.decode())


class Handle:
    """What the library opened for an object. It is freed once: at `close`, or when the last call that uses it has ended."""

    def __init__(self, library: ctypes.CDLL, kind: str, value: Optional[int], owner: object) -> None:
        """`kind` is the word in the names of its functions. An owner that nobody holds is closed, and before Python ends every one.

        After that end the library's thread can no longer call Python, and a `free` would wait for it for ever.
        """
        self.library, self._kind, self._value = library, kind, value
        self._uses, self._lock, self.is_closed = 0, threading.Lock(), False
        weakref.finalize(owner, self.close)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function with the handle; raises its error, or `wrong-state` when the handle is closed."""
        begin()
        with self._lock:
            if self.is_closed:
                raise OfflineMapsError("wrong-state", f"The {self._kind} {'are' if self._kind == 'maps' else 'is'} closed.")
            self._uses += 1
        try:
            check(self.library, getattr(self.library, name)(self._value, *arguments))
        finally:
            with self._lock:
                self._uses -= 1
                is_last = self.is_closed and not self._uses
            if is_last:
                self._free()

    def close(self) -> None:
        """Frees it, after the calls that other threads have under way."""
        if _process != os.getpid():
            return  # the parent's
        with self._lock:
            is_last = not self.is_closed and not self._uses
            self.is_closed = True
        if is_last:
            self._free()

    def _free(self) -> None:
        if not sys.is_finalizing():
            getattr(self.library, f"ofm_{self._kind}_free")(self._value)
