"""Typed decorators for functions that numba compiles: no GIL, machine code cached on disk beside the source."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function that runs on the calling thread."""
    kernel: Function = numba.njit(cache=True, nogil=True)(function)
    return kernel


def compiled_inline(function: Function) -> Function:
    """Compile a function whose body is inserted into the compiled functions that call it."""
    kernel: Function = numba.njit(cache=True, nogil=True, inline="always")(function)
    return kernel


def compiled_parallel(function: Function) -> Function:
    """Compile a function whose ``prange`` loops run on all threads of numba."""
    kernel: Function = numba.njit(parallel=True, cache=True, nogil=True, boundscheck=False)(function)
    return kernel
