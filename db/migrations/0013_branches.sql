ALTER TABLE "step_records" ADD COLUMN "handled" boolean;--> statement-breakpoint
ALTER TABLE "step_records" ADD COLUMN "exit" text;--> statement-breakpoint
ALTER TABLE "workflow_versions" ADD COLUMN "language" integer;