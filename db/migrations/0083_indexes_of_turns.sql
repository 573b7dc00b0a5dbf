-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "agent_turns_key";--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY "agent_turns_key" ON "agent_turns" USING btree ("tenant_id","key") WHERE key is not null;--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "agent_turns_held";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "agent_turns_held" ON "agent_turns" USING btree ("leased_until") WHERE leased_until is not null;--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "agent_turns_waiting";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "agent_turns_waiting" ON "agent_turns" USING btree ("tenant_id","thread_id") WHERE state = 'waiting';--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "agent_turns_outside";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "agent_turns_outside" ON "agent_turns" USING btree ("started_at") WHERE run_id is null;--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "agent_turns_of_subject";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "agent_turns_of_subject" ON "agent_turns" USING btree ("tenant_id","subject") WHERE subject is not null;