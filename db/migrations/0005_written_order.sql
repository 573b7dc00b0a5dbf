ALTER TABLE "agent_versions" ALTER COLUMN "config" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "pauses" ALTER COLUMN "signal" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "step_records" ALTER COLUMN "config" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "tool_versions" ALTER COLUMN "config" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "tool_versions" ALTER COLUMN "input_schema" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "tool_versions" ALTER COLUMN "output_schema" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "workflow_versions" ALTER COLUMN "definition" SET DATA TYPE json;