-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "start_links_with_forms";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "start_links_with_forms" ON "start_links" USING btree ("expires_at") WHERE forms_deleted_at is null;
