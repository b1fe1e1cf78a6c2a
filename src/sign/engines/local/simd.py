"""Vectors of floats for compiled loops, which stay in registers where an array would go through memory.

``Lanes(n)`` is the numba type of n floats that are added and scaled together; LLVM maps it to the registers of the
processor. The width is a constant of the code that uses it. They are loaded from, and stored to, contiguous float32
arrays.
"""

from typing import Any

import llvmlite.ir as ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model


class Lanes(types.Type):
    """``width`` floats."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Lanes({width})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.FloatType(), kind.width))


def _has_lanes(array: Any) -> bool:
    return bool(array.layout == "C" and array.dtype == types.float32)


def _address(context: Any, builder: Any, layout: Any, array: Any, index: Any, content: Any) -> Any:
    """Return the address of ``array[index]``, as a pointer to a ``content``."""
    struct = context.make_array(layout)(context, builder, array)
    pointer = cgutils.get_item_pointer(context, builder, layout, struct, [index], wraparound=False)
    return builder.bitcast(pointer, ir.PointerType(content))


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def zeros(typing_context: Any, width: Any) -> Any:
    """``width`` zeros."""
    if not isinstance(width, types.IntegerLiteral):
        return None
    lanes = Lanes(width.literal_value)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_constant_null(lanes)

    return lanes(width), codegen


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def load(typing_context: Any, array: Any, index: Any, width: Any) -> Any:
    """``array[index : index + width]``."""
    if not _has_lanes(array) or not isinstance(width, types.IntegerLiteral):
        return None
    lanes = Lanes(width.literal_value)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        content = context.get_value_type(lanes)
        address = _address(context, builder, signature.args[0], args[0], args[1], content)
        return builder.load(address, align=4)

    return lanes(array, types.intp, width), codegen


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, array: Any, index: Any, lanes: Any) -> Any:
    """``array[index : index + width] = lanes``."""
    if not _has_lanes(array):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        content = context.get_value_type(lanes)
        address = _address(context, builder, signature.args[0], args[0], args[1], content)
        builder.store(args[2], address, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), codegen


@intrinsic  # type: ignore[untyped-decorator]
def scale(typing_context: Any, lanes: Any, factor: Any) -> Any:
    """Each float times ``factor``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        content = context.get_value_type(lanes)
        nothing, first = ir.Constant(content, ir.Undefined), ir.Constant(ir.IntType(32), 0)
        one = builder.insert_element(nothing, args[1], first)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), lanes.width), [0] * lanes.width)
        return builder.fmul(args[0], builder.shuffle_vector(one, nothing, everywhere))

    return lanes(lanes, types.float32), codegen


@intrinsic  # type: ignore[untyped-decorator]
def add(typing_context: Any, lanes: Any, others: Any) -> Any:
    """The elementwise sum."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fadd(*args)

    return lanes(lanes, lanes), codegen


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Prefetch ``array[index]`` into the cache; a hint that cannot fail."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature.args[0], args[0], args[1], ir.IntType(8))
        flag = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag]), "llvm.prefetch.p0"
        )
        read, second_level, cached = (ir.Constant(flag, value) for value in (0, 2, 1))
        builder.call(function, [address, read, second_level, cached])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen
