ALTER TABLE "pause_votes" ADD COLUMN "data" jsonb;--> statement-breakpoint
ALTER TABLE "pause_votes" ADD COLUMN "remark" text;