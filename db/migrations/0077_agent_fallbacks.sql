ALTER TABLE "agent_calls" ADD COLUMN "provider" text;--> statement-breakpoint
ALTER TABLE "agent_calls" ADD COLUMN "fallback" integer;--> statement-breakpoint
ALTER TABLE "agent_calls" ADD COLUMN "tried" jsonb;