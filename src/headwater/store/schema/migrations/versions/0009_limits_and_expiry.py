"""The limit under which events are folded, and which hot records have expired.

A store from before has no row in either: its limit is the default, and what has expired in it is not known by record.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "graph_limit",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("max_direct_edges", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_graph_limit"),
    )
    op.create_table(
        "record_expiry",
        sa.Column("expiry", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("expired", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("expiry", name="pk_record_expiry"),
    )
