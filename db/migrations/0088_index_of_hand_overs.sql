-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "agent_turns_of_root";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "agent_turns_of_root" ON "agent_turns" USING btree ("tenant_id","root_id") WHERE root_id is not null;
