"""The repository keeps its own rules: nothing of one machine in it, small files, honest README commands."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LARGEST_FILE = 1024 * 1024
LONGEST_MODULE = 400
TOP = {
    ".ci",
    ".gitignore",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "benchmarks",
    "docs",
    "hatch_build.py",
    "labextension",
    "notebooks",
    "polyviz",
    "pyproject.toml",
    "requirements",
    "tests",
}
"""What lies at the top of the tree; a name that is new there is entered here on purpose."""

MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:home|root|Users|work|mnt|opt)/[\w.]+")
REGISTRIES = re.compile(
    r"(?:https?:)?(?://|%2F%2F)[\w.-]*(?:pypi|pythonhosted|npmjs|yarnpkg|registry|artifactory|nexus|debian)[\w.-]*"
    r"|__archiveUrl|--(?:extra-)?index-url|\"resolved\":",
    re.IGNORECASE,
)

# A whole line of a code block, with or without a comment after it, or a command in backticks within prose.
MAKE_COMMANDS = re.compile(r"(?:^[ $]*(?=make [\w-]+ *(?:#|$))|`)make ([a-z][\w-]*)", re.MULTILINE)


def tracked_files() -> list[Path]:
    """What git knows, as it is on disk; a file that is deleted but not yet committed is left out."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed: there is no list of the project's own files")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("not a git checkout: there is no list of the project's own files")
    paths = [ROOT / name for name in listing.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def found_in_tracked_text(pattern: re.Pattern[str]) -> list[str]:
    """``file:line: text`` wherever ``pattern`` stands in a tracked text file other than this one."""
    found = []
    for path in tracked_files():
        content = path.read_bytes()
        if path == Path(__file__) or b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8").splitlines(), 1):
            if match := pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {match[0]}")
    return found


# Put together here, so that no path of a machine stands in a file, not even as an example.
@pytest.mark.parametrize(
    ("before", "path"),
    [("see ", "home/ann/code"), ("", "root/.cache/x"), ("open('", "work/data')"), ("FROM=", "opt/wheels")],
)
def test_the_pattern_knows_a_machine_path(before: str, path: str) -> None:
    line = f"{before}/{path}"
    assert MACHINE_PATHS.search(line)


@pytest.mark.parametrize("line", ["polyviz/opt/x.py", "a/work/b", "n/home", "../root/x"])
def test_the_pattern_leaves_relative_paths_alone(line: str) -> None:
    assert not MACHINE_PATHS.search(line)


def test_no_path_of_one_machine() -> None:
    assert found_in_tracked_text(MACHINE_PATHS) == []


def test_no_address_of_a_package_registry() -> None:
    assert found_in_tracked_text(REGISTRIES) == []


def test_no_stray_file_at_the_top_of_the_tree() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in tracked_files()} == TOP


def test_no_large_file() -> None:
    large = {str(path.relative_to(ROOT)) for path in tracked_files() if path.stat().st_size > LARGEST_FILE}
    assert large == set()


def test_notebooks_are_committed_without_outputs() -> None:
    notebooks = [path for path in tracked_files() if path.suffix == ".ipynb"]
    executed = {
        str(path.relative_to(ROOT))
        for path in notebooks
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell.get("outputs") or cell.get("execution_count") is not None
    }
    assert executed == set()


def test_modules_are_short_enough_to_have_one_responsibility() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in sorted((ROOT / "polyviz").rglob("*.py"))
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_documented_make_commands_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    commands = set(MAKE_COMMANDS.findall(text))
    assert commands, f"{document} names no make command"
    assert commands <= make_targets()


def test_the_readme_names_the_two_commands_of_a_newcomer() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_ci_runs_the_test_command_of_the_readme() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == "make test"
