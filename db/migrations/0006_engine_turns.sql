DROP INDEX "engine"."jobs_lane_idx";--> statement-breakpoint
CREATE INDEX "jobs_lane_due_idx" ON "engine"."jobs" USING btree ("function_id","lane","due_at") WHERE "engine"."jobs"."lane" is not null;--> statement-breakpoint
CREATE INDEX "jobs_lane_owner_idx" ON "engine"."jobs" USING btree ("function_id","lane") WHERE "engine"."jobs"."lane" is not null and "engine"."jobs"."owner" is not null;--> statement-breakpoint
CREATE INDEX "jobs_free_idx" ON "engine"."jobs" USING btree ("due_at") WHERE "engine"."jobs"."lane" is null;--> statement-breakpoint
CREATE INDEX "jobs_suspect_idx" ON "engine"."jobs" USING btree ("due_at") WHERE "engine"."jobs"."deliveries" > 0;--> statement-breakpoint
-- Runs count towards their tenant's limit from now on, those under way too: the lane is the digest that the engine makes of the key.
UPDATE "engine"."runs" SET "lane" = rtrim(translate(encode(sha256(convert_to(("event"::json #> '{data,tenantId}')::text, 'UTF8')), 'base64'), '+/', '-_'), '=') WHERE "status" = 'running' AND "lane" IS NULL AND "function_id" = 'millrace-run-workflow';--> statement-breakpoint
-- What was a count of claims is now one of deliveries that were lost.
UPDATE "engine"."jobs" j SET "deliveries" = 0, "lane" = CASE WHEN j."kind" IN ('run', 'step') THEN r."lane" END FROM "engine"."runs" r WHERE r."id" = j."run_id";--> statement-breakpoint
UPDATE "engine"."jobs" SET "deliveries" = 0 WHERE "run_id" IS NULL;
