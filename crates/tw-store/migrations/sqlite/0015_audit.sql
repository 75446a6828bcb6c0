-- Nothing to do here: a span of ids is read within its tenant.
SELECT 1;
