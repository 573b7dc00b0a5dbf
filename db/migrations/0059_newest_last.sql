-- outside a transaction
-- Lists need one of the two at any time, so the new one is there before the old one goes.
DROP INDEX CONCURRENTLY IF EXISTS "runs_by_time";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "runs_by_time" ON "runs" USING btree ("tenant_id","start_time","id","workflow_id","status","outcome","started_via") WITH (fillfactor=75);--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "runs_by_start";--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "runs_by_status";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "runs_by_status" ON "runs" USING btree ("tenant_id","status","outcome","start_time","id") WHERE outcome is null or outcome <> 'succeeded';--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "runs_by_state";
