-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "idempotency_keys_of_subject";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "idempotency_keys_of_subject" ON "idempotency_keys" USING btree ("tenant_id","subject") WHERE subject is not null;--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "runs_of_subject";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "runs_of_subject" ON "runs" USING btree ("tenant_id","started_by","id") WHERE started_via in ('jwt', 'test');--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "threads_of_subject";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "threads_of_subject" ON "threads" USING btree ("tenant_id","subject") WHERE subject is not null;