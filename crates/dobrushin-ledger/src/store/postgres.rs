//! Ledgers in a PostgreSQL database, which a team shares.
