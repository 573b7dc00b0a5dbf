-- Nothing reads runs.epoch any more. The column stays until the next release, since a process of the release before still
-- selects it and may be running beside this one.
SELECT 1;
