# SPDX-License-Identifier: LGPL-2.1-or-later
"""Handles, with what is easier in Python: cutting objects into parts."""

import operator
import sys

from . import starpupy
from .starpupy import error


def _numpy():
    """numpy if the program has it; an array cannot come without."""
    return sys.modules.get("numpy")


def _is_array(obj):
    numpy = _numpy()
    return numpy is not None and isinstance(obj, numpy.ndarray)


def view_like(obj, memory):
    """What a function gets for obj where its data lie in other memory."""
    if _is_array(obj):
        return _numpy().asarray(memory)
    view = _view(memory)
    ctypes = sys.modules.get("ctypes")
    if ctypes and isinstance(obj, ctypes.Array) and view.c_contiguous:
        return type(obj).from_buffer(view)
    return bytes(view) if isinstance(obj, bytes) else view


def _view(obj):
    """A memoryview whose elements can be used: ctypes writes its formats in a way
    that memoryview does not read, though it is its own."""
    view = memoryview(obj)
    if view.format[:1] != {"little": "<", "big": ">"}[sys.byteorder] \
            or not view.c_contiguous:
        return view
    try:
        return view.cast("B").cast(view.format[1:], view.shape)
    except ValueError:
        return view


def _int(value):
    """The int that it is, one of numpy's for example, or 0."""
    try:
        return operator.index(value)
    except TypeError:
        return 0


def _lengths(length, nchildren, chunks):
    """The lengths of the parts of so many elements."""
    if not 1 <= _int(nchildren) <= length:
        raise error(f"partition: {length} elements cannot be cut into "
                    f"{nchildren!r} parts: use 1 to {length}")
    nchildren = _int(nchildren)
    try:
        chunks = tuple(chunks)
    except TypeError:
        raise error(f"partition: chunks={chunks!r}: give a list of the lengths "
                    "of the parts") from None
    if not chunks:
        least, more = divmod(length, nchildren)
        return tuple(least + (i < more) for i in range(nchildren))
    if len(chunks) != nchildren:
        raise error(f"partition: {nchildren} parts have {len(chunks)} lengths: "
                    "give one for each")
    lengths = tuple(map(_int, chunks))
    if min(lengths) <= 0:
        raise error(f"partition: {list(chunks)} are not the lengths of parts: "
                    "each must be a positive int")
    chunks = lengths
    if sum(chunks) != length:
        raise error(f"partition: the parts have {sum(chunks)} elements "
                    f"together, the object has {length} along that dimension")
    return chunks


def _slices(obj, dim, lengths):
    parts, start = [], 0
    whole = obj if _is_array(obj) else _view(obj)
    for length in lengths:
        parts.append(whole[(slice(None),) * dim
                           + (slice(start, start + length),)]
                     if dim else whole[start:start + length])
        start += length
    return tuple(parts)


class Handle(starpupy.Handle):
    """Handle(obj): an object as data that tasks use."""

    def _shape(self):
        view = memoryview(self._object)
        return view.shape

    def partition(self, nchildren, dim=0, chunks=()):
        """Cuts an object with memory into parts along a dimension: the handles of
        the parts, a list. chunks has their lengths, which are equal without.

        Tasks may use the parts and the whole; each comes after those that were
        submitted before it and use the same elements.
        """
        if not self._has_memory:
            raise error("partition: the object has no memory of its own (the "
                        "buffer protocol): only such objects have parts")
        if self._nparts:
            raise error("partition: the object is partitioned already: "
                        "unpartition it first")
        shape = self._shape()
        if not isinstance(dim, int) or not 0 <= dim < len(shape):
            raise error(f"partition: there is no dimension {dim!r}, the object "
                        f"has {len(shape)}, numbered from 0")
        if dim and not _is_array(self._object):
            raise error("partition: only arrays of numpy can be cut along "
                        "another dimension than 0: hand over numpy.asarray "
                        "of the object")
        lengths = _lengths(shape[dim], nchildren, chunks)
        starpupy._need("partition")
        return self._partition(dim, lengths,
                               _slices(self._object, dim, lengths))

    def unpartition(self, children=None, nchildren=None):
        """Ends the parts, whose handles cannot be used any more."""
        if not self._nparts:
            raise error("unpartition: the object is not partitioned")
        if children is not None:
            self.get_partition_size(children)
        if nchildren is not None and nchildren != self._nparts:
            raise error(f"unpartition: the object has {self._nparts} parts, "
                        f"not {nchildren}")
        self._unpartition()

    def get_partition_size(self, children):
        """The number of parts, whose handles are given."""
        if not isinstance(children, (list, tuple)) or \
                len(children) != self._nparts or any(
            not isinstance(child, Handle) or child._whole is not self
            for child in children
        ):
            raise error("the handles are not the parts of the object: hand "
                        "over what partition returned")
        return self._nparts


class HandleNumpy(Handle):
    """HandleNumpy(shape, dtype): an array of numpy's whose elements tasks are to
    write."""

    def __init__(self, shape, dtype=float):
        try:
            import numpy
        except ImportError as missing:
            raise error("HandleNumpy: there is no numpy: install "
                        "python3-numpy") from missing
        super().__init__(numpy.zeros(shape, dtype))
