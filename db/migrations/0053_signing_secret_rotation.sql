ALTER TABLE "signing_secrets" ADD COLUMN "rotated_from" text;--> statement-breakpoint
ALTER TABLE "signing_secrets" ADD COLUMN "grace_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "signing_secrets" ADD CONSTRAINT "signing_secrets_rotated_from_fk" FOREIGN KEY ("tenant_id","rotated_from") REFERENCES "public"."signing_secrets"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "signing_secrets_rotated_from" ON "signing_secrets" USING btree ("tenant_id","rotated_from");