-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "pauses_overdue";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "pauses_overdue" ON "pauses" USING btree ((signal->>'dueAt')) WHERE answered_at is null and overdue_at is null and signal->>'dueAt' is not null;
