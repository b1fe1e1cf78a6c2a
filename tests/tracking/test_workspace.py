"""The saved view: the request that reaches the service, which a local HTTP server replaces."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from sign.errors import SignError
from sign.tracking.wandb import WandB
from sign.tracking.workspace import COSTS, SEARCHED, build, save

ANSWER = {
    "viewer": {"id": "1", "username": "user", "entity": "team", "flags": "{}", "teams": {"edges": []}},
    "upsertView": {"view": {"id": "dmlldw==", "name": "nw-abc"}, "inserted": True},
}


class Service(BaseHTTPRequestHandler):
    """Answers every query about the account, and records the views that are saved."""

    views: list[dict[str, Any]]

    def do_GET(self) -> None:
        self.answer({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        if self.path.endswith("graphql"):
            asked = json.loads(body)
            if "upsertView" in asked["query"]:
                self.views.append(asked["variables"])
            self.answer({"data": ANSWER})
        else:
            self.answer({})

    def answer(self, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def views(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    Service.views = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
        monkeypatch.delenv("WANDB_MODE", raising=False)
        yield Service.views
        server.shutdown()


def test_saved_view_has_every_panel(views: list[dict[str, Any]]) -> None:
    assert "/team/mine" in save(WandB(project="mine"))
    (view,) = views
    assert (view["entityName"], view["projectName"], view["displayName"]) == ("team", "mine", "SIGN")
    searched = [f"config:{name.replace('.', '.value.')}" for name in SEARCHED]  # as the service spells names
    for name in (*COSTS, *searched, "val/loss", "seconds/training", "test/accuracy", "test/micro_f1", "val/roc_auc"):
        assert name in view["spec"], name


def test_saving_offline_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    with pytest.raises(SignError, match="needs the service"):
        save(WandB())


def test_view_groups_runs_by_group() -> None:
    assert [metric.name for metric in build("team", "mine").runset_settings.groupby] == ["Group"]
