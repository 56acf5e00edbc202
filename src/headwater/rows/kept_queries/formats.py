"""How files of a stored plan may be read: formats and options by name, the same list for capture and restore.

A format that is not listed would be looked up as the name of a class, and some options make a reader load a class, or
open another file or address (`avroSchemaUrl`, `rowValidationXSDPath`, `fs.….impl`).
"""

from __future__ import annotations

from collections.abc import Iterable

FORMATS = frozenset({"avro", "binaryfile", "csv", "json", "orc", "parquet", "text", "xml"})
_OPTIONS = frozenset(
    {
        # files
        *("pathglobfilter", "recursivefilelookup", "modifiedbefore", "modifiedafter"),
        *("ignorecorruptfiles", "ignoremissingfiles", "mergeschema", "compression"),
        *("serialization.format",),
        # texts
        *("header", "sep", "delimiter", "encoding"),
        *("charset", "quote", "escape", "chartoescapequoteescaping"),
        *("comment", "enforceschema", "inferschema", "ignoreleadingwhitespace"),
        *("ignoretrailingwhitespace", "nullvalue", "emptyvalue", "nanvalue"),
        *("positiveinf", "negativeinf", "dateformat", "timestampformat"),
        *("timestampntzformat", "timeformat", "enabledatetimeparsingfallback", "maxcolumns"),
        *("maxcharspercolumn", "unescapedquotehandling", "mode", "columnnameofcorruptrecord"),
        *("multiline", "locale", "linesep", "samplingratio"),
        *("preferdate", "timezone", "columnpruning", "wholetext"),
        *("quoteall", "escapequotes", "ignoresurroundingspaces", "extension"),
        # JSON
        *("primitivesasstring", "prefersdecimal", "allowcomments", "allowunquotedfieldnames"),
        *(
            "allowsinglequotes",
            "allownumericleadingzeros",
            "allowbackslashescapinganycharacter",
            "allowunquotedcontrolchars",
        ),
        *("allownonnumericnumbers", "dropfieldifallnull", "ignorenullfields", "singlevariantcolumn"),
        *("usewitharrays",),
        # XML
        *("rowtag", "roottag", "attributeprefix", "valuetag"),
        *("excludeattribute", "treatemptyvaluesasnulls", "ignorenamespace", "wildcardcolname"),
        *("arrayelementname", "declaration", "validatename"),
        # Avro and Parquet
        *("avroschema", "ignoreextension", "positionalfieldmatching", "recordname"),
        *("recordnamespace", "datetimerebasemode", "int96rebasemode", "enablestableidentifiersforuniontype"),
        *("stableidprefixforuniontype", "recursivefieldsmaxdepth"),
    }
)
_VALUE_OPTIONS = frozenset(
    {
        *("nullvalue", "emptyvalue", "nanvalue", "positiveinf", "negativeinf", "dateformat", "timestampformat"),
        *("timestampntzformat", "timeformat", "timezone", "locale", "enabledatetimeparsingfallback"),
        *("sep", "delimiter", "quote", "escape", "chartoescapequoteescaping", "comment", "quoteall", "escapequotes"),
        *("ignoreleadingwhitespace", "ignoretrailingwhitespace", "ignorenullfields", "primitivesasstring"),
        *("allownonnumericnumbers", "prefersdecimal", "unescapedquotehandling", "maxcharspercolumn"),
    }
)
"""Options of readers and writers that change single values."""
_CONNECTION_PREFIXES = ("fs.", "dfs.", "hadoop.")
"""Options for the connection to a storage. A session that restores a plan uses its own."""


def is_connection(option: str) -> bool:
    return option.lower().startswith(_CONNECTION_PREFIXES)


def unlisted_options(options: Iterable[str]) -> list[str]:
    return [option for option in options if option.lower() not in _OPTIONS]


def is_value_option(option: str) -> bool:
    """Whether the option of a reader or writer changes single values."""
    return option.lower() in _VALUE_OPTIONS
