"""Adds the engine "hyperslab" to xarray's list of engines that write, without an import of xarray.

xarray finds the engines that read by their entry points. Those that write are in a dict of a module, which
gets the engine when xarray is imported, before or after this package.
"""

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: The modules that have had the list.
_MODULES = ("xarray.backends.writers", "xarray.backends.api")


def _open(*arguments: Any, **keywords: Any) -> Any:
    """Opens a file for xarray."""
    from .xarray import HyperslabStore

    return HyperslabStore.open(*arguments, **keywords)


def _add(module: "ModuleType | None") -> None:
    stores = getattr(module, "WRITEABLE_STORES", None)
    if isinstance(stores, dict):
        stores.setdefault("hyperslab", _open)


class _Finder(MetaPathFinder):
    """Finds the modules of xarray as the other finders do, with a loader that adds the engine."""

    def find_spec(
        self, fullname: str, path: "Sequence[str] | None", target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        if fullname not in _MODULES:
            return None
        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    """Loads a module as another loader does, and adds the engine."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> "ModuleType | None":
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _add(module)


for _name in _MODULES:
    _add(sys.modules.get(_name))
if not any(type(_finder).__module__ == __name__ for _finder in sys.meta_path):
    sys.meta_path.insert(0, _Finder())
