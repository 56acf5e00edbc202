"""What each load of records brought, as hashes: by these the records are verified, hot and archived."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "record_load",
        sa.Column("load", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("leaves", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("load", name="pk_record_load"),
    )
