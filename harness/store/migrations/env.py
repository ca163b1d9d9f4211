"""What Alembic runs: the migrations, on the connection and inside the transaction that `sql_migrating.py` hands over."""

from alembic import context

from harness.store.sql_schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=context.config.attributes["version_table"],
)
context.run_migrations()
