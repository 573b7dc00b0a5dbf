ALTER TABLE "pauses" ADD COLUMN "child_run_id" text;--> statement-breakpoint
ALTER TABLE "pauses" ADD COLUMN "child_state" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "parent_run_id" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "depth" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "pauses_of_child" ON "pauses" USING btree ("tenant_id","child_run_id") WHERE child_run_id is not null;--> statement-breakpoint
CREATE INDEX "pauses_for_child" ON "pauses" USING btree ("created_at") WHERE child_state in ('due', 'started');