-- Which worker was told of a call last. One that loses its connection and comes back is the same worker.
ALTER TABLE pending_calls ADD COLUMN told_to uuid;
-- How many workers were told of it, one after the other.
ALTER TABLE pending_calls ADD COLUMN tellings bigint NOT NULL DEFAULT 0;
-- The server that holds the lease for its worker. When that dies, the lease is over.
ALTER TABLE pending_calls ADD COLUMN lease_replica uuid;
