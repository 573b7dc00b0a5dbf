ALTER TABLE "runs" ADD COLUMN "data_refs" jsonb;--> statement-breakpoint
ALTER TABLE "walks" ADD COLUMN "data_refs" jsonb;