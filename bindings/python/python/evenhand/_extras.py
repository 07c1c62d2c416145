"""Packages that only some things need."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, extra: str) -> Any:
    """The module, or an error that says what to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        message = f"this needs {package}, which the extra `{extra}` of evenhand names: pip install {package}"
        raise ImportError(message) from error
