CREATE TABLE "held_answers" (
	"tenant_id" text NOT NULL,
	"run_id" text NOT NULL,
	"pause_id" text NOT NULL,
	"person" text NOT NULL,
	"answer" jsonb NOT NULL,
	"held_at" timestamp (3) with time zone NOT NULL,
	"until" timestamp (3) with time zone NOT NULL,
	"refused" jsonb,
	CONSTRAINT "held_answers_tenant_id_run_id_pause_id_person_pk" PRIMARY KEY("tenant_id","run_id","pause_id","person")
);
--> statement-breakpoint
ALTER TABLE "held_answers" ADD CONSTRAINT "held_answers_pause_fk" FOREIGN KEY ("tenant_id","run_id","pause_id") REFERENCES "public"."pauses"("tenant_id","run_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "held_answers_due" ON "held_answers" USING btree ("until") WHERE refused is null;--> statement-breakpoint
CREATE INDEX "held_answers_refused" ON "held_answers" USING btree ("tenant_id","person") WHERE refused is not null;