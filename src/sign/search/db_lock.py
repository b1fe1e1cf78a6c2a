"""Mutual exclusion between searches of one study: a file lock for SQLite, an advisory lock for PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

import sqlalchemy
from optuna.exceptions import StorageInternalError
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from sign.errors import SignError, reason
from sign.system.locks import exclusive_lock
from sign.system.program import install_command


class DBLock:
    """The lock of a study in the database at ``storage``, the address of SQLAlchemy."""

    def __init__(self, storage: str, study: str) -> None:
        self.study = study
        try:
            self.url = sqlalchemy.make_url(storage)
            if self.url.get_backend_name() not in ("sqlite", "postgresql"):
                raise SignError(f"search.storage={self.public_url}: choose SQLite or PostgreSQL")
            self.engine = sqlalchemy.create_engine(self.url, poolclass=sqlalchemy.NullPool)
        except (ArgumentError, NoSuchModuleError):
            raise SignError(
                f"search.storage={storage.split('://')[0]}…: not the address of a database, "
                "such as sqlite:///study.db or postgresql+psycopg://user@host/name"
            ) from None
        except ModuleNotFoundError as error:
            raise SignError(
                f"search.storage={self.public_url}: the driver {error.name} is not installed; "
                f"{install_command('postgres')}"
            ) from None

    @property
    def public_url(self) -> str:
        """The address without its password."""
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lock for a block; no other search of the study starts or takes over a trial meanwhile."""
        if self.url.get_backend_name() == "sqlite":
            with exclusive_lock(Path(str(self.url.database)).resolve().parent):
                yield
            return
        try:
            connection: Any = self.engine.connect()
        except SQLAlchemyError as error:
            raise SignError(f"search.storage={self.public_url}: is unreachable ({_cause(error)})") from None
        with connection:  # PostgreSQL releases the lock when the connection ends, even if the process is killed
            connection.execute(sqlalchemy.text("SELECT pg_advisory_lock(hashtext(:name))"), {"name": self.study})
            yield

    def time(self) -> float:
        """Return the time of the database in seconds: one clock for all machines."""
        with self.engine.connect() as connection:
            now: Any = connection.scalar(sqlalchemy.select(sqlalchemy.func.now()))
        return float((now if now.tzinfo else now.replace(tzinfo=UTC)).timestamp())

    @contextmanager
    def errors_explained(self) -> Iterator[None]:
        """Turn a failure of the database within a block into a ``SignError``."""
        try:
            yield
        except (SQLAlchemyError, StorageInternalError) as error:
            raise SignError(f"search.storage={self.public_url}: the database failed ({_cause(error)})") from error


def _cause(error: BaseException) -> str:
    """Return the message of the database driver on one line."""
    cause = error.__cause__ if isinstance(error, StorageInternalError) and error.__cause__ else error
    return " ".join(reason(getattr(cause, "orig", cause)).split())
