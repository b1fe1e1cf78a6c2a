"""The user's tables on the cluster, and what the driver asks about them."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sign.datasets.custom.parquet.files import is_address
from sign.datasets.custom.tables import Table, check_column_names
from sign.engines.spark.plan import Executors
from sign.engines.spark.shared_folder import SharedFolder
from sign.errors import SignError

# Rows of tables are small, unlike records: many of them are a batch.
SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "8192",
    "spark.sql.parquet.enableVectorizedReader": "true",
    "spark.sql.adaptive.enabled": "true",  # the number of partitions follows from the size of the tables
    "spark.sql.autoBroadcastJoinThreshold": "-1",  # what is broadcast would pass through the driver
}
RAISED = re.compile(r"^sign\.errors\.\w*Error: (.*)$", re.MULTILINE)  # at the end of the traceback of an executor


@dataclass(frozen=True, eq=False)
class Job:
    """A job on tables: the session for records, the session for rows, the shared folder and the executors.

    Both sessions have the same executors, and differ in the sizes of their batches.
    """

    records: Any
    rows: Any
    folder: SharedFolder
    executors: Executors

    @classmethod
    def of(cls, spark: Any, folder: SharedFolder, executors: Executors) -> "Job":
        """Return the job on a session and a shared folder."""
        rows = spark.newSession()
        for name, value in SETTINGS.items():
            rows.conf.set(name, value)
        return cls(spark, rows, folder, executors)

    def read(self, address: str, setting: str) -> Any:
        """Return a Parquet table of the user's as a data frame, after checking that it is one."""
        with self.errors(f"{setting}={address}: cannot be read as Parquet files"):
            return self.rows.read.option("mergeSchema", "false").parquet(uri_of(address))

    def keep(self, frame: Any, name: str) -> Any:
        """Write a data frame to the shared folder, and return what is read from there."""
        with self.errors():
            frame.write.parquet(self.folder.address(name))
        return self.rows.read.parquet(self.folder.address(name))

    def small(self, rows: list[tuple[Any, ...]], schema: str) -> Any:
        """Return a few rows of the driver, for every executor."""
        from pyspark.sql import functions as f

        return f.broadcast(self.rows.createDataFrame(rows, schema))

    @contextmanager
    def errors(self, what: str | None = None) -> Iterator[None]:
        """Raise the error of a task about the user's data as it is; others as ``what``, or unchanged."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            yield
        except (Py4JError, PySparkException) as error:
            if found := RAISED.search(str(error)):
                raise SignError(found[1]) from error
            if what is None:
                raise
            raise SignError(f"{what} ({str(error).splitlines()[0][:200]})") from error


def uri_of(path: str) -> str:
    """Return a path of this machine, which executors see as well, as an address."""
    from pathlib import Path

    return path if is_address(path) or path.startswith("file:") else Path(path).resolve().as_uri()


def header_of(frame: Any, address: str) -> Table:
    """Return the columns of a data frame as a table without rows."""
    from pyspark.sql.pandas.types import to_arrow_schema

    schema = to_arrow_schema(frame.schema)
    check_column_names(address, schema.names)
    return table_of(schema.empty_table(), address)


def spark_schema(schema: Any) -> Any:
    """Return a schema of Arrow as one of Spark."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def sample_of(frame: Any, names: list[str], address: str) -> Table:
    """Return some columns of the first row of a data frame."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    chosen = frame.select(*map(quoted, names)).limit(1)
    rows: list[Mapping[str, Any]] = [row.asDict(recursive=True) for row in chosen.collect()]
    return table_of(pa.Table.from_pylist(rows, to_arrow_schema(chosen.schema)), address)


def table_of(table: Any, address: str) -> Table:
    """Return a table or batch of Arrow as one whose messages name the address."""
    import pyarrow as pa

    table = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    return Table(address, dict(zip(table.column_names, table.columns, strict=True)), table.num_rows)


def quoted(name: str) -> str:
    """Return the name of a column as Spark reads it: dots are no fields."""
    return "`" + name.replace("`", "``") + "`"
