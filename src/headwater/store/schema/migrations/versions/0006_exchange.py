"""The secret that ids of exported elements are drawn from: made once, so that they are always the same."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    table = op.create_table(
        "exchange_secret",
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("secret", name="pk_exchange_secret"),
    )
    op.bulk_insert(table, [{"secret": secrets.token_bytes(32)}])
