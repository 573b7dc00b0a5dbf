-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "pauses_to_remind";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "pauses_to_remind" ON "pauses" USING btree ("remind_at") WHERE remind_at is not null and answered_at is null;
