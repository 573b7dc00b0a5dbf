CREATE TABLE "agent_calls" (
	"tenant_id" text NOT NULL,
	"turn_id" text NOT NULL,
	"seq" integer NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"output" json NOT NULL,
	"usage" jsonb,
	"cost" double precision,
	"error_code" text,
	"started_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "agent_calls_tenant_id_turn_id_seq_pk" PRIMARY KEY("tenant_id","turn_id","seq")
);
--> statement-breakpoint
CREATE TABLE "agent_turns" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"run_id" text NOT NULL,
	"branch" text NOT NULL,
	"step_id" text NOT NULL,
	"visit" integer NOT NULL,
	"agent_id" text NOT NULL,
	"version" integer NOT NULL,
	"tools" jsonb NOT NULL,
	"thread_id" text,
	"history_to" integer NOT NULL,
	"state" text NOT NULL,
	"error_code" text,
	"usage" jsonb NOT NULL,
	"cost" double precision,
	"started_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "agent_turns_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "agent_calls" ADD CONSTRAINT "agent_calls_turn_fk" FOREIGN KEY ("tenant_id","turn_id") REFERENCES "public"."agent_turns"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_turns" ADD CONSTRAINT "agent_turns_run_fk" FOREIGN KEY ("tenant_id","run_id") REFERENCES "public"."runs"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_turns" ADD CONSTRAINT "agent_turns_thread_fk" FOREIGN KEY ("tenant_id","thread_id") REFERENCES "public"."threads"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "agent_turns_visit" ON "agent_turns" USING btree ("tenant_id","run_id","branch","step_id","visit");--> statement-breakpoint
CREATE INDEX "agent_turns_of_thread" ON "agent_turns" USING btree ("tenant_id","thread_id") WHERE thread_id is not null;