"""Who may come in: the keys of the HTTP server, and the sessions of its page."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "access_key",
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("namespaces", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("key_id", name="pk_access_key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "access_session",
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["key_id"], ["access_key.key_id"], name="fk_access_session_key_id"),
        sa.PrimaryKeyConstraint("secret_hash", name="pk_access_session"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_access_session_expires_at", "access_session", ["expires_at"])
