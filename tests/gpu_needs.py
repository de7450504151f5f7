"""Whether this Python can run the checks for a device: ``python -m tests.gpu_needs`` says what is missing.

Written for any Python 3, since an older one is what a CUDA image may have.
"""

import sys
from importlib.util import find_spec

OLDEST = (3, 11)
NEEDED = {"cupy": "cupy-cuda13x", "islpy": "islpy"}


def missing(version, has):
    """What is missing in a sentence, for a Python of ``version`` where ``has`` tells of modules; empty if nothing is.

    >>> missing((3, 10), lambda module: True)
    'it is Python 3.10, and 3.11 or newer is needed: make test-gpu GPU_PYTHON=python3.11'
    >>> missing((3, 12), lambda module: module == "cupy")
    'it has no islpy: pip install islpy'
    """
    if tuple(version[:2]) < OLDEST:
        oldest, found = (".".join(str(part) for part in one[:2]) for one in (OLDEST, version))
        return f"it is Python {found}, and {oldest} or newer is needed: make test-gpu GPU_PYTHON=python{oldest}"
    absent = [module for module in NEEDED if not has(module)]
    packages = " ".join(NEEDED[module] for module in absent)
    return f"it has no {' and no '.join(absent)}: pip install {packages}" if absent else ""


if __name__ == "__main__":
    lacking = missing(sys.version_info, find_spec)
    if lacking:
        sys.exit(f"Nothing was tested with {sys.executable}: {lacking}")
