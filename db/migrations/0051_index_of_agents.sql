-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "step_records_of_agents";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "step_records_of_agents" ON "step_records" USING btree ("tenant_id","start_time") WHERE usage is not null;
