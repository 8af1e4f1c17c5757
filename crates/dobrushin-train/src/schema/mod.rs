//! What is declared of the columns of a table.
