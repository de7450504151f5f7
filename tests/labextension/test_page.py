"""The linked views in a real JupyterLab, driven by a headless Chromium: labextension/tests/page has the scenarios."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress

import nbformat
import numpy as np
import pytest

import polyviz as pv
from polyviz.api.workbench import Workbench
from polyviz.views.schema import MIME
from tests.labextension.front_end import BUILT, FRONT_END, ROOT, built, chromium, node, screenshots

PATIENCE = 120.0
"""Seconds until a server answers, or has ended: three seconds of work, and others may be busy."""
LONGEST = 1500
"""Seconds for a set of scenarios: a minute of work, in which each single wait has a limit of its own."""
HOSTILE = "<img src=x onerror=window.hacked=1>"
SETUP = "%load_ext polyviz\nimport numpy as np\nA = np.zeros((40, 40)); B = np.ones((40, 40)); n = 40"
LOOPS = """%%polyopt --inspect -s original,pluto
for i in range(1, n):
    for j in range(1, n - 1):
        A[i, j] = A[i - 1, j + 1] + B[i, j]"""
VALUES = """import polyviz as pv
part = pv.extract("def f(A):\\n    for i in range(1, A.shape[0]):\\n        A[i] = A[i - 1]")
part"""
SUM = """%%polyopt --inspect -s original --name second
total = 0.0
for i in range(1, n):
    total += A[i, 3] * B[i, 4]"""
JACOBI = """%%polyopt --inspect -s original,pluto --name work
for t in range(steps):
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])"""
LU = """%%polyopt --inspect -s original,pluto
for i in range(n):
    for j in range(i):
        for k in range(j):
            A[i, j] -= A[i, k] * A[k, j]
        A[i, j] /= A[j, j]
    for j in range(i, n):
        for k in range(i):
            A[i, j] -= A[i, k] * A[k, j]"""
THREE = """%%polyopt --inspect -s original,pluto,feautrier
for t in range(steps):
    for i in range(1, n - 1):
        x[i] = 0.33333 * (x[i - 1] + x[i] + x[i + 1])"""
PRODUCT = """%%polyopt --inspect -s superposition,pluto
for i in range(n):
    for j in range(n):
        for k in range(n):
            C[i, j] += A[i, k] * B[k, j]"""
FUNCTION = """
def smooth(A, B):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = A[i - 1, j] + B[i, j - 1]
"""


def notebook(cells):
    made = nbformat.v4.new_notebook(cells=cells)
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def hostile(model):
    """The model with markup in place of every text that names something."""
    if isinstance(model, dict):
        return {
            key: HOSTILE if key in ("name", "label", "source") else hostile(value)
            for key, value in model.items()
        }
    return [hostile(item) for item in model] if isinstance(model, list) else model


def files(folder):
    model = Workbench(pv.inspect(FUNCTION, np.zeros((8, 8)), np.zeros((8, 8)))).model()
    output = nbformat.v4.new_output(
        "display_data", {MIME: {**hostile(model), "text": HOSTILE}, "text/plain": "f"}
    )
    shown = nbformat.v4.new_code_cell("1", outputs=[output])
    write(folder / "live.ipynb", SETUP, LOOPS)
    write(folder / "command.ipynb", SETUP, LOOPS.partition("\n")[2])
    write(folder / "values.ipynb", VALUES, "pv.dependences(part)")
    nbformat.write(notebook([shown]), folder / "hostile.ipynb")
    part = nbformat.v4.new_output("display_data", pv.extract(FUNCTION)._repr_mimebundle_())
    long = [nbformat.v4.new_code_cell(str(number), outputs=[part]) for number in range(40)]
    nbformat.write(notebook(long), folder / "long.ipynb")
    write(folder / "two.ipynb", SETUP, LOOPS.replace("--inspect", "--inspect --name first"), SUM)
    write(folder / "jacobi.ipynb", f"{SETUP}; steps = 8", JACOBI)
    write(folder / "lu.ipynb", f"{SETUP}; A = B + n * np.eye(n)", LU)
    write(folder / "three.ipynb", f"{SETUP}; steps = 20; x = np.ones(n)", THREE)
    write(folder / "compare.ipynb", SETUP, f"%%polyopt --compare -s original,pluto\n{LOOPS.partition(chr(10))[2]}")
    write(folder / "gpu.ipynb", SETUP + "; C = np.zeros((n, n))", PRODUCT)
    shutil.copy(ROOT / "notebooks" / "quickstart.ipynb", folder)
    (folder / "saved.polyviz.json").write_text(json.dumps(model))
    (folder / "many.polyviz.json").write_text(json.dumps(many(model)))
    (folder / "newer.polyviz.json").write_text(json.dumps({**model, "v": 99}))


def write(path, *cells):
    nbformat.write(notebook([nbformat.v4.new_code_cell(text) for text in cells]), path)


def many(model):
    """The model with a hundred thousand points in its statement, as another tool might write it."""
    points = [[i, j] for i in range(1, 251) for j in range(1, 401)]
    statement = {**model["statements"][0], "points": points, "total": len(points)}
    variant = {**model["variants"][0], "times": {statement["name"]: points}}
    return {**model, "statements": [statement], "variants": [variant], "relations": []}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def jupyterlab(root, folder, cache=None, application="jupyterlab", installed=None):
    """A JupyterLab, or another ``application``, on ``root`` without its news; its address.

    ``installed`` is a folder into which a wheel was installed; without it, the extension and package are the tree's.
    """
    share = folder / "share" if installed is None else installed / "share" / "jupyter"
    if installed is None:
        (share / "labextensions").mkdir(parents=True)
        (share / "labextensions" / "polyviz-lab").symlink_to(BUILT)
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(quiet))
    options = {
        "ServerApp.root_dir": root,
        "ServerApp.token": "",
        "ServerApp.password": "",
        "LabApp.expose_app_in_browser": True,
        "JupyterNotebookApp.expose_app_in_browser": True,
        "LabApp.user_settings_dir": folder / "settings",
        "LabApp.workspaces_dir": folder / "workspaces",
    }
    command = [
        sys.executable,
        "-m",
        application,
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={free_port()}",
    ]
    command += [f"--{name}={value}" for name, value in options.items()]
    environment = {
        **os.environ,
        "JUPYTER_PATH": str(share),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "PYTHONPATH": str(installed or ROOT),
        # Of its own, so that nothing is known of this machine at first.
        **({} if cache is None else {"POLYVIZ_CACHE_DIR": str(cache)}),
    }
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            yield address_of(server, folder / "runtime")
        finally:
            server.terminate()
            server.wait(PATIENCE)


def address_of(server, runtime):
    """Where ``server`` answers, once it does.

    The port that it was given may have been taken while it started: it says in ``runtime`` where it is.
    """
    told = runtime / f"jpserver-{server.pid}.json"
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert server.poll() is None, "the server ended"
        # What is not there yet, only half written or not served yet will be soon.
        with suppress(OSError, ValueError):
            address = json.loads(told.read_text())["url"].rstrip("/")
            with urllib.request.urlopen(f"{address}/api/status", timeout=5):
                return address
        time.sleep(0.1)
    raise AssertionError("the server did not answer")


def said(done, folder):
    """What the scenarios and, at the end, the server have said."""
    return f"{done.stdout}{done.stderr}\n{(folder / 'server.log').read_text()[-4000:]}"


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(LONGEST + 300)
@pytest.mark.parametrize("script", ["run", "extension", "tasks", "charts", "newcomer", "keys"])
def test_in_jupyterlab(script, tmp_path):
    built()
    command = [node(), str(FRONT_END / "tests" / "page" / f"{script}.mjs")]
    browser, only = chromium(), os.environ.get("POLYVIZ_SCENARIO", "")
    root, folder = tmp_path / "root", tmp_path / "jupyter"
    root.mkdir()
    folder.mkdir()
    files(root)
    cache = tmp_path / "cache" if script == "charts" else None
    with jupyterlab(root, folder, cache) as address:
        done = subprocess.run(
            [*command, address, browser, str(screenshots(tmp_path / "screenshots")), only],
            check=False,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
    print(done.stdout)
    assert done.returncode == 0, said(done, folder)
