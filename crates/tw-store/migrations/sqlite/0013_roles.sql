-- Nothing to do here: a file belongs to whoever runs the server.
SELECT 1;
