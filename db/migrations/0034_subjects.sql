ALTER TABLE "idempotency_keys" ADD COLUMN "subject" text;--> statement-breakpoint
CREATE INDEX "idempotency_keys_of_subject" ON "idempotency_keys" USING btree ("tenant_id","subject") WHERE subject is not null;--> statement-breakpoint
CREATE INDEX "runs_of_subject" ON "runs" USING btree ("tenant_id","started_by") WHERE started_via in ('jwt', 'test');--> statement-breakpoint
CREATE INDEX "threads_of_subject" ON "threads" USING btree ("tenant_id","subject") WHERE subject is not null;