ALTER TABLE "pauses" ADD COLUMN "remind_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "step_records" ADD COLUMN "reminders" jsonb;
