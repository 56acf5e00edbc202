"""Options: their defaults, the presets, and what is refused."""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import Any

import pytest

from headwater.errors import MismatchRefused, OptionInvalid
from headwater.pipeline.declare.options import LineageOptions, Mismatch


def test_the_defaults_are_one_in_a_hundred_and_no_values() -> None:
    options = LineageOptions()
    assert (options.mode, options.sample_every, options.redact, options.snapshots) == ("sampled", 100, True, False)
    assert (options.materialization_cap, options.overflow, options.max_hops) == (10_000, "degrade", 256)


def test_the_presets() -> None:
    fast, complete = LineageOptions.fast(), LineageOptions.complete()
    assert fast.mode == "sampled"
    assert fast.sample_every == 100
    assert fast.redact
    assert [fast.ancestry, fast.contributor_ids, fast.intermediate_records, fast.snapshots] == [False] * 4
    assert complete.mode == "full"
    assert not complete.redact
    assert complete.ancestry
    assert complete.contributor_ids
    assert complete.snapshots
    assert complete.intermediate_records
    assert LineageOptions.off().mode == "off"


@pytest.mark.parametrize(("mode", "follows"), [("full", True), ("sampled", True), ("key", False), ("off", False)])
def test_which_modes_follow_items(mode: str, follows: bool) -> None:
    assert LineageOptions(mode=mode).follows_items is follows


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("mode", "all", "full, sampled, key, off"),
        ("overflow", "throw", "materialize, degrade, drop"),
        ("sample_every", 0, "1 or more"),
        ("sample_every", 1.5, "whole number"),
        ("sample_every", True, "whole number"),
        ("materialization_cap", -1, "0 or more"),
        ("max_hops", 0, "1 or more"),
        ("redact", "yes", "True or False"),
        ("on_mismatch", "print", "a function"),
        ("location", "", "a path"),
    ],
)
def test_an_invalid_value_is_refused_by_name(name: str, value: Any, told: str) -> None:
    makers: list[Any] = [LineageOptions, LineageOptions.fast().with_]
    for make in makers:
        with pytest.raises(OptionInvalid) as refused:
            make(**{name: value})
        assert f"'{name}'" in str(refused.value)
        assert told in str(refused.value)
        assert refused.value.option == name


def test_every_switch_is_a_boolean() -> None:
    switches = [field.name for field in fields(LineageOptions) if field.type == "bool"]
    assert len(switches) == 13
    for name in switches:
        with pytest.raises(OptionInvalid, match=f"'{name}'"):
            LineageOptions().with_(**{name: 1})


def test_an_unknown_option_lists_the_options() -> None:
    with pytest.raises(OptionInvalid, match=r"'sample' .* no option; options are mode, sample_every,"):
        LineageOptions().with_(sample=3)


def test_with_changes_only_the_named_options() -> None:
    assert LineageOptions.complete().with_(snapshots=False) == LineageOptions(
        mode="full", sample_every=1, redact=False, ancestry=True
    )


MISMATCH = Mismatch("priced", 3, 2, missing=("a",))


def test_a_mismatch_is_reported_as_configured(caplog: pytest.LogCaptureFixture) -> None:
    told: list[Mismatch] = []
    with caplog.at_level(logging.WARNING, "headwater"):
        LineageOptions(on_mismatch=told.append, warn_on_mismatch=False).report_mismatch(MISMATCH)
        assert caplog.messages == []
        LineageOptions(on_mismatch=told.append).report_mismatch(MISMATCH)
    assert told == [MISMATCH, MISMATCH]
    assert caplog.messages == ["Lineage: node 'priced' received 3 items and returned 2: 1 missing, 0 unaccounted for"]


def test_strict_options_fail_on_a_mismatch_after_the_callback() -> None:
    told: list[Mismatch] = []
    with pytest.raises(MismatchRefused, match="node 'priced' received 3 items and returned 2") as refused:
        LineageOptions(strict=True, on_mismatch=told.append).report_mismatch(MISMATCH)
    assert refused.value.node == "priced"
    assert told == [MISMATCH]
