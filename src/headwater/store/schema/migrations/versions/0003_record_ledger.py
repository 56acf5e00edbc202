"""The record ledger: its queue, its hot rows, and the list of its archive's files."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    queue()
    ledger()
    archive()


def queue() -> None:
    op.create_table(
        "record_queue",
        sa.Column("id", ID, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("enqueued_at", sa.BigInteger(), nullable=False),
        sa.Column("visible_at", sa.BigInteger(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("token", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_record_queue"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_record_queue_kind_visible_at_id", "record_queue", ["kind", "visible_at", "id"])
    op.create_table(
        "record_dead_letter",
        sa.Column("id", ID, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("enqueued_at", sa.BigInteger(), nullable=False),
        sa.Column("failed_at", sa.BigInteger(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_record_dead_letter"),
        sqlite_autoincrement=True,
    )


def ledger() -> None:
    op.create_table(
        "record_clock",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("load", sa.BigInteger(), nullable=False),
        sa.Column("head", sa.Text(), nullable=True),
        sa.Column("archive", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_record_clock"),
    )
    op.create_table(
        "record_hot",
        sa.Column("root_key", sa.LargeBinary(), nullable=False),
        sa.Column("node_key", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("root_id", sa.Text(), nullable=False),
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("parent_ids", sa.Text(), nullable=False),
        sa.Column("action_taken", sa.Text(), nullable=False),
        sa.Column("storage_location", sa.Text(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("load", sa.BigInteger(), nullable=False),
        sa.Column("ttl_expiry", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("root_key", "node_key", "digest", name="pk_record_hot"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_record_hot_node_key", "record_hot", ["node_key"])
    op.create_index("ix_record_hot_root_key_action_taken", "record_hot", ["root_key", "action_taken"])


def archive() -> None:
    op.create_table(
        "record_archived_day",
        sa.Column("day", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("upto", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", name="pk_record_archived_day"),
    )
    op.create_table(
        "record_archived_root",
        sa.Column("root_key", sa.LargeBinary(), nullable=False),
        sa.Column("upto", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("root_key", name="pk_record_archived_root"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "record_compaction",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("base", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("rows", sa.BigInteger(), nullable=True),
        sa.Column("digest", sa.LargeBinary(), nullable=True),
        sa.Column("location", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_record_compaction"),
    )
    op.create_table(
        "record_file",
        sa.Column("id", ID, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("added_in", sa.Text(), nullable=False),
        sa.Column("removed_in", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_record_file"),
        sa.UniqueConstraint("path", name="uq_record_file_path"),
    )
    op.create_index("ix_record_file_kind_day", "record_file", ["kind", "day"])
