"""Packages that only some things need."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, extra: str) -> Any:
    """The module, or an error that says what to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        message = f"this needs {module.split('.')[0]}: pip install 'evenhand[{extra}]'"
        raise ImportError(message) from error
