ALTER TABLE "agent_calls" ADD COLUMN "decision" json;--> statement-breakpoint
ALTER TABLE "agent_turns" ADD COLUMN "attempt" integer DEFAULT 0 NOT NULL;