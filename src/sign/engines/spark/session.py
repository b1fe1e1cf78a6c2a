"""The connection to Spark: what it requires of this machine, and the session that all jobs share."""

import atexit
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import sign
from sign.errors import SignError
from sign.system.program import install_command

JAVA = 17  # the oldest that Spark 4 runs on
JAVA_OPTIONS = (
    f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties')}",
    "-XX:+UseParallelGC",  # the default collector has trouble with arrays of megabytes
    "-XX:TieredStopAtLevel=1",  # what takes time is compiled by numba; this halves the work of starting
)
PATIENCE = 30  # seconds until a long wait is logged
PACKAGE = "sign-package"  # where executors on other machines unpack ours, in the folder that they run in
PATHS = "spark.executorEnv.PYTHONPATH"
# Records hold arrays of megabytes, so a few of them are a batch; floats do not compress.
DEFAULTS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4",
    "spark.sql.parquet.enableVectorizedReader": "false",  # its batches have thousands of records
    "spark.sql.parquet.compression.codec": "uncompressed",
    "spark.hadoop.parquet.enable.dictionary": "false",
    "spark.hadoop.parquet.block.size": str(1 << 25),
    # else pages and row groups are looked at after a hundred records, which would fill Java's memory
    "spark.hadoop.parquet.page.size.row.check.min": "1",
    "spark.hadoop.parquet.page.size.row.check.max": "1",
    "spark.shuffle.compress": "false",
    "spark.shuffle.spill.compress": "false",
    # plans say themselves how many tasks there are
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.unionOutputPartitioning": "false",
    "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than so few records
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": " ".join(JAVA_OPTIONS),
}
LOCAL = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
cleanup: dict[str, Callable[[], Any]] = {}  # at the end of the session, by folder
log = logging.getLogger(__name__)
_running: dict[tuple[Any, ...], Any] = {}  # the session of this process, by its settings; Spark allows one


def is_local(master: str) -> bool:
    """Return whether executors are threads of a process on this machine."""
    return master.partition("[")[0] == "local"


def check() -> None:
    """Raise unless PySpark and a Java that it runs on are installed."""
    if find_spec("pyspark") is None:
        raise SignError(f"engine=spark: PySpark is not installed; {install_command('spark')}")
    advice = f"install Java {JAVA} or later, or set JAVA_HOME to one"
    version = java_version()
    if version is None:
        raise SignError(f"engine=spark: Java is not installed; {advice}")
    if version < JAVA:
        raise SignError(f"engine=spark: Spark needs Java {JAVA} or later, but Java {version} is installed; {advice}")


def java_version() -> int | None:
    """Return the major version of the Java that Spark would start, or None without Java."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    return None if java is None else _version_of(java)


@cache
def _version_of(java: str) -> int | None:
    """Run ``java -version``, once per process."""
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', shown)
    return int(version[1]) if version else None


def dotted_settings(conf: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested settings under Spark's dotted names.

    >>> dotted_settings({"spark": {"task": {"cpus": 2}, "ui.enabled": True, "jars": None}})
    {'spark.task.cpus': '2', 'spark.ui.enabled': 'true'}
    """
    settings: dict[str, str] = {}
    for key, value in conf.items():
        if isinstance(value, Mapping):
            settings |= dotted_settings(value, f"{prefix}{key}.")
        elif value is not None:
            settings[f"{prefix}{key}"] = str(value).lower() if isinstance(value, bool) else str(value)
    return settings


@contextmanager
def quiet() -> Iterator[None]:
    """Hide PySpark's warning about pandas 3, which is not used here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def connect(master: str, conf: Mapping[str, Any]) -> Any:
    """Return the session with these settings: the running one, or a new one."""
    settings = dotted_settings(conf)
    key = (master, tuple(sorted(settings.items())))
    if key in _running and _running[key].sparkContext._jsc is not None:
        return _running[key]
    check()
    stop()
    began = time.perf_counter()
    with quiet():
        session = _start(master, settings)
    _running[key] = session
    log.info("spark %s on %s: started in %.1f s", session.version, master, time.perf_counter() - began)
    return session


def _start(master: str, settings: dict[str, str]) -> Any:
    from pyspark.sql import SparkSession

    source, package, every = Path(sign.__file__).parents[1], PACKAGE, DEFAULTS | settings
    if is_local(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ["PYSPARK_PYTHON"] = sys.executable
        package, every = str(source), LOCAL | every
    every[PATHS] = os.pathsep.join(filter(None, (package, every.get(PATHS))))
    builder = SparkSession.builder.master(master).appName("SIGN")
    for name, value in every.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
        if not is_local(master):
            session.sparkContext.addArchive(f"{_packed(source)}#{PACKAGE}")
        with logged_if_slow(f"spark: no executor of {master} in {PATIENCE} s; the logs of its workers may say why"):
            session.range(1).count()
    except Exception as error:  # of Spark, Hadoop, py4j: all that can be wrong with a cluster
        raise SignError(f"engine.master={master}: Spark did not start ({innermost_cause(error)})") from error
    return session


@contextmanager
def logged_if_slow(text: str) -> Iterator[None]:
    """Log a message if the block takes long; Spark itself waits silently and forever."""
    timer = threading.Timer(PATIENCE, log.info, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _packed(source: Path) -> str:
    """Archive this package, with what numba has compiled, for machines that do not have it."""
    folder = Path(tempfile.mkdtemp(prefix="sign-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = folder / "package"
    shutil.copytree(source / "sign", copy / "sign", ignore=shutil.ignore_patterns("*.pyc", "files"))
    return shutil.make_archive(str(folder / "sign"), "zip", copy)


def innermost_cause(error: BaseException) -> str:
    """Return the innermost cause of an error of Spark."""
    from py4j.protocol import Py4JError

    try:
        text = str(error)  # calls Java
    except (OSError, Py4JError):
        return "its process has ended; engine.conf.spark.driver.memory=4g gives it more memory"
    # py4j begins the cause with a colon
    lines = [line.strip(": \t") for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if re.match(r"(Caused by: )?[\w.]+(Error|Exception)\b", line)]
    return (causes or lines or [type(error).__name__])[-1].removeprefix("Caused by: ")


@atexit.register
def stop() -> None:
    """Stop the session, if one runs, and remove its files."""
    while cleanup:
        with suppress(Exception):  # an unreachable cluster cannot be cleaned up
            cleanup.popitem()[1]()
    while _running:
        with suppress(OSError):  # it has stopped already
            _running.popitem()[1].stop()
