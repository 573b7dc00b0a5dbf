ALTER TABLE "agent_turns" ALTER COLUMN "run_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_turns" ALTER COLUMN "branch" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_turns" ALTER COLUMN "step_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_turns" ALTER COLUMN "visit" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_turns" ADD COLUMN "key" text;--> statement-breakpoint
ALTER TABLE "agent_turns" ADD COLUMN "owner" text;--> statement-breakpoint
ALTER TABLE "agent_turns" ADD COLUMN "leased_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "agent_turns" ADD COLUMN "request" json;--> statement-breakpoint
ALTER TABLE "agent_turns" ADD COLUMN "answer" json;--> statement-breakpoint
ALTER TABLE "agent_turns" ADD COLUMN "subject" text;--> statement-breakpoint
ALTER TABLE "agent_turns" ADD COLUMN "ticket" integer;