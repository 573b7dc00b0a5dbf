CREATE TABLE "schedule_ticks" (
	"tenant_id" text NOT NULL,
	"schedule_id" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"status" text NOT NULL,
	"run_id" text,
	"error" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "schedule_ticks_tenant_id_schedule_id_at_pk" PRIMARY KEY("tenant_id","schedule_id","at")
);
--> statement-breakpoint
CREATE TABLE "schedules" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"workflow_id" text NOT NULL,
	"name" text NOT NULL,
	"cron" text NOT NULL,
	"time_zone" text NOT NULL,
	"catch_up" text NOT NULL,
	"data" jsonb NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"next_at" timestamp (3) with time zone,
	"created_by" text NOT NULL,
	"updated_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "schedules_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "schedule_ticks" ADD CONSTRAINT "schedule_ticks_schedule_fk" FOREIGN KEY ("tenant_id","schedule_id") REFERENCES "public"."schedules"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_workflow_fk" FOREIGN KEY ("tenant_id","workflow_id") REFERENCES "public"."workflows"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "schedule_ticks_at" ON "schedule_ticks" USING btree ("at");--> statement-breakpoint
CREATE INDEX "schedules_by_workflow" ON "schedules" USING btree ("tenant_id","workflow_id");--> statement-breakpoint
CREATE INDEX "schedules_due" ON "schedules" USING btree ("next_at") WHERE next_at is not null;