"""The tables of a store, the same in SQLite, PostgreSQL and memory."""

from __future__ import annotations

import sqlalchemy as sa

SCHEMA = 4
HASHED = 4  # the first version with hashes

meta = sa.MetaData()
versions = sa.Table("stopwise_schema", meta, sa.Column("version", sa.Integer, nullable=False))
campaigns = sa.Table(
    "stopwise_campaigns",
    meta,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, unique=True),
    sa.Column("spec", sa.Text, nullable=False),
    sa.Column("key", sa.String(64), nullable=False),
    sa.Column("version", sa.String(40), nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("last", sa.Integer, nullable=False),
    sa.Column("decision", sa.Text),
    sa.Column("slowest", sa.Float(53)),
    sa.Column("changes", sa.Text),
    sa.Column("stored", sa.Integer, nullable=False, server_default="0"),  # event of the state
    sa.Column("hash", sa.LargeBinary),  # of the last event
    sa.Column("seal", sa.LargeBinary),  # of this row
)
states = (
    sa.Table(  # apart from the campaigns' rows: SQLite writes a row anew with every change of it
        "stopwise_states",
        meta,
        sa.Column("campaign", sa.Integer, sa.ForeignKey(campaigns.c.id), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
)
former_names = sa.Table(
    "stopwise_names",
    meta,
    sa.Column("name", sa.String(200), primary_key=True),
    sa.Column("campaign", sa.Integer, sa.ForeignKey(campaigns.c.id), nullable=False),
)
events = sa.Table(
    "stopwise_events",
    meta,
    sa.Column("campaign", sa.Integer, sa.ForeignKey(campaigns.c.id), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(10), nullable=False),
    sa.Column("token", sa.String(64), nullable=False),
    sa.Column("arm", sa.Integer),
    sa.Column("value", sa.Float(53)),
    sa.Column("time", sa.Float(53), nullable=False),
    sa.Column("late", sa.Boolean, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("actor", sa.String(200), nullable=False, server_default=""),
    sa.Column("hash", sa.LargeBinary),  # of this event and the hash before it
    sa.UniqueConstraint("campaign", "token", "kind"),
)
leases = sa.Table(
    "stopwise_leases",
    meta,
    sa.Column("campaign", sa.Integer, sa.ForeignKey(campaigns.c.id), primary_key=True),
    sa.Column("token", sa.String(64), primary_key=True),
    sa.Column("arm", sa.Integer, nullable=False),
    sa.Column("deadline", sa.Float(53), nullable=False),
    sa.Column("seal", sa.LargeBinary),  # of this row
)
UPGRADES = {  # from this version on
    1: ["ALTER TABLE stopwise_campaigns ADD COLUMN state {blob}"],
    2: [
        "ALTER TABLE stopwise_campaigns ADD COLUMN slowest DOUBLE PRECISION",
        "ALTER TABLE stopwise_campaigns ADD COLUMN changes TEXT",
        "ALTER TABLE stopwise_events ADD COLUMN actor VARCHAR(200) NOT NULL DEFAULT ''",
        "CREATE TABLE stopwise_names (name VARCHAR(200) NOT NULL PRIMARY KEY, "
        "campaign INTEGER NOT NULL REFERENCES stopwise_campaigns (id))",
    ],
    3: [  # then hashes.add_hashes fills the new columns
        "ALTER TABLE stopwise_campaigns ADD COLUMN stored INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE stopwise_campaigns ADD COLUMN hash {blob}",
        "ALTER TABLE stopwise_campaigns ADD COLUMN seal {blob}",
        "ALTER TABLE stopwise_events ADD COLUMN hash {blob}",
        "ALTER TABLE stopwise_leases ADD COLUMN seal {blob}",
        "CREATE TABLE stopwise_states (campaign INTEGER NOT NULL PRIMARY KEY "
        "REFERENCES stopwise_campaigns (id), content {blob} NOT NULL)",
        "UPDATE stopwise_campaigns SET state = NULL",
        # no longer used; processes of 0.3.0 that are still open fail here instead of breaking the chain
        "ALTER TABLE stopwise_campaigns RENAME COLUMN state TO former_state",
    ],
}
