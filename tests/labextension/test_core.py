"""The drawing core's own tests, run by vitest, and the rules for what is committed of the front end."""

import json
import re
import subprocess

import pytest

from polyviz.views.schema import VERSION
from tests.labextension.front_end import FRONT_END, WIDGET, node


@pytest.mark.slow
def test_the_core_passes_its_tests():
    command = [node(), str(FRONT_END / "node_modules" / "vitest" / "vitest.mjs"), "run"]
    done = subprocess.run(command, cwd=FRONT_END, capture_output=True, text=True, timeout=800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_types_are_strict():
    command = [node(), str(FRONT_END / "node_modules" / "typescript" / "bin" / "tsc"), "--noEmit"]
    done = subprocess.run(command, cwd=FRONT_END, capture_output=True, text=True, timeout=800, check=False)
    assert done.returncode == 0, done.stdout


def test_the_lock_file_names_no_registry():
    text = (FRONT_END / "package-lock.json").read_text()
    assert '"resolved"' not in text
    assert {"funding"} >= {key for key, _ in addresses(json.loads(text))}
    assert "omit-lockfile-registry-resolved=true" in (FRONT_END / ".npmrc").read_text()


def addresses(value, key=""):
    """Every web address in the lock file, with the key of the entry that it is in."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from addresses(item, key if key == "funding" else name)
    elif isinstance(value, list):
        for item in value:
            yield from addresses(item, key)
    elif isinstance(value, str) and re.search(r"https?:|%2F%2F", value):
        yield key, value


def test_both_sides_know_the_same_version():
    assert f"export const VERSION = {VERSION};" in (FRONT_END / "src" / "core" / "model.ts").read_text()


def test_the_core_imports_nothing_of_jupyter():
    for source in (FRONT_END / "src" / "core").glob("*.ts"):
        imported = re.findall(r"from '([^']+)'", source.read_text())
        assert all(name.startswith("./") for name in imported), source.name


def test_no_text_becomes_markup():
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(")
    for source in (FRONT_END / "src").rglob("*.ts"):
        assert not forbidden.search(source.read_text()), source.name


def test_the_widget_needs_nothing_from_outside():
    """What VS Code and Colab ask of a widget's module: one file, no import, no address, no text run as code."""
    if not WIDGET.is_file():
        pytest.skip("the front end is not built: make labextension")
    text = WIDGET.read_text(encoding="utf-8")
    assert not re.search(r"\bimport\s*[\w{*(\"']|\brequire\s*\(|\beval\s*\(|new Function", text)
    assert {address for address in re.findall(r"https?://[\w./-]+", text)} <= {"http://www.w3.org/2000/svg"}
    assert re.search(r"export\s*\{\s*[\w$]+ as default\s*\}", text)


def test_the_widget_asks_the_host_for_nothing_but_its_model():
    text = (FRONT_END / "src" / "widget" / "index.ts").read_text(encoding="utf-8")
    assert set(re.findall(r"\bmodel\.(\w+)", text)) == {"get", "on", "off", "send"}


def test_the_widget_is_small():
    if not WIDGET.is_file():
        pytest.skip("the front end is not built: make labextension")
    assert WIDGET.stat().st_size < 150_000
