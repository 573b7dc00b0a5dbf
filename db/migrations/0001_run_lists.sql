DROP INDEX "runs_by_start";--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "started_via" text DEFAULT 'apiKey' NOT NULL;--> statement-breakpoint
CREATE INDEX "pauses_waiting" ON "pauses" USING btree ("tenant_id","created_at","run_id","id") WHERE answered_at is null and kind <> 'timer';--> statement-breakpoint
CREATE INDEX "runs_again" ON "runs" USING btree ("tenant_id","retry_of") WHERE retry_of is not null;--> statement-breakpoint
CREATE INDEX "runs_by_start" ON "runs" USING btree ("tenant_id","start_time" DESC NULLS FIRST,"id" DESC NULLS FIRST,"workflow_id","status","outcome","started_via");--> statement-breakpoint
UPDATE "runs" SET "started_via" = 'jwt' WHERE "started_by" NOT LIKE 'key\_%';
