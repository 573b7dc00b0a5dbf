-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "pauses_due_of_agents";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "pauses_due_of_agents" ON "pauses" USING btree ("due_at") WHERE due_at is not null and answered_at is null and id ~ '~[0-9.]+$';
