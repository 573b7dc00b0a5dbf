-- outside a transaction
-- The sweep needs one of the two at any time, so the new one is there before the old one goes.
DROP INDEX CONCURRENTLY IF EXISTS "start_links_by_end";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "start_links_by_end" ON "start_links" USING btree (least("expires_at", "revoked_at")) WHERE forms_deleted_at is null;--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "start_links_with_forms";
