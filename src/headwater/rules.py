"""What quality is measured by: `hw.rules.not_null("amount")` and its kin, for :func:`headwater.quality`."""

from headwater.model.quality import Rule, custom, fresh, in_range, not_null, pattern, unique

__all__ = ["Rule", "custom", "fresh", "in_range", "not_null", "pattern", "unique"]
