-- Nothing to do here: the server's role may neither update nor delete in these tables, and an upsert is an update.
SELECT 1;
