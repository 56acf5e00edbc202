"""Who is at work on the archive, and which keys its files hold."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "record_attempt",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("compaction", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.Column("given_up_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_record_attempt"),
    )
    # What was begun before there were attempts is over: files of it are known by the id alone.
    op.execute(
        "INSERT INTO record_attempt (name, compaction, started_at, until)"
        " SELECT id, id, started_at, 0 FROM record_compaction WHERE finished_at IS NULL"
    )
    # Files of before have no row here, and may hold anything.
    op.create_table(
        "record_file_keys",
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("low", sa.LargeBinary(), nullable=False),
        sa.Column("high", sa.LargeBinary(), nullable=False),
        sa.Column("roots", sa.LargeBinary(), nullable=False),
        sa.Column("nodes", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("path", name="pk_record_file_keys"),
    )
