# SPDX-License-Identifier: LGPL-2.1-or-later
"""What stands for the value of a function that a simulation did not call."""


class NotRun:
    """The value of tasks whose functions were not called, because the machine is
    simulated: NOT_RUN. What is computed from it is it again; whoever needs to
    know the value is told how to get it."""

    __slots__ = ()
    _only = None

    def __new__(cls):
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self):
        return "<not run: simulated>"

    def __reduce__(self):
        return "NOT_RUN"

    def _itself(self, *args, **kwargs):
        return self

    def _unknown(self, *args, **kwargs):
        raise TypeError(
            "the value is not known, since the machine is simulated and the "
            "function was not called: ORRERY_SIM_KERNELS=run calls functions"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _itself
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _itself
    __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _itself
    __neg__ = __pos__ = __abs__ = __getitem__ = _itself
    __array_ufunc__ = None  # numpy leaves its operators to the above
    __bool__ = __int__ = __float__ = __index__ = __complex__ = _unknown
    __iter__ = __len__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown
    __setitem__ = __contains__ = _unknown


NOT_RUN = NotRun()
