"""Functions that tests run in the worker."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time

from polyviz.runtime.jobs import report_progress
from polyviz.runtime.native import NativeFunction
from polyviz.runtime.storage import process_directory


class UnpicklableError(Exception):
    def __init__(self, message, _lock):
        super().__init__(message)


def call(path, symbol):
    return NativeFunction(path, symbol)()


def call_without_releasing_the_interpreter(path, symbol):
    return getattr(ctypes.PyDLL(path), symbol)()


def add_one(array):
    array += 1
    return array


def process_id():
    return os.getpid()


def loaded_modules():
    return sorted(sys.modules)


def own_directory():
    return str(process_directory())


def environment(name):
    return os.environ.get(name)


def count(steps, pause=0.0):
    for step in range(steps):
        report_progress(step)
        time.sleep(pause)
    return steps


def print_much(size):
    sys.stdout.write("x" * size)
    sys.stderr.write("y" * size)
    return "printed"


def fail():
    raise ValueError("no such thing")


def fail_unpicklably():
    raise UnpicklableError("locked", object())


def return_unpicklable():
    return lambda: None


def allocate(size):
    return len(bytearray(size))


def leave_a_child_behind():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    report_progress(child.pid)
    time.sleep(600)
