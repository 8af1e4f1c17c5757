"""The Rényi divergence of two laws, of any order above 0; order 1 is Kullback–Leibler.

Every argument may be an array. The answer is the upper end of a certified enclosure; with ``bounds=True`` it is both ends.

>>> import dobrushin as db
>>> db.renyi.gaussian(1.0, 1.0, order=8.0)
4.0
"""

from __future__ import annotations

from typing import Any, overload

from dobrushin import _core
from dobrushin._numbers import Law, Number, Numbers

__all__ = ["discrete", "gaussian", "laplace"]


@overload
def gaussian(distance: Number, sigma: Number, *, order: Number) -> float: ...
@overload
def gaussian(distance: Numbers, sigma: Numbers, *, order: Numbers, bounds: bool = False) -> Any: ...
def gaussian(distance: Numbers, sigma: Numbers, *, order: Numbers, bounds: bool = False) -> Any:
    """The Rényi divergence of two Gaussian laws with means ``distance`` apart and standard deviation ``sigma``."""
    return _core.renyi("gaussian", distance, sigma, order, bounds=bool(bounds))


@overload
def laplace(distance: Number, scale: Number, *, order: Number) -> float: ...
@overload
def laplace(distance: Numbers, scale: Numbers, *, order: Numbers, bounds: bool = False) -> Any: ...
def laplace(distance: Numbers, scale: Numbers, *, order: Numbers, bounds: bool = False) -> Any:
    """The Rényi divergence of two Laplace laws with centres ``distance`` apart."""
    return _core.renyi("laplace", distance, scale, order, bounds=bool(bounds))


@overload
def discrete(p: Law, q: Law, *, order: Number) -> float: ...
@overload
def discrete(p: Law, q: Law, *, order: Numbers, bounds: bool = False) -> Any: ...
def discrete(p: Law, q: Law, *, order: Numbers, bounds: bool = False) -> Any:
    """The Rényi divergence of P from Q on finitely many outcomes.

    >>> import math
    >>> print(f"{discrete([0.75, 0.25], [0.25, 0.75], order=math.inf):.6f}")
    1.098612
    """
    return _core.Laws(p, q).renyi(order, bounds=bool(bounds))
