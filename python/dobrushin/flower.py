"""Privacy for Flower: an accountant for federated averaging, and a model that travels from owner to owner.

:class:`Accountant` is a ``flwr.serverapp.PrivacyAccountant``. It counts what the clients of a federation have spent:

>>> from flwr.serverapp import GaussianPrivacyEvent, NeighboringRelation, PrivacyConfig, SamplingMethod
>>> config = PrivacyConfig(1e-6, 1000, NeighboringRelation.ADD_OR_REMOVE_ONE, SamplingMethod.POISSON)
>>> accountant = Accountant(config)
>>> accountant.compose(GaussianPrivacyEvent(noise_multiplier=1.2, sample_size=10, population_size=1000), count=100)
>>> print(f"{accountant.get_epsilon(1e-6):.3f}")
0.559

:class:`Journey`, :func:`take_step` and :func:`travel` train without collecting anything: records stay with their
owners, and the model visits one owner after another (Feldman, Mironov, Talwar, Thakurta 2018, section 1). A
:class:`Logbook` sees to it that an owner takes each step once, also if their node is killed and started again.
``examples/flower`` is an app made of them.
"""

from __future__ import annotations

from dobrushin._flower.accountant import Accountant
from dobrushin._flower.journey import Arrival, Journey, Stop, Vector, certify
from dobrushin._flower.logbook import Logbook
from dobrushin._flower.step import take_step
from dobrushin._flower.travel import travel

__all__ = ["Accountant", "Arrival", "Journey", "Logbook", "Stop", "Vector", "certify", "take_step", "travel"]
