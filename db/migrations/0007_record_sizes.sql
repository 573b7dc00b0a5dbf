ALTER TABLE "step_records" ADD COLUMN "input_bytes" integer;--> statement-breakpoint
ALTER TABLE "step_records" ADD COLUMN "output_bytes" integer;