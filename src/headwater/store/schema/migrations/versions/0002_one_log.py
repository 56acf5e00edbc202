"""The audit log becomes the log: tiles for its proofs, checkpoints, and the chains of certificates."""

import sqlalchemy as sa
from alembic import op

from headwater.proof.merkle import leaf_hash, perfect_root
from headwater.proof.tiles import WIDTH

revision = "0002"
down_revision = "0001"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

# What would replace a row, by its key or by another unique one, is refused as well: see 0001.
KEYS = {
    "log_tile": "level = NEW.level AND number = NEW.number",
    "checkpoint": "size = NEW.size",
    "certificate": "seq = NEW.seq OR certificate_id = NEW.certificate_id "
    "OR (namespace_key = NEW.namespace_key AND number = NEW.number)",
}

SQLITE_APPEND_ONLY = """
CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table}
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} WHERE {same})
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
"""

POSTGRESQL_APPEND_ONLY = """
CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION audit_append_only();
CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only();
"""


def upgrade() -> None:
    op.create_table(
        "log_tile",
        sa.Column("level", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("number", ID, autoincrement=False, nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("level", "number", name="pk_log_tile"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "checkpoint",
        sa.Column("size", ID, autoincrement=False, nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("size", name="pk_checkpoint"),
    )
    op.create_table(
        "certificate",
        sa.Column("seq", ID, autoincrement=False, nullable=False),
        sa.Column("namespace_key", sa.LargeBinary(), nullable=False),
        sa.Column("number", ID, nullable=False),
        sa.Column("certificate_id", sa.Text(), nullable=False),
        sa.Column("run_key", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_certificate"),
        sa.UniqueConstraint("namespace_key", "number", name="uq_certificate_namespace_key_number"),
        sa.UniqueConstraint("certificate_id", name="uq_certificate_certificate_id"),
    )
    op.create_index("ix_certificate_run_key", "certificate", ["run_key"])
    lay_tiles()
    for table, same in KEYS.items():
        if op.get_bind().dialect.name == "sqlite":
            for statement in SQLITE_APPEND_ONLY.format(table=table, same=same).strip().split("END;\n"):
                op.execute(f"{statement.removesuffix('END;')} END")
        else:
            op.execute(POSTGRESQL_APPEND_ONLY.format(table=table))


def lay_tiles() -> None:
    """For the entries that are there already."""
    conn = op.get_bind()
    page = sa.text("SELECT hash FROM audit WHERE seq > :start AND seq <= :stop ORDER BY seq")
    entries = conn.execute(sa.text("SELECT coalesce(max(seq), 0) FROM audit")).scalar_one()
    hashes = [
        perfect_root([leaf_hash(bytes(one)) for one in conn.scalars(page, {"start": start, "stop": start + WIDTH})])
        for start in range(0, entries - WIDTH + 1, WIDTH)
    ]
    level = 1
    while hashes:
        tiles = [{"level": level, "number": number, "hash": one} for number, one in enumerate(hashes)]
        conn.execute(sa.text("INSERT INTO log_tile (level, number, hash) VALUES (:level, :number, :hash)"), tiles)
        hashes = [perfect_root(hashes[start : start + WIDTH]) for start in range(0, len(hashes) - WIDTH + 1, WIDTH)]
        level += 1
