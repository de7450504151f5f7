"""``python -m polyviz`` is the command line."""

import sys

from polyviz.cli import main

sys.exit(main())
