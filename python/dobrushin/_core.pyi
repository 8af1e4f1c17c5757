from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dobrushin._numbers import Array, Law, Number, Numbers
from dobrushin.report import Interval

__all__ = [
    "Answer",
    "Claim",
    "FiniteChannel",
    "Laws",
    "LocalMechanism",
    "Model",
    "RunFile",
    "Schema",
    "__version__",
    "account",
    "calibrate",
    "certificate_text",
    "chains",
    "claim",
    "contraction",
    "curve",
    "divergence",
    "explain",
    "forget",
    "hockey_stick",
    "ledger_budget",
    "ledger_change",
    "ledger_check",
    "ledger_init",
    "ledger_people",
    "ledger_person",
    "ledger_reserve",
    "ledger_show",
    "ledger_terms",
    "local_bounds",
    "local_plan",
    "plan",
    "program",
    "renyi",
    "save_model",
    "smallest_epsilon",
    "state_of",
    "theta",
    "total",
    "train",
    "verify",
    "worst_case",
]
__version__: str

def program(words: Sequence[str]) -> int: ...
@final
class RunFile:
    @staticmethod
    def read(path: str | PathLike[str]) -> RunFile: ...
    @staticmethod
    def parse(text: str) -> RunFile: ...
    @staticmethod
    def of_sections(sections: Mapping[str, Any]) -> RunFile: ...
    def with_keys(self, keys: dict[str, Any]) -> RunFile: ...
    def json(self) -> str: ...
    def toml(self) -> str: ...
    def check(self) -> None: ...
    def self_contained(self) -> RunFile: ...
    def names_files(self) -> bool: ...

@final
class Answer:
    def asked(self) -> str: ...
    def guarantee(self) -> tuple[tuple[float, float], tuple[float, float], str, list[str]] | None: ...
    def report(self) -> tuple[str, str]: ...
    def certificate(self) -> str | None: ...

def account(
    run: RunFile,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    tolerance: float | None = None,
    analyses: Sequence[str] | None = None,
    floor: bool = True,
    advice: bool = False,
    utility: bool = False,
    per_record: bool = False,
    observers: bool = False,
    orders: Sequence[float] | None = None,
) -> Answer: ...
def calibrate(
    run: RunFile,
    parameter: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    advantage: float | None = None,
    tpr: float | None = None,
    fpr: float | None = None,
) -> tuple[str, str, RunFile]: ...
@final
class Claim:
    def audit(self, with_rows: NDArray[np.float64], without_rows: NDArray[np.float64]) -> tuple[str, str]: ...

def claim(
    run: RunFile | None = None, *, epsilon: float | None = None, delta: float | None = None, confidence: float | None = None
) -> Claim: ...
def worst_case(run: RunFile, *, epsilon: float | None = None, delta: float | None = None) -> tuple[str, str]: ...
def curve(
    run: RunFile,
    over: list[str | tuple[str, list[Any]]],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    points: int = 25,
    log: bool = False,
    analyses: Sequence[str] | None = None,
    utility: bool = False,
) -> tuple[str, str]: ...
def plan(
    *,
    records: float,
    epsilon: float,
    delta: float,
    schema: str | PathLike[str] | None = None,
    schema_text: str | None = None,
    dimension: float | None = None,
    classes: float | None = None,
    label: str | None = None,
    model: str | None = None,
    order: str | None = None,
    neighbours: str | None = None,
) -> tuple[str, str, RunFile]: ...
def verify(
    certificate: bytes, *, name: str, model: bytes | None = None, model_name: str | None = None
) -> tuple[str, str]: ...
def total(certificates: Sequence[tuple[str, bytes]], *, delta: float | None = None) -> tuple[str, str]: ...
def certificate_text(certificate: str) -> str: ...
def explain(topic: str | None) -> str: ...
def chains(run: RunFile) -> str: ...
@overload
def theta(epsilon: Number, r: Number) -> float: ...
@overload
def theta(epsilon: Numbers, r: Numbers, *, bounds: bool = False) -> Any: ...
def hockey_stick(
    family: str,
    distance: Numbers,
    size: Numbers,
    *,
    epsilon: Numbers | None = None,
    gamma: Numbers | None = None,
    bounds: bool = False,
) -> Any: ...
def smallest_epsilon(family: str, distance: Numbers, size: Numbers, delta: Numbers, *, bounds: bool = False) -> Any: ...
def renyi(family: str, distance: Numbers, size: Numbers, order: Numbers, *, bounds: bool = False) -> Any: ...
def divergence(family: str, distance: Numbers, size: Numbers, f: str, *, bounds: bool = False) -> Any: ...
def contraction(
    family: str,
    length: Numbers,
    size: Numbers,
    *,
    epsilon: Numbers | None = None,
    gamma: Numbers | None = None,
    f: str | None = None,
    bounds: bool = False,
) -> Any: ...
@final
class Laws:
    def __new__(cls, p: Law, q: Law) -> Laws: ...
    def hockey_stick(self, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, bounds: bool = False) -> Any: ...
    def smallest_epsilon(self, delta: Numbers, *, bounds: bool = False) -> Any: ...
    def renyi(self, order: Numbers, *, bounds: bool = False) -> Any: ...
    def divergence(self, f: str, *, bounds: bool = False) -> Any: ...

@final
class FiniteChannel:
    def __new__(cls, matrix: ArrayLike, normalise: bool) -> FiniteChannel: ...
    @property
    def inputs(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    def matrix(self) -> Array: ...
    def contraction(self, *, epsilon: Numbers | None = None, gamma: Numbers | None = None, bounds: bool = False) -> Any: ...
    def epsilon(self, delta: Numbers, *, bounds: bool = False) -> Any: ...
    def total_variation(self) -> tuple[Interval, tuple[int, int]]: ...
    def chi_squared(self) -> tuple[Interval, tuple[int, int], float]: ...
    def bends(self) -> list[tuple[float, tuple[int, int]]]: ...
    def then(self, next: FiniteChannel) -> FiniteChannel: ...
    def beside(self, other: FiniteChannel) -> FiniteChannel: ...
    def passage(self, mu: Law, nu: Law, f: str) -> str: ...
    def report(self) -> tuple[str, str]: ...

@final
class LocalMechanism:
    def __new__(
        cls,
        name: str,
        epsilon: float,
        delta: float,
        declared: Mapping[str, Any],
        truth: float | None = None,
        channel: ArrayLike | None = None,
    ) -> LocalMechanism: ...
    def delta(self, epsilon: Numbers, *, bounds: bool = False) -> Any: ...
    def epsilon(self, delta: Numbers, *, bounds: bool = False) -> Any: ...
    def report(self, *, questions: int | None = None, shuffled: int | None = None, delta: float) -> tuple[str, str]: ...
    def privatize(
        self,
        answers: Any,
        *,
        skip_bad: bool,
        seed: int | None = None,
        ledger: str | None = None,
        people: Any = None,
    ) -> tuple[NDArray[Any], int, int]: ...
    def privatize_keyed(
        self,
        keys: NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.uint8]],
        answers: Any,
        codes: NDArray[np.int32] | None = None,
        *,
        secret: bytes,
        skip_bad: bool,
    ) -> NDArray[Any]: ...
    def report_words(self) -> int: ...
    def count(self, reports: NDArray[Any]) -> NDArray[np.uint64]: ...
    def estimate(
        self,
        reports: NDArray[Any],
        count: int | None,
        times: Sequence[int] | None = None,
        *,
        confidence: float,
        simultaneous: bool,
        method: str,
        quantiles: Sequence[float],
        private: bool,
    ) -> tuple[str, str]: ...

def local_plan(
    epsilon: float, delta: float, declared: Mapping[str, Any], records: int | None, error: float | None
) -> tuple[str, str]: ...
def local_bounds(
    epsilon: float,
    delta: float,
    records: int,
    *,
    moments: float | None = None,
    radius: float | None = None,
    dimension: int | None = None,
    categories: int | None = None,
) -> tuple[str, str]: ...

_Given: TypeAlias = str | list[Any]

@final
class Schema:
    @staticmethod
    def read(path: str | PathLike[str]) -> Schema: ...
    @staticmethod
    def of_dict(given: Mapping[str, Any]) -> Schema: ...
    @staticmethod
    def of_run(run: RunFile) -> Schema: ...
    def with_label(self, label: str) -> Schema: ...
    def columns(self) -> tuple[list[str], list[str]]: ...
    def toml(self) -> str: ...

@final
class Model:
    @staticmethod
    def read(model: bytes, name: str) -> Model: ...
    def columns(self) -> tuple[list[str], list[str]]: ...
    def feature_names(self) -> list[str]: ...
    def classes(self) -> list[list[str] | None]: ...
    def parameters(self) -> list[np.ndarray[Any, Any]]: ...
    def predict(self, data: _Given, skip_bad: bool) -> list[list[np.ndarray[Any, Any]]]: ...

def train(
    data: _Given,
    run: RunFile | None = None,
    *,
    schema: Schema | None = None,
    model: str | None = None,
    order: str | None = None,
    neighbours: str | None = None,
    records: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    test: _Given | None = None,
    public: _Given | None = None,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    seed: int | None = None,
    keep_state: str | PathLike[str] | None = None,
    ledger: str | None = None,
    person: Any = None,
    leave_out: bool = False,
) -> tuple[bytes, str, str, str]: ...
def state_of(path: str | PathLike[str]) -> tuple[Schema, str]: ...
def forget(
    state: str | PathLike[str],
    data: _Given,
    *,
    delta: float,
    more: Sequence[str],
    like: _Given | None = None,
    numbers: Sequence[int] | None = None,
    mask: int | None = None,
    conditions: Sequence[tuple[str, Any]] | None = None,
    group: str | None = None,
    epsilon: float | None = None,
    steps: float | None = None,
    dry_run: bool = False,
    test: _Given | None = None,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    seed: int | None = None,
) -> tuple[tuple[bytes, str] | None, str, str, str | None]: ...
def save_model(folder: str | PathLike[str], model: bytes, certificate: str, force: bool) -> None: ...
def ledger_init(
    place: str, *, epsilon: float, delta: float, neighbours: str, planned: bool, people: int
) -> tuple[str, str]: ...
def ledger_terms(place: str) -> tuple[str, str]: ...
def ledger_budget(place: str, *, epsilon: float, delta: float, planned: bool, people: Any = None) -> tuple[str, str]: ...
def ledger_reserve(
    place: str,
    people: Any,
    *,
    run: RunFile | None = None,
    certificate: tuple[str, bytes] | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    what: str | None = None,
    leave_out: bool = False,
    dry_run: bool = False,
) -> tuple[str, str, list[str], NDArray[np.bool_]]: ...
def ledger_change(place: str, release: int, change: str, note: str | None = None) -> tuple[str, str]: ...
def ledger_show(place: str) -> tuple[str, str]: ...
def ledger_person(place: str, name: Any) -> tuple[str, str]: ...
def ledger_people(place: str) -> tuple[list[str], list[Array]]: ...
def ledger_check(place: str) -> tuple[str, str]: ...
