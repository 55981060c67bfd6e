"""Where campaigns are kept: SQLite, PostgreSQL or memory."""
