ALTER TABLE "agent_turns" ADD COLUMN "root_id" text;
