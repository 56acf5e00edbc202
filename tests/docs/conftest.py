"""Rewrites the assertions of assumptions.py, too, so that their failures show values."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.docs.assumptions")
