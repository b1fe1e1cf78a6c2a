"""One process at a time, on whichever machine: a file lock for SQLite, an advisory lock for PostgreSQL."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy
from optuna.exceptions import StorageInternalError
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from sign.errors import SignError
from sign.system.locks import exclusive_lock


class Turn:
    """``with turn.taken():`` no other search of this study reads or writes until the end of the block."""

    def __init__(self, storage: str, name: str) -> None:
        self.name = name
        try:
            self.url = sqlalchemy.make_url(storage)
            kind = self.url.get_backend_name()
            if kind not in ("sqlite", "postgresql"):
                raise SignError(f"search.storage={self.shown}: choose SQLite or PostgreSQL")
            self.engine = sqlalchemy.create_engine(self.url, poolclass=sqlalchemy.NullPool)
        except (ArgumentError, NoSuchModuleError):
            raise SignError(
                f"search.storage={storage.split('://')[0]}…: not the address of a database, "
                "such as sqlite:///study.db or postgresql+psycopg://user@host/name"
            ) from None
        except ModuleNotFoundError as error:
            raise SignError(
                f"search.storage={self.shown}: the driver {error.name} is not installed; "
                "pip install -c requirements.lock .[postgres]"
            ) from None

    @property
    def shown(self) -> str:
        """The address without its password."""
        return self.url.render_as_string(hide_password=True)

    def taken(self) -> AbstractContextManager[None]:
        """Wait for the turn, and have it for the block."""
        if self.url.get_backend_name() == "sqlite":
            return exclusive_lock(Path(str(self.url.database)).resolve().parent)
        return self._advisory()

    @contextmanager
    def failures_told(self) -> Iterator[None]:
        """What goes wrong with the database in the block becomes one sentence."""
        try:
            yield
        except (SQLAlchemyError, StorageInternalError) as error:
            raise SignError(f"search.storage={self.shown}: the database failed ({_reason(error)})") from error

    @contextmanager
    def _advisory(self) -> Iterator[None]:
        try:
            connection: Any = self.engine.connect()
        except SQLAlchemyError as error:
            raise SignError(f"search.storage={self.shown}: cannot be reached ({_reason(error)})") from None
        with connection:  # its end frees the lock, whatever happens to this process
            connection.execute(
                sqlalchemy.text("SELECT pg_advisory_lock(hashtext(:name))"), {"name": self.name}
            )
            yield


def _reason(error: BaseException) -> str:
    cause = error.__cause__ if isinstance(error, StorageInternalError) and error.__cause__ else error
    return " ".join(str(getattr(cause, "orig", cause)).split())
