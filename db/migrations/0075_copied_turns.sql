ALTER TABLE "agent_turns" ALTER COLUMN "tools" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_calls" ADD COLUMN "key_base" text;