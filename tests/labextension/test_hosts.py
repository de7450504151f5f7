"""The linked views where a user has them: in Notebook 7, and from an installed wheel."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from tests.labextension.front_end import BUILT, FRONT_END, ROOT, WIDGET, built, chromium, node, screenshots
from tests.labextension.test_page import LONGEST, files, jupyterlab, said

EXTENSION = "share/jupyter/labextensions/polyviz-lab/"


def page(tmp_path, place, **server):
    """Run the scenarios for a host that shows files below ``place``."""
    built()
    command = [node(), str(FRONT_END / "tests" / "page" / "hosts.mjs")]
    browser, only = chromium(), os.environ.get("POLYVIZ_SCENARIO", "")
    root, folder = tmp_path / "root", tmp_path / "jupyter"
    root.mkdir()
    folder.mkdir()
    files(root)
    pictures = str(screenshots(tmp_path / "screenshots"))
    with jupyterlab(root, folder, **server) as address:
        done = subprocess.run(
            [*command, address, browser, pictures, only, place],
            check=False,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
    print(done.stdout)
    assert done.returncode == 0, said(done, folder)


def archives(target, *kinds, tree=ROOT):
    """Build ``kinds`` of archives of ``tree`` in ``target``; what was said, and the files by kind."""
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds wheels, is not installed")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(target)]
    for kind in kinds:
        command += ["--target", kind]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr, {kind: next(target.glob(_ENDINGS[kind])) for kind in kinds}


_ENDINGS = {"wheel": "*.whl", "sdist": "*.tar.gz"}


def names(wheel):
    """The files in a wheel; shared data under the place where it is installed."""
    with zipfile.ZipFile(wheel) as archive:
        return {name.partition(".data/data/")[2] or name for name in archive.namelist()}


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(LONGEST + 300)
def test_in_notebook_7(tmp_path):
    if importlib.util.find_spec("notebook") is None:
        pytest.skip("Notebook 7 is not installed (pip install notebook)")
    page(tmp_path, "notebooks", application="notebook")


@pytest.mark.slow
def test_a_wheel_holds_the_widget_and_the_extension(tmp_path):
    built()
    found = names(archives(tmp_path, "wheel")[1]["wheel"])
    assert "polyviz/static/widget.js" in found
    assert {f"{EXTENSION}{name}" for name in ("package.json", "install.json")} <= found
    assert f"{EXTENSION}schemas/polyviz-lab/plugin.json" in found
    assert any(name.startswith(f"{EXTENSION}static/remoteEntry.") for name in found)
    # Once, and only at the place where JupyterLab looks.
    assert not [name for name in found if name.startswith(("polyviz/labextension", "labextension", "tests"))]
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "polyviz").rglob("*.py")}
    assert sources == {name for name in found if name.endswith(".py")}


@pytest.mark.slow
def test_a_source_archive_brings_the_live_views_to_machines_without_node(tmp_path):
    built()
    _, made = archives(tmp_path, "sdist", "wheel")
    with tarfile.open(made["sdist"]) as archive:
        archive.extractall(tmp_path, filter="data")
    [tree] = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert (tree / "README.md").is_file()
    assert (tree / "docs" / "images" / "seidel.svg").is_file()
    assert not (tree / "labextension" / "node_modules").exists()
    again = tmp_path / "again"
    again.mkdir()
    assert names(archives(again, "wheel", tree=tree)[1]["wheel"]) == names(made["wheel"])


@pytest.mark.slow
def test_a_tree_without_the_front_end_makes_a_wheel_and_says_so(tmp_path):
    tree = tmp_path / "tree"
    hidden = shutil.ignore_patterns("node_modules", BUILT.name, WIDGET.parent.name, "__pycache__")
    shutil.copytree(ROOT / "polyviz", tree / "polyviz", ignore=hidden)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree / name)
    said, made = archives(tmp_path, "wheel", tree=tree)
    assert "views are static" in said
    found = names(made["wheel"])
    assert "polyviz/__init__.py" in found
    assert not [name for name in found if name.endswith(".js") or name.startswith("share")]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(LONGEST + 300)
def test_an_installed_wheel_is_enabled_and_live(tmp_path):
    built()
    [wheel] = archives(tmp_path, "wheel")[1].values()
    installed = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    subprocess.run([*install, str(installed), str(wheel)], check=True, timeout=600)
    environment = {**os.environ, "JUPYTER_PATH": str(installed / "share" / "jupyter")}
    listing = [sys.executable, "-m", "jupyter", "labextension", "list"]
    shown = subprocess.run(listing, env=environment, capture_output=True, text=True, timeout=600, check=True)
    [line] = [line for line in shown.stderr.splitlines() if "polyviz-lab" in line]
    assert "enabled" in line
    assert "OK" in line
    assert "polyviz-inspector" in line
    page(tmp_path, "lab/tree", installed=installed)
