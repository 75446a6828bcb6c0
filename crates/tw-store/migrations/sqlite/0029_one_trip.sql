-- Nothing to do here: a file is asked without a trip.
SELECT 1;
