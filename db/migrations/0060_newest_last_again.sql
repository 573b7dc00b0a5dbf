-- outside a transaction
-- Lists need one of the two at any time, so the new one is there before the old one goes.
DROP INDEX CONCURRENTLY IF EXISTS "runs_of_workflow";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "runs_of_workflow" ON "runs" USING btree ("tenant_id","workflow_id","workflow_version","start_time");--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "runs_by_workflow";--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "runs_failed_by_workflow";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "runs_failed_by_workflow" ON "runs" USING btree ("tenant_id","workflow_id","start_time","id") WHERE status = 'failed';--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "runs_failed_of_workflow";--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "pauses_by_answer";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "pauses_by_answer" ON "pauses" USING btree ("tenant_id","answered_at","run_id","id") WHERE answer is not null and signal is not null;--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "pauses_answered";
