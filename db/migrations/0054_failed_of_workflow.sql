-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "runs_failed_of_workflow";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "runs_failed_of_workflow" ON "runs" USING btree ("tenant_id","workflow_id","start_time" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE status = 'failed';
