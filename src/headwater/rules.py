"""Rules for :func:`headwater.quality`, such as `hw.rules.not_null("amount")`."""

from headwater.model.quality import Rule, custom, fresh, in_range, not_null, pattern, unique

__all__ = ["Rule", "custom", "fresh", "in_range", "not_null", "pattern", "unique"]
