-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "files_by_thread";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "files_by_thread" ON "files" USING btree ("tenant_id","thread_id") WHERE thread_id is not null;
