-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "agent_turns_of_root";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "agent_turns_of_root" ON "agent_turns" USING btree ("tenant_id","root_id") WHERE root_id is not null;--> statement-breakpoint
ALTER TABLE "agent_turns" DROP CONSTRAINT IF EXISTS "agent_turns_root_fk";--> statement-breakpoint
ALTER TABLE "agent_turns" ADD CONSTRAINT "agent_turns_root_fk" FOREIGN KEY ("tenant_id","root_id") REFERENCES "public"."agent_turns"("tenant_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "agent_turns" VALIDATE CONSTRAINT "agent_turns_root_fk";
