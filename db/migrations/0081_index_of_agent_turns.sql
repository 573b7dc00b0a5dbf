-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "agent_turns_of_agent";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "agent_turns_of_agent" ON "agent_turns" USING btree ("tenant_id","agent_id","started_at","id");