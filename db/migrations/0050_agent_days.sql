CREATE TABLE "agent_days" (
	"tenant_id" text NOT NULL,
	"day" date NOT NULL,
	"workflow_id" text NOT NULL,
	"agent_id" text NOT NULL,
	"answers" integer NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"priced" integer NOT NULL,
	"cost" double precision NOT NULL,
	CONSTRAINT "agent_days_tenant_id_day_workflow_id_agent_id_pk" PRIMARY KEY("tenant_id","day","workflow_id","agent_id")
);
--> statement-breakpoint
ALTER TABLE "counted_days" ADD COLUMN "parts" smallint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_days" ADD CONSTRAINT "agent_days_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;