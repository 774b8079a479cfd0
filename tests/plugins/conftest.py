"""What the tests of the shipped plugins share is in tests/support/shipped.py."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
