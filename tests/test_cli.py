"""The command line as a person at a terminal meets it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from polyviz import cli
from polyviz.commands import demo, doctor
from polyviz.errors import ToolchainError
from polyviz.model.measurement import ComparisonData, VariantRow
from polyviz.model.roofline import Peaks

if TYPE_CHECKING:
    from pathlib import Path

KERNELS = '''\
"""Two kernels and a helper."""
import numpy as np

raise SystemExit("the file is read, not executed")

SCALE = 2.0


def positive(x):
    return max(x, 0.0)


def smooth(A, B):
    for i in range(1, len(A) - 1):
        B[i] = positive(SCALE * (A[i - 1] + A[i + 1]))
    for i in range(1, len(A)):
        A[i] = A[i - 1] + B[i]


def refused(A):
    for i in range(len(A)):
        A[i] = A[i:].prod()
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a file of kernels."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.py").write_text(KERNELS, encoding="utf-8")
    return tmp_path


def polyviz(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "polyviz.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=800)


@pytest.mark.parametrize("word", ["--help", "explain --help", "demo --help"])
def test_help_is_readable(word: str, golden, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as ended:
        cli.main(word.split())
    assert ended.value.code == 0
    golden(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "The following arguments are required: COMMAND; polyviz --help explains."),
        ("explain", "The following arguments are required: FILE:FUNCTION; polyviz explain --help explains."),
        ("doctor --fast", "Unrecognized arguments: --fast; polyviz --help explains."),
        ("explain missing.py:f", "There is no file missing.py."),
        ("explain kernels.py", "kernels.py holds several functions: write kernels.py:positive, for example."),
        ("explain kernels.py:smoth", "kernels.py holds no function 'smoth': did you mean 'smooth'?"),
        ("explain kernels.py:x", "kernels.py holds no function 'x': it has positive, smooth, refused."),
        ("explain broken.py:f", "broken.py is not valid Python: expected ':' (line 1)."),
        ("explain empty.py", "empty.py holds no function."),
        ("demo --kernel gem", "The demonstration has no kernel 'gem'; it has gemm, jacobi-2d, mvt."),
    ],
)
def test_a_mistake_is_one_line_and_status_2(folder: Path, capsys, words: str, message: str) -> None:
    (folder / "broken.py").write_text("def f(A)\n    pass\n", encoding="utf-8")
    (folder / "empty.py").write_text("", encoding="utf-8")
    assert cli.main(words.split()) == 2
    assert capsys.readouterr().err == f"polyviz: {message}\n"


def test_explain_says_everything_about_a_function(folder: Path, golden, capsys) -> None:
    assert cli.main(["explain", "kernels.py:smooth", "-s", "isl", "--code", "-t", "python"]) == 0
    golden(capsys.readouterr().out)


@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_gets_lines_that_fit(folder: Path, capsys, monkeypatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert cli.main(["explain", "kernels.py:smooth"]) == 0
    assert cli.main(["doctor"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert max(map(len, printed)) <= columns


def test_explain_without_code_prints_none(folder: Path, capsys) -> None:
    assert cli.main(["explain", "kernels.py:smooth"]) == 0
    assert "def smooth" not in capsys.readouterr().out


def test_what_is_refused_is_shown_where_it_stands_in_the_file(folder: Path, golden, capsys) -> None:
    assert cli.main(["explain", "kernels.py:refused"]) == 2
    golden(capsys.readouterr().err)


@pytest.mark.slow
def test_doctor_answers_from_a_process_of_its_own(folder: Path) -> None:
    run = polyviz("doctor")
    assert run.returncode == 0, run.stderr
    for what in ("Python", "islpy", "numba", "C compiler", "caches", "GPU", "jupyterlab"):
        assert what in run.stdout


def test_doctor_says_whether_views_are_live(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setattr(doctor, "widget_script", lambda: None)
    missing = {one.what: one for one in doctor.diagnose().findings}["live views"]
    assert not missing.found
    assert "make wheel" in missing.advice
    folder = tmp_path / "labextensions" / "polyviz-lab"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text("{}")
    monkeypatch.setattr(doctor, "widget_script", lambda: folder)
    found = {one.what: one for one in doctor.diagnose().findings}
    assert found["live views"].found
    assert found["JupyterLab extension"].detail == str(folder)
    assert not found["JupyterLab extension"].advice


def test_doctor_says_what_to_install(monkeypatch, capsys) -> None:
    monkeypatch.setenv("POLYVIZ_CC", "no-such-compiler")
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert cli.main(["doctor"]) == 0
    advice = capsys.readouterr().out.partition("To get more:")[2]
    assert "C compiler: Install gcc" in advice
    assert "GPU: pip install cupy-cuda13x" in advice


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    command = f"{sys.executable} -m polyviz.cli doctor | head -n 1"
    run = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert run.stderr == ""


def test_an_interrupt_ends_a_command_quietly(monkeypatch, capsys) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "demonstrate", interrupted)
    assert cli.main(["demo"]) == 130
    assert capsys.readouterr().err == "polyviz: interrupted\n"


@pytest.mark.slow
def test_the_demonstration_prints_a_table_and_writes_a_report(folder: Path) -> None:
    run = polyviz("demo", "--kernel", "mvt", "--output", "report.html")
    assert run.returncode == 0, run.stderr
    for text in ("Loop i of S0 is parallel", "as written/numba", "as written/python", "pluto/c", "isl/numba"):
        assert text in run.stdout
    assert f"Report: {folder / 'report.html'}" in run.stdout
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "data:image/svg+xml" in page
    assert "Every variant agreed with the loop as written." in run.stdout


@pytest.mark.parametrize(("status", "expected"), [("wrong", 1), ("crashed", 1), ("ok", 0), ("refused", 0)])
def test_a_variant_that_goes_wrong_is_status_1(folder: Path, monkeypatch, capsys, status, expected: int) -> None:
    data = ComparisonData("mvt", (VariantRow("pluto", "c", status, None),), None, None, "", {})

    class Outcome:
        pass

    Outcome.data = data
    monkeypatch.setattr(demo, "compare", lambda *_arguments, **_options: Outcome)
    assert cli.main(["demo", "--kernel", "mvt"]) == expected
    assert ("1 variant went wrong: pluto/c." in capsys.readouterr().out) == bool(expected)


def test_a_report_that_cannot_be_written_is_an_error_before_the_work(folder: Path, capsys) -> None:
    assert cli.main(["demo", "--output", "no/such/folder/report.html"]) == 2
    assert "cannot be written to no/such/folder/report.html" in capsys.readouterr().err


class Measured:
    """A worker that has measured already, or cannot."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def run(self, job: str, *, time_limit: float, label: str) -> object:
        assert (job, label) == ("polyviz.runtime.peaks:measure_peaks", "The measurement")
        assert time_limit > 0
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_doctor_measures_on_demand(monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setenv("POLYVIZ_CACHE_DIR", str(tmp_path))
    peaks = Peaks({"float64": 100e9, "float32": 200e9}, 20e9, 80e9, 2**25, 4)
    monkeypatch.setattr(doctor, "shared_worker", lambda: Measured(peaks))
    assert cli.main(["doctor"]) == 0
    assert "multiply-add peak" not in capsys.readouterr().out
    assert cli.main(["doctor", "--measure"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "multiply-add peak 100 GFLOP/s in float64, 200 GFLOP/s in float32, on 4 threads" in shown
    assert "copy bandwidth 20.0 GB/s in memory, 80.0 GB/s within the last cache" in shown
    assert (tmp_path / "peaks.json").is_file()


def test_doctor_says_that_a_measurement_contradicts_itself(monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setenv("POLYVIZ_CACHE_DIR", str(tmp_path))
    peaks = Peaks({"float64": 100e9, "float32": 200e9}, 16.5e9, 7.3e9, 2**25, 4)
    monkeypatch.setattr(doctor, "shared_worker", lambda: Measured(peaks))
    assert cli.main(["doctor", "--measure"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "no copy bandwidth 16.5 GB/s in memory" in shown
    assert "copy bandwidth: The last cache was measured to be slower than memory" in shown


def test_doctor_says_why_nothing_was_measured(monkeypatch, capsys) -> None:
    monkeypatch.setattr(doctor, "shared_worker", lambda: Measured(ToolchainError("No compiler.", hint="Get one.")))
    assert cli.main(["doctor", "--measure"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "no measurement No compiler." in shown
    assert "measurement: Get one." in shown


@pytest.mark.parametrize("words", [["explain", "kernels.py:nope"], ["demo", "--kernel", "nope"]])
def test_a_wrong_name_is_told_before_anything_heavy_is_loaded(folder: Path, words: list[str]) -> None:
    program = (
        "import sys; from polyviz import cli; status = cli.main(sys.argv[1:]); "
        "sys.exit(9 if {'numpy', 'islpy', 'polyviz.api'} & set(sys.modules) else status)"
    )
    run = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert run.returncode == 2, run.stderr
    assert "nope" in run.stderr
