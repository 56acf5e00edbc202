"""The capture keys that this store trusts: what they signed may be deserialized."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "capture_key",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("trusted_at", sa.BigInteger(), nullable=False),
        sa.Column("untrusted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_capture_key"),
        sqlite_with_rowid=False,
    )
