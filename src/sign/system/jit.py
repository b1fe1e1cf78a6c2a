"""Typed decorators for functions that numba compiles: no GIL, machine code cached on disk beside the source."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from numba import njit
from numba.core.registry import cpu_target

Function = TypeVar("Function", bound=Callable[..., Any])


def load_registries() -> None:
    """Load what numba otherwise does with the first compiled loop: its types and functions. Starts no thread."""
    cpu_target.target_context.refresh()


class Decorator(Protocol):
    """A decorator that keeps the type of the function."""

    def __call__(self, function: Function, /) -> Function:
        """Compile a function."""


compiled: Decorator = njit(cache=True, nogil=True)
compiled_inline: Decorator = njit(cache=True, nogil=True, inline="always")  # its body is copied into its callers
compiled_reordered: Decorator = njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})  # sums in any order
compiled_parallel: Decorator = njit(parallel=True, cache=True, nogil=True, boundscheck=False)  # prange in threads
