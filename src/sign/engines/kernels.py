"""The compiled inner loops of the local engine."""

from typing import Any

import numpy as np
from numba import njit, prange
from numba.core import cgutils, types
from numba.extending import intrinsic

from sign.memory import LINE

AHEAD = 12  # entries between asking for a row and adding it, about one memory latency


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask the memory for ``array[index]`` and go on; a hint that cannot fail."""
    import llvmlite.ir as ir

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        layout = signature.args[0]
        struct = context.make_array(layout)(context, builder, args[0])
        pointer = cgutils.get_item_pointer(context, builder, layout, struct, [args[1]], wraparound=False)
        address = builder.bitcast(pointer, ir.PointerType(ir.IntType(8)))
        flag = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag]),
            "llvm.prefetch.p0",
        )
        read, second_level, cached = (ir.Constant(flag, value) for value in (0, 2, 1))
        builder.call(function, [address, read, second_level, cached])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


@njit(parallel=True, cache=True, nogil=True, boundscheck=False)  # type: ignore[untyped-decorator]
def multiply(
    indptr: Any,
    indices: Any,
    weights: Any,
    left: Any,
    right: Any,
    self_loop: Any,
    rows: Any,
    blocks: Any,
    x: Any,
    out: Any,
) -> None:
    """``out = diag(left) (W + self_loop I) diag(right) x``, row by row; all rows, or those of a list."""
    columns = x.shape[1]
    for block in prange(blocks.shape[0] - 1):
        last = blocks[block + 1] - 1
        # A scout walks ahead of the sums over the same rows, and asks for what they will need.
        scout, lead = blocks[block] - 1, 0
        at = end = 0
        for number in range(blocks[block], last + 1):
            i = number if rows is None else rows[number]
            row, mine = out[i], x[i]
            if self_loop != 0:
                own = self_loop if right is None else self_loop * right[i]
                for c in range(columns):
                    row[c] = own * mine[c]
            else:
                for c in range(columns):
                    row[c] = np.float32(0)
            for e in range(indptr[i], indptr[i + 1]):
                while lead <= AHEAD:
                    while at == end and scout < last:
                        scout += 1
                        place = scout if rows is None else rows[scout]
                        at, end = indptr[place], indptr[place + 1]
                    lead += 1
                    if at == end:  # nothing is left to ask for
                        continue
                    coming = x[indices[at]]
                    for c in range(0, columns, LINE):
                        prefetch(coming, c)
                    if right is not None:
                        prefetch(right, indices[at])
                    at += 1
                lead -= 1
                j = indices[e]
                weight = np.float32(1)
                if weights is not None:
                    weight = weights[e]
                if right is not None:
                    weight *= right[j]
                theirs = x[j]
                for c in range(columns):
                    row[c] += weight * theirs[c]
            if left is not None:
                factor = left[i]
                for c in range(columns):
                    row[c] *= factor
