from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np

__all__: list[str]
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
def certificate_text(certificate: str) -> str: ...
def explain(topic: str | None) -> str: ...

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
) -> tuple[bytes, str, str, str]: ...
def save_model(folder: str | PathLike[str], model: bytes, certificate: str, force: bool) -> None: ...
