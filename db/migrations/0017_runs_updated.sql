-- Every step moves `updated_at`, and no query looks for runs by it alone. Without the index, and with room left in each page,
-- a step's update of its run touches no index.
DROP INDEX "runs_open";--> statement-breakpoint
ALTER TABLE "runs" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "step_records" SET (fillfactor = 85);
