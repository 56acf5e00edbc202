"""Alembic's entry point: runs within the transaction that the caller opened and handed over."""

from alembic import context

from headwater.store.schema.migrations import VERSION_TABLE
from headwater.store.schema.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()
