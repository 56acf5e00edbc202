"""The ground floor: events, entities, the graph, and an audit log that only grows."""

from typing import Literal

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

# SQLite: INSERT OR REPLACE deletes the rows it conflicts with, by number or by hash, without firing a DELETE trigger,
# so an insert may not meet a row either.
SQLITE_APPEND_ONLY = """
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit
WHEN NEW.seq <= (SELECT coalesce(max(seq), 0) FROM audit) OR NEW.hash IN (SELECT hash FROM audit)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
"""

POSTGRESQL_APPEND_ONLY = """
CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION audit_append_only();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only();
"""


def partial_index(table: str, column: str, *, where: str, postgresql_using: str | Literal[False] = False) -> None:
    condition = sa.text(where)
    name = f"ix_{table}_{column}"
    op.create_index(
        name, table, [column], sqlite_where=condition, postgresql_where=condition, postgresql_using=postgresql_using
    )


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("seq", ID, autoincrement=False, nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("event_type", sa.Text(), nullable=False),
        sa.Column("actor_id", sa.Text(), nullable=False),
        sa.Column("actor_type", sa.Text(), nullable=False),
        sa.Column("resource_type", sa.Text(), nullable=True),
        sa.Column("resource_id", sa.Text(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("correlation_id", sa.Text(), nullable=True),
        sa.Column("client_ip", sa.Text(), nullable=True),
        sa.Column("user_agent", sa.Text(), nullable=True),
        sa.Column("algorithm", sa.Text(), nullable=False),
        sa.Column("previous_hash", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_audit"),
        sa.UniqueConstraint("hash", name="uq_audit_hash"),
    )
    # A hash index: PostgreSQL's B-tree refuses long texts, and this one comes from outside.
    partial_index("audit", "correlation_id", where="correlation_id IS NOT NULL", postgresql_using="hash")
    op.create_index("ix_audit_event_type", "audit", ["event_type"])
    op.create_table(
        "content",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_content"),
    )
    op.create_table(
        "dataset",
        sa.Column("id", ID, autoincrement=False, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.LargeBinary(), nullable=False),
        sa.Column("is_job", sa.SmallInteger(), nullable=False),
        sa.Column("canonical_id", ID, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("contested", sa.SmallInteger(), nullable=False),
        sa.Column("first_seen", sa.BigInteger(), nullable=True),
        sa.Column("last_seen", sa.BigInteger(), nullable=True),
        sa.Column("facets", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_dataset"),
        sa.UniqueConstraint("key", name="uq_dataset_key"),
    )
    op.create_index("ix_dataset_canonical_id", "dataset", ["canonical_id"])
    op.create_index("ix_dataset_name_key", "dataset", ["name_key"])
    op.create_table(
        "job",
        sa.Column("id", ID, autoincrement=False, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("facets", sa.Text(), nullable=False),
        sa.Column("last_seen", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_job"),
        sa.UniqueConstraint("key", name="uq_job_key"),
    )
    op.create_table(
        "label",
        sa.Column("id", ID, autoincrement=False, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_label"),
        sa.UniqueConstraint("key", name="uq_label_key"),
    )
    op.create_table(
        "column_edge",
        sa.Column("id", ID, nullable=False),
        sa.Column("job_id", ID, nullable=True),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("upstream_id", ID, nullable=False),
        sa.Column("upstream_column_id", ID, nullable=True),
        sa.Column("downstream_id", ID, nullable=False),
        sa.Column("downstream_column_id", ID, nullable=True),
        sa.Column("dependency", sa.Text(), nullable=False),
        sa.Column("subtype", sa.Text(), nullable=True),
        sa.Column("masking", sa.SmallInteger(), nullable=False),
        sa.Column("logic", sa.Text(), nullable=True),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["downstream_column_id"], ["label.id"], name="fk_column_edge_downstream_column_id"),
        sa.ForeignKeyConstraint(["downstream_id"], ["dataset.id"], name="fk_column_edge_downstream_id"),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_column_edge_job_id"),
        sa.ForeignKeyConstraint(["upstream_column_id"], ["label.id"], name="fk_column_edge_upstream_column_id"),
        sa.ForeignKeyConstraint(["upstream_id"], ["dataset.id"], name="fk_column_edge_upstream_id"),
        sa.PrimaryKeyConstraint("id", name="pk_column_edge"),
    )
    op.create_index(
        "ix_column_edge_downstream_id_downstream_column_id_valid_to",
        "column_edge",
        ["downstream_id", "downstream_column_id", "valid_to"],
    )
    op.create_index("ix_column_edge_job_id_downstream_id", "column_edge", ["job_id", "downstream_id"])
    op.create_index(
        "ix_column_edge_upstream_id_upstream_column_id_valid_to",
        "column_edge",
        ["upstream_id", "upstream_column_id", "valid_to"],
    )
    op.create_table(
        "edge",
        sa.Column("id", ID, nullable=False),
        sa.Column("job_id", ID, nullable=True),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("upstream_id", ID, nullable=False),
        sa.Column("downstream_id", ID, nullable=False),
        sa.Column("basis", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("transformation", sa.Text(), nullable=True),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["downstream_id"], ["dataset.id"], name="fk_edge_downstream_id"),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_edge_job_id"),
        sa.ForeignKeyConstraint(["upstream_id"], ["dataset.id"], name="fk_edge_upstream_id"),
        sa.PrimaryKeyConstraint("id", name="pk_edge"),
    )
    op.create_index(
        "ix_edge_downstream_id_valid_to_upstream_id_id",
        "edge",
        ["downstream_id", "valid_to", "upstream_id", "id"],
    )
    op.create_index("ix_edge_job_id_downstream_id", "edge", ["job_id", "downstream_id"])
    op.create_index(
        "ix_edge_upstream_id_valid_to_downstream_id_id",
        "edge",
        ["upstream_id", "valid_to", "downstream_id", "id"],
    )
    op.create_table(
        "run",
        sa.Column("id", ID, autoincrement=False, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("first_event_at", sa.BigInteger(), nullable=False),
        sa.Column("last_event_at", sa.BigInteger(), nullable=False),
        sa.Column("nominal_start", sa.BigInteger(), nullable=True),
        sa.Column("nominal_end", sa.BigInteger(), nullable=True),
        sa.Column("parent_run_id", sa.Text(), nullable=True),
        sa.Column("parent_key", sa.LargeBinary(), nullable=True),
        sa.Column("stamps", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_run_job_id"),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
        sa.UniqueConstraint("key", name="uq_run_key"),
    )
    op.create_index("ix_run_job_id_last_event_at", "run", ["job_id", "last_event_at"])
    op.create_index("ix_run_last_event_at", "run", ["last_event_at"])
    partial_index("run", "parent_key", where="parent_key IS NOT NULL")
    op.create_table(
        "symlink",
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("alias_id", ID, nullable=False),
        sa.ForeignKeyConstraint(["alias_id"], ["dataset.id"], name="fk_symlink_alias_id"),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"], name="fk_symlink_dataset_id"),
        sa.PrimaryKeyConstraint("dataset_id", "alias_id", name="pk_symlink"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_symlink_alias_id", "symlink", ["alias_id"])
    op.create_table(
        "event",
        sa.Column("id", ID, autoincrement=False, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("event_type", sa.Text(), nullable=True),
        sa.Column("event_time", sa.BigInteger(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("run_id", ID, nullable=True),
        sa.Column("job_id", ID, nullable=True),
        sa.Column("dataset_id", ID, nullable=True),
        sa.Column("problems", sa.Text(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"], name="fk_event_dataset_id"),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_event_job_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_event_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_event"),
        sa.UniqueConstraint("digest", name="uq_event_digest"),
    )
    partial_index("event", "dataset_id", where="dataset_id IS NOT NULL")
    partial_index("event", "job_id", where="run_id IS NULL")
    op.create_index("ix_event_run_id", "event", ["run_id"])
    op.create_table(
        "run_dataset",
        sa.Column("run_id", ID, nullable=False),
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("direction", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"], name="fk_run_dataset_dataset_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_run_dataset_run_id"),
        sa.PrimaryKeyConstraint("run_id", "dataset_id", "direction", name="pk_run_dataset"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_run_dataset_dataset_id_direction", "run_dataset", ["dataset_id", "direction"])
    op.create_table(
        "version",
        sa.Column("id", ID, autoincrement=False, nullable=False),
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("partition_id", ID, nullable=True),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("job_id", ID, nullable=True),
        sa.Column("run_id", ID, nullable=True),
        sa.Column("event_id", ID, nullable=True),
        sa.Column("written_at", sa.BigInteger(), nullable=False),
        sa.Column("tiebreak", sa.LargeBinary(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("schema_digest", sa.LargeBinary(), nullable=True),
        sa.Column("upstream_digest", sa.LargeBinary(), nullable=False),
        sa.Column("column_digest", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"], name="fk_version_dataset_id"),
        sa.ForeignKeyConstraint(["event_id"], ["event.id"], name="fk_version_event_id"),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_version_job_id"),
        sa.ForeignKeyConstraint(["partition_id"], ["label.id"], name="fk_version_partition_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_version_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_version"),
    )
    op.create_index("ix_version_dataset_id_written_at", "version", ["dataset_id", "written_at"])
    partial_index("version", "event_id", where="event_id IS NOT NULL")
    op.create_index("ix_version_job_id_dataset_id_written_at", "version", ["job_id", "dataset_id", "written_at"])
    op.create_index("ix_version_run_id", "version", ["run_id"])
    op.create_table(
        "lineage",
        sa.Column("id", ID, nullable=False),
        sa.Column("version_id", ID, nullable=False),
        sa.Column("downstream_id", ID, nullable=False),
        sa.Column("partition_id", ID, nullable=True),
        sa.Column("run_id", ID, nullable=True),
        sa.Column("job_id", ID, nullable=True),
        sa.Column("upstream_id", ID, nullable=False),
        sa.Column("upstream_partition_id", ID, nullable=True),
        sa.Column("consumed_at", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("basis", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("transformation", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["downstream_id"], ["dataset.id"], name="fk_lineage_downstream_id"),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_lineage_job_id"),
        sa.ForeignKeyConstraint(["partition_id"], ["label.id"], name="fk_lineage_partition_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_lineage_run_id"),
        sa.ForeignKeyConstraint(["upstream_id"], ["dataset.id"], name="fk_lineage_upstream_id"),
        sa.ForeignKeyConstraint(["upstream_partition_id"], ["label.id"], name="fk_lineage_upstream_partition_id"),
        sa.ForeignKeyConstraint(["version_id"], ["version.id"], name="fk_lineage_version_id"),
        sa.PrimaryKeyConstraint("id", name="pk_lineage"),
    )
    op.create_index(
        "ix_lineage_downstream_id_partition_id_valid_to",
        "lineage",
        ["downstream_id", "partition_id", "valid_to"],
    )
    op.create_index(
        "ix_lineage_downstream_id_upstream_id_consumed_at",
        "lineage",
        ["downstream_id", "upstream_id", "consumed_at"],
    )
    op.create_index("ix_lineage_run_id", "lineage", ["run_id"])
    op.create_index(
        "ix_lineage_upstream_id_upstream_partition_id_valid_to",
        "lineage",
        ["upstream_id", "upstream_partition_id", "valid_to"],
    )
    op.create_index("ix_lineage_version_id", "lineage", ["version_id"])
    if op.get_bind().dialect.name == "sqlite":
        for statement in SQLITE_APPEND_ONLY.strip().split("END;\n"):
            op.execute(f"{statement.removesuffix('END;')} END")
    else:
        op.execute(POSTGRESQL_APPEND_ONLY)
