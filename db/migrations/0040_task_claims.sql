CREATE TABLE "task_claims" (
	"tenant_id" text NOT NULL,
	"run_id" text NOT NULL,
	"pause_id" text NOT NULL,
	"person" text NOT NULL,
	"claimed_by" text NOT NULL,
	"claimed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "task_claims_tenant_id_run_id_pause_id_pk" PRIMARY KEY("tenant_id","run_id","pause_id")
);
--> statement-breakpoint
ALTER TABLE "task_claims" ADD CONSTRAINT "task_claims_pause_fk" FOREIGN KEY ("tenant_id","run_id","pause_id") REFERENCES "public"."pauses"("tenant_id","run_id","id") ON DELETE cascade ON UPDATE no action;