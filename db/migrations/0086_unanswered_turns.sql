-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "agent_turns_unanswered";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "agent_turns_unanswered" ON "agent_turns" USING btree ("tenant_id","thread_id") WHERE request is not null and run_id is not null and answer is null and thread_id is not null;
