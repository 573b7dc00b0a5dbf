ALTER TABLE "signing_secrets" ADD COLUMN "workflow_ids" text[];--> statement-breakpoint
ALTER TABLE "signing_secrets" ADD COLUMN "agent_ids" text[];--> statement-breakpoint
ALTER TABLE "signing_secrets" ADD COLUMN "own_runs" boolean DEFAULT false NOT NULL;