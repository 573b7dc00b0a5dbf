CREATE TABLE "pause_votes" (
	"tenant_id" text NOT NULL,
	"run_id" text NOT NULL,
	"pause_id" text NOT NULL,
	"person" text NOT NULL,
	"name" text NOT NULL,
	"action_id" text NOT NULL,
	"action_value" text NOT NULL,
	"via" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "pause_votes_tenant_id_run_id_pause_id_person_pk" PRIMARY KEY("tenant_id","run_id","pause_id","person")
);
--> statement-breakpoint
ALTER TABLE "pauses" ADD COLUMN "answered_via" text;--> statement-breakpoint
ALTER TABLE "pause_votes" ADD CONSTRAINT "pause_votes_pause_fk" FOREIGN KEY ("tenant_id","run_id","pause_id") REFERENCES "public"."pauses"("tenant_id","run_id","id") ON DELETE cascade ON UPDATE no action;