CREATE TABLE "scopes" (
	"tenant_id" text NOT NULL,
	"run_id" text NOT NULL,
	"id" text NOT NULL,
	"total" integer NOT NULL,
	"next" integer NOT NULL,
	"succeeded" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"need" integer,
	"stop_on_error" boolean NOT NULL,
	"state" text NOT NULL,
	"cause" jsonb,
	CONSTRAINT "scopes_tenant_id_run_id_id_pk" PRIMARY KEY("tenant_id","run_id","id")
);
--> statement-breakpoint
DROP INDEX "walks_open";--> statement-breakpoint
ALTER TABLE "walks" ADD COLUMN "scope" text;--> statement-breakpoint
ALTER TABLE "walks" ADD COLUMN "position" integer;--> statement-breakpoint
ALTER TABLE "walks" ADD COLUMN "data" jsonb;--> statement-breakpoint
ALTER TABLE "walks" ADD COLUMN "arrival" jsonb;--> statement-breakpoint
ALTER TABLE "scopes" ADD CONSTRAINT "scopes_run_fk" FOREIGN KEY ("tenant_id","run_id") REFERENCES "public"."runs"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "walks_of_scope" ON "walks" USING btree ("tenant_id","run_id","scope","position") WHERE scope is not null;--> statement-breakpoint
CREATE INDEX "walks_open" ON "walks" USING btree ("updated_at") WHERE status in ('requested', 'walking');