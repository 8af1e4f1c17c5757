"""An f-divergence of two laws, by its name ``f``.

The names are ``"tv"`` (total variation), ``"kl"`` (Kullback–Leibler, in nats), ``"chi2"``, ``"hellinger2"`` (∫(√p − √q)²),
``"reverse-kl"``, ``"reverse-chi2"``, ``"jeffreys"``, ``"jensen-shannon"``, ``"le-cam"`` and ``"alpha:A"``. Other arguments
may be arrays. The answer is the upper end of a certified enclosure; with ``bounds=True`` it is both ends.

>>> import dobrushin as db
>>> db.divergence.gaussian(1.0, 1.0, f="kl")
0.5
"""

from __future__ import annotations

from typing import Any, overload

from dobrushin import _core
from dobrushin._numbers import Law, Number, Numbers, word

__all__ = ["discrete", "gaussian", "laplace"]


@overload
def gaussian(distance: Number, sigma: Number, *, f: str = "kl") -> float: ...
@overload
def gaussian(distance: Numbers, sigma: Numbers, *, f: str = "kl", bounds: bool = False) -> Any: ...
def gaussian(distance: Numbers, sigma: Numbers, *, f: str = "kl", bounds: bool = False) -> Any:
    """The divergence of two Gaussian laws with means ``distance`` apart and standard deviation ``sigma``."""
    return _core.divergence("gaussian", distance, sigma, word("f", f), bounds=bool(bounds))


@overload
def laplace(distance: Number, scale: Number, *, f: str = "kl") -> float: ...
@overload
def laplace(distance: Numbers, scale: Numbers, *, f: str = "kl", bounds: bool = False) -> Any: ...
def laplace(distance: Numbers, scale: Numbers, *, f: str = "kl", bounds: bool = False) -> Any:
    """The divergence of two Laplace laws with centres ``distance`` apart."""
    return _core.divergence("laplace", distance, scale, word("f", f), bounds=bool(bounds))


@overload
def discrete(p: Law, q: Law, *, f: str = "kl") -> float: ...
@overload
def discrete(p: Law, q: Law, *, f: str = "kl", bounds: bool = False) -> Any: ...
def discrete(p: Law, q: Law, *, f: str = "kl", bounds: bool = False) -> Any:
    """The divergence of P from Q on finitely many outcomes.

    >>> print(f"{discrete([0.75, 0.25], [0.25, 0.75], f='chi2'):.6f}")
    1.333333
    """
    return _core.Laws(p, q).divergence(word("f", f), bounds=bool(bounds))
