"""Literals removed from SQL, and errors without the values that they quote."""

from __future__ import annotations

import pytest

from headwater.errors import HeadwaterError
from headwater.redaction.literals import (
    check_mode,
    mask_design,
    mask_literals,
    message_without_values,
    remove_literals,
    stack_without_values,
)


@pytest.mark.parametrize(
    ("sql", "masked"),
    [
        ('a = \'bob\' AND b = "it""s"', "a = ? AND b = ?"),
        ("c1 > 5 AND d = -2.5e3 OR e = .5D", "c1 > ? AND d = -? OR e = ?"),
        ("`col 1` = 'x''y' || r'\\'", "`col 1` = ? || ?"),
        ("DATE '2020-01-01' < d AND X'1F' = b", "DATE ? < d AND ? = b"),
        ("CAST(a AS DECIMAL(10, 2)) + varchar(3)", "CAST(a AS DECIMAL(10, 2)) + varchar(3)"),
        ("a IS NULL AND b = true", "a IS NULL AND b = true"),
        ("/*+ BROADCAST(t) */ a -- for bob\n, b /* bob */", "/*+ BROADCAST(t) */ a  \n, b  "),
        ("a = 'cut off", "a = ?"),
        ("x#12 = 'a' AND y#3L = 4", "x#12 = ? AND y#3L = ?"),
    ],
)
def test_mask(sql: str, masked: str) -> None:
    assert mask_literals(sql) == masked
    assert mask_literals(masked) == masked


def test_modes() -> None:
    assert remove_literals("a = 1", "keep") == "a = 1"
    assert remove_literals("a = 1", "mask") == "a = ?"
    assert remove_literals("a = 1", "drop") is None
    with pytest.raises(HeadwaterError, match=r"literals='hide' is not known. There are: keep, mask, drop\."):
        check_mode("hide")


def test_an_error_without_quoted_values() -> None:
    spark = "org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT] The 'bob' SQLSTATE: 22018\n== SQL =="
    assert message_without_values(spark).startswith(
        "org.apache.spark.SparkNumberFormatException [CAST_INVALID_INPUT] SQLSTATE: 22018 "
    )
    for message in (spark, "ValueError: no price for bob", "bob is missing", "no price: bob"):
        assert "bob" not in message_without_values(message)
    trace = 'Traceback:\n  File "x.py", line 3, in f\n    raise E("bob")\nE: bob\n    at a.B.c(D.scala:3)\n'
    assert stack_without_values(trace) == '  File "x.py", line 3, in f\n    at a.B.c(D.scala:3)'


def test_a_design_keeps_its_structure() -> None:
    design = {
        "command": "Insert",
        "target": "file /x",
        "plan": [
            {
                "is": "Filter",
                "children": 1,
                "condition": [{"is": "Literal", "children": 0, "value": "bob", "dataType": "string"}],
            },
            {"is": "LikeAll", "children": 0, "patterns": ["bob"], "seed": 7, "ordered": True},
        ],
    }
    masked = mask_design(design)
    assert isinstance(masked, dict)
    assert masked["plan"][0]["condition"][0] == {"is": "Literal", "children": 0, "value": "?", "dataType": "string"}
    assert masked["plan"][1] == {"is": "LikeAll", "children": 0, "patterns": ["?"], "seed": "?", "ordered": True}
    assert (masked["command"], masked["target"]) == ("Insert", "file /x")
