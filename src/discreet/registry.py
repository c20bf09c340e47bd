"""Registries of named extensions; built-in and third-party ones register by decorator and entry point alike.

An entry point of the group names a module; importing the module runs its decorators.
"""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import entry_points
from threading import RLock
from typing import TYPE_CHECKING, Generic, TypeVar

from discreet.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Registry(Generic[T]):
    """Extensions of one kind, by name.

    Args:
        group: the entry point group.
        kind: the kind of extension, for messages.
        order: names to list first, in this order; the others follow alphabetically.
        base: the base class of registered classes; None if any object may be registered.
    """

    def __init__(self, group: str, kind: str, order: Sequence[str] = (), *, base: type | None = None) -> None:
        self._group, self._kind, self._order, self._base = group, kind, order, base
        self._loaded: set[str] = set()
        # Reentrant: a module may look up other extensions while it is loaded.
        self._lock = RLock()
        self.known: dict[str, T] = {}

    @cached_property
    def _entries(self) -> tuple[EntryPoint, ...]:
        """Return the entry points of the group; cached, because the lookup searches all installed packages."""
        return tuple(entry_points(group=self._group))

    def names(self) -> tuple[str, ...]:
        """Return all names without importing the extensions; this requires entry points named like the extensions."""
        there = {entry.name for entry in self._entries} | set(self.known)
        return tuple(sorted(there, key=self._place))

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that registers an extension under this name."""

        def add(thing: T) -> T:
            if self._base and not (isinstance(thing, type) and issubclass(thing, self._base)):
                what = f"A {self._kind} must be a class derived from {self._base.__name__}; {name!r} is not."
                raise ParameterError(what, parameter="name")
            taken = self.known.get(name)
            if taken is not None and taken.__module__ != thing.__module__:
                what = f"The name {name!r} is taken by a {self._kind} of {taken.__module__}. Choose another name."
                raise ParameterError(what, parameter="name")
            self.known[name] = thing
            return thing

        return add

    def all(self) -> dict[str, T]:
        """Return all registered extensions by name."""
        with self._lock:
            for entry in self._entries:
                self._load(entry)
        return {name: self.known[name] for name in sorted(self.known, key=self._place)}

    def _load(self, entry: EntryPoint) -> None:
        if entry.value in self._loaded:
            return
        self._loaded.add(entry.value)
        try:
            entry.load()
        except Exception as error:
            self._loaded.discard(entry.value)
            raise ParameterError(
                f"The {self._kind} {entry.name} of {entry.value} cannot be loaded: {error}. Repair or uninstall its "
                "package.",
                parameter=self._group,
            ) from error

    def _place(self, name: str) -> tuple[int, str]:
        return (self._order.index(name) if name in self._order else len(self._order), name)

    def named(self, names: Sequence[str] | None) -> dict[str, T]:
        """Return the extensions with these names, or all.

        Raises:
            UnknownNameError: if a name is not registered; the message suggests similar names.
        """
        known = self.all()
        for name in names or ():
            if name not in known:
                raise UnknownNameError.among(self._kind, name, known)
        return {name: known[name] for name in names} if names else known

    def get(self, name: str) -> T:
        """Return one extension by its name; extensions with other names need not be loadable."""
        with self._lock:
            for entry in self._entries:
                if entry.name == name and name not in self.known:
                    self._load(entry)
        return self.known[name] if name in self.known else self.named([name])[name]
