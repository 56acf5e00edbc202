"""What came of a page is looked at by a module of its own: its assertions are to tell what they found, too."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.docs.presumed")
