"""The extension in a real kernel, spoken to as JupyterLab does: execute, complete, inspect, interrupt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from jupyter_client.manager import start_new_kernel

from polyviz.views.schema import MIME

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

TIMEOUT = 600

LONG = """\
%%polyopt -t c
for i in range(M):
    for j in range(M):
        for k in range(M):
            D[i, j] += A[i, k] * A[k, j]
"""


class Client:
    """A kernel with what it published for each cell."""

    def __init__(self, manager: Any, client: Any) -> None:
        self.manager = manager
        self.client = client

    def start(self, code: str) -> str:
        return str(self.client.execute(code))

    def finish(self, number: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The reply and the published messages of a cell."""
        messages = []
        while True:
            message = self.client.get_iopub_msg(timeout=TIMEOUT)
            if message["parent_header"].get("msg_id") != number:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
            messages.append(message)
        while True:
            reply = self.client.get_shell_msg(timeout=TIMEOUT)
            if reply["parent_header"].get("msg_id") == number:
                return reply["content"], messages

    def run(self, code: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        return self.finish(self.start(code))

    def value(self, expression: str) -> str:
        reply, _ = self.finish(self.client.execute("", user_expressions={"value": expression}))
        return str(reply["user_expressions"]["value"]["data"]["text/plain"])


@pytest.fixture(scope="module")
def kernel() -> Iterator[Client]:
    manager, client = start_new_kernel(startup_timeout=TIMEOUT, kernel_name="python3")
    try:
        kernel = Client(manager, client)
        reply, messages = kernel.run("%load_ext polyviz")
        assert reply["status"] == "ok"
        assert [message["msg_type"] for message in messages if message["msg_type"] != "status"] == ["execute_input"]
        yield kernel
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_cell_runs_and_its_result_is_a_bundle(kernel: Client) -> None:
    reply, messages = kernel.run(
        "%%polyopt -s isl\nimport numpy as np\nB = np.zeros((30, 30))\n"
        "for i in range(30):\n    for j in range(30):\n        B[i, j] = i + j\n"
    )
    assert reply["status"] == "ok", reply
    [result] = [message["content"]["data"] for message in messages if message["msg_type"] == "execute_result"]
    assert set(result) == {MIME, "text/html", "text/plain"}
    assert kernel.value("B.sum()").startswith("np.float64(26100")


def test_options_complete(kernel: Client) -> None:
    code = "%%polyopt --target c,nu"
    reply = kernel.client.complete(code, len(code), reply=True, timeout=TIMEOUT)["content"]
    assert reply["matches"] == ["numba"]
    assert code[reply["cursor_start"] : reply["cursor_end"]] == "nu"


def test_help_is_shown(kernel: Client) -> None:
    reply = kernel.client.inspect("%%polyopt", 9, reply=True, timeout=TIMEOUT)["content"]
    assert reply["found"]
    assert "--no-verify" in reply["data"]["text/plain"]
    reply = kernel.client.inspect("%%polyopt --tile 32", 14, reply=True, timeout=TIMEOUT)["content"]
    assert reply["found"]
    assert reply["data"]["text/plain"].startswith("--tile N[,N…]")


def test_an_error_is_short(kernel: Client) -> None:
    reply, _ = kernel.run("%%polyopt -s plutoo\nfor i in range(3):\n    B[i, 0] = 0\n")
    assert reply["traceback"] == ["OptionError: Unknown schedule 'plutoo': did you mean 'pluto'?"]


def test_an_interrupt_stops_the_worker_and_leaves_the_arrays(kernel: Client) -> None:
    kernel.run("import numpy as np; M = 3000; A = np.ones((M, M)); D = np.zeros((M, M))")
    number = kernel.start(LONG)
    progress = kernel.client.get_iopub_msg(timeout=TIMEOUT)
    while "running the loop as written" not in str(progress["content"]):
        assert progress["msg_type"] != "error", progress["content"]["traceback"]
        progress = kernel.client.get_iopub_msg(timeout=TIMEOUT)
    updates = []
    while len(updates) < 4:
        message = kernel.client.get_iopub_msg(timeout=TIMEOUT)
        updates += [message] if message["msg_type"] == "update_display_data" else []
    kernel.manager.interrupt_kernel()
    reply, messages = kernel.finish(number)
    assert reply["status"] == "error"
    [line] = reply["traceback"]
    assert line.startswith("CancelledError: Interrupted while running the loop as written, after ")
    assert line.endswith("No array was changed.")
    updates += [message for message in messages if message["msg_type"] == "update_display_data"]
    assert "stopped at 'running the loop as written'" in updates[-1]["content"]["data"]["text/plain"]
    first, *_, last = [message["header"]["date"].timestamp() for message in updates[:-1]]
    # On a busy machine one may come late, and the next in time.
    assert len(updates) <= 3 + (last - first) / 0.1
    assert kernel.value("D.any()") == "np.False_"
    assert kernel.run("%%polyopt\nfor i in range(3):\n    D[i, 0] = 1.0\n")[0]["status"] == "ok"
