CREATE TABLE "counted_days" (
	"tenant_id" text NOT NULL,
	"day" date NOT NULL,
	"counted_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "counted_days_tenant_id_day_pk" PRIMARY KEY("tenant_id","day")
);
--> statement-breakpoint
CREATE TABLE "run_days" (
	"tenant_id" text NOT NULL,
	"day" date NOT NULL,
	"workflow_id" text NOT NULL,
	"outcome" text NOT NULL,
	"bucket" smallint NOT NULL,
	"runs" integer NOT NULL,
	CONSTRAINT "run_days_tenant_id_day_workflow_id_outcome_bucket_pk" PRIMARY KEY("tenant_id","day","workflow_id","outcome","bucket")
);
--> statement-breakpoint
CREATE TABLE "wait_days" (
	"tenant_id" text NOT NULL,
	"day" date NOT NULL,
	"workflow_id" text NOT NULL,
	"step_id" text NOT NULL,
	"bucket" smallint NOT NULL,
	"answers" integer NOT NULL,
	CONSTRAINT "wait_days_tenant_id_day_workflow_id_step_id_bucket_pk" PRIMARY KEY("tenant_id","day","workflow_id","step_id","bucket")
);
--> statement-breakpoint
ALTER TABLE "counted_days" ADD CONSTRAINT "counted_days_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_days" ADD CONSTRAINT "run_days_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "wait_days" ADD CONSTRAINT "wait_days_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "runs_by_end" ON "runs" USING btree ("tenant_id","end_time") WHERE end_time is not null;