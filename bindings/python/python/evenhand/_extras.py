"""Optional packages, which only some functions need."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, extra: str) -> Any:
    """Returns the module, or raises an error that names the package to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        message = f"this needs the package {package}, which belongs to the extra `{extra}` of evenhand: pip install {package}"
        raise ImportError(message) from error
