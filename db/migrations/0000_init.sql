CREATE SCHEMA "engine";
--> statement-breakpoint
CREATE SEQUENCE "public"."changes" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE SEQUENCE "engine"."generation" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "agent_versions" (
	"tenant_id" text NOT NULL,
	"agent_id" text NOT NULL,
	"version" integer NOT NULL,
	"name" text NOT NULL,
	"config" jsonb NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"published_at" timestamp (3) with time zone,
	CONSTRAINT "agent_versions_tenant_id_agent_id_version_pk" PRIMARY KEY("tenant_id","agent_id","version")
);
--> statement-breakpoint
CREATE TABLE "agents" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"name" text NOT NULL,
	"description" text NOT NULL,
	"status" text NOT NULL,
	"version" integer NOT NULL,
	"published_version" integer,
	"published_at" timestamp (3) with time zone,
	"archived_at" timestamp (3) with time zone,
	"created_by" text NOT NULL,
	"updated_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "agents_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "cors_origins" (
	"tenant_id" text NOT NULL,
	"origin" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "cors_origins_tenant_id_origin_pk" PRIMARY KEY("tenant_id","origin")
);
--> statement-breakpoint
CREATE TABLE "engine"."events" (
	"scope" text NOT NULL,
	"id" text NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	CONSTRAINT "events_scope_id_pk" PRIMARY KEY("scope","id")
);
--> statement-breakpoint
CREATE TABLE "engine"."jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"run_id" text,
	"function_id" text NOT NULL,
	"kind" text NOT NULL,
	"step_id" text,
	"due_at" timestamp with time zone NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"generation" bigint DEFAULT 0 NOT NULL,
	"deliveries" integer DEFAULT 0 NOT NULL,
	"owner" text,
	"lane" text,
	CONSTRAINT "jobs_kind_check" CHECK ("engine"."jobs"."kind" in ('run', 'step', 'sleep', 'end', 'cron'))
);
--> statement-breakpoint
CREATE TABLE "engine"."runs" (
	"id" text PRIMARY KEY NOT NULL,
	"function_id" text NOT NULL,
	"event" text NOT NULL,
	"status" text DEFAULT 'running' NOT NULL,
	"output" text,
	"pending" integer DEFAULT 0 NOT NULL,
	"race" boolean DEFAULT false NOT NULL,
	"lane" text,
	"parent_run_id" text,
	"parent_step_id" text,
	"created_at" timestamp with time zone NOT NULL,
	"started_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	CONSTRAINT "runs_status_check" CHECK ("engine"."runs"."status" in ('running', 'completed', 'failed', 'cancelled'))
);
--> statement-breakpoint
CREATE TABLE "engine"."steps" (
	"run_id" text NOT NULL,
	"id" text NOT NULL,
	"position" bigint GENERATED ALWAYS AS IDENTITY (sequence name "engine"."steps_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"value" text NOT NULL,
	CONSTRAINT "steps_run_id_id_pk" PRIMARY KEY("run_id","id")
);
--> statement-breakpoint
CREATE TABLE "engine"."waits" (
	"run_id" text NOT NULL,
	"step_id" text NOT NULL,
	"kind" text NOT NULL,
	"key" text NOT NULL,
	"token" text DEFAULT '' NOT NULL,
	"condition" text,
	"expires_at" timestamp with time zone,
	CONSTRAINT "waits_run_id_step_id_pk" PRIMARY KEY("run_id","step_id"),
	CONSTRAINT "waits_kind_check" CHECK ("engine"."waits"."kind" in ('event', 'signal', 'replaced', 'invoke', 'cancel', 'cancelled', 'start', 'finish'))
);
--> statement-breakpoint
CREATE TABLE "engine"."workers" (
	"boot_id" text PRIMARY KEY NOT NULL,
	"host_id" text NOT NULL,
	"pid" integer NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"last_seen" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "files" (
	"tenant_id" text NOT NULL,
	"id" uuid NOT NULL,
	"run_id" text,
	"name" text NOT NULL,
	"declared_type" text NOT NULL,
	"sniffed_type" text NOT NULL,
	"size" integer NOT NULL,
	"sha256" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"claimed_at" timestamp (3) with time zone,
	"condemned_at" timestamp (3) with time zone,
	CONSTRAINT "files_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"tenant_id" text NOT NULL,
	"scope" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" text NOT NULL,
	"state" text NOT NULL,
	"owner" text NOT NULL,
	"leased_until" timestamp (3) with time zone NOT NULL,
	"effects" jsonb NOT NULL,
	"status" integer,
	"headers" jsonb,
	"body" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_tenant_id_scope_key_pk" PRIMARY KEY("tenant_id","scope","key")
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"hash" text NOT NULL,
	"hint" text NOT NULL,
	"created_by" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"disabled_at" timestamp (3) with time zone,
	"rotated_from" text,
	"grace_until" timestamp (3) with time zone,
	CONSTRAINT "api_keys_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "members" (
	"tenant_id" text NOT NULL,
	"user_id" text NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "members_tenant_id_user_id_pk" PRIMARY KEY("tenant_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"name" text NOT NULL,
	"password_hash" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" text PRIMARY KEY NOT NULL,
	"tenant_id" text NOT NULL,
	"name" text NOT NULL,
	"data" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"leased_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "rate_buckets" (
	"id" text PRIMARY KEY NOT NULL,
	"full_at" double precision NOT NULL
);
--> statement-breakpoint
CREATE TABLE "pauses" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"run_id" text NOT NULL,
	"branch" text NOT NULL,
	"step_id" text NOT NULL,
	"visit" integer NOT NULL,
	"kind" text NOT NULL,
	"signal" jsonb,
	"due_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"answered_at" timestamp (3) with time zone,
	"answer" jsonb,
	"answered_by" text,
	"consumed_at" timestamp (3) with time zone,
	CONSTRAINT "pauses_tenant_id_run_id_id_pk" PRIMARY KEY("tenant_id","run_id","id")
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"workflow_id" text NOT NULL,
	"workflow_version" integer NOT NULL,
	"workflow_name" text NOT NULL,
	"status" text NOT NULL,
	"outcome" text,
	"epoch" integer DEFAULT 1 NOT NULL,
	"input" jsonb NOT NULL,
	"data" jsonb NOT NULL,
	"result" jsonb,
	"error" jsonb,
	"current_step_id" text,
	"context" jsonb,
	"started_by" text NOT NULL,
	"cancellation" jsonb,
	"cancel_requested_at" timestamp (3) with time zone,
	"cleanup_started_at" timestamp (3) with time zone,
	"retry_of" text,
	"start_time" timestamp (3) with time zone NOT NULL,
	"end_time" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"change" bigint DEFAULT nextval('changes') NOT NULL,
	CONSTRAINT "runs_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "step_records" (
	"tenant_id" text NOT NULL,
	"run_id" text NOT NULL,
	"branch" text NOT NULL,
	"step_id" text NOT NULL,
	"visit" integer NOT NULL,
	"seq" bigint GENERATED ALWAYS AS IDENTITY (sequence name "step_records_seq_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"step_type" text NOT NULL,
	"step_name" text NOT NULL,
	"status" text NOT NULL,
	"attempt" integer DEFAULT 1 NOT NULL,
	"attempts" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"start_time" timestamp (3) with time zone NOT NULL,
	"end_time" timestamp (3) with time zone,
	"config" jsonb,
	"input_data" jsonb,
	"output_data" jsonb,
	"delta" jsonb,
	"usage" jsonb,
	"error" text,
	"error_code" text,
	"receipt" jsonb,
	"change" bigint DEFAULT nextval('changes') NOT NULL,
	CONSTRAINT "step_records_tenant_id_run_id_branch_step_id_visit_pk" PRIMARY KEY("tenant_id","run_id","branch","step_id","visit")
);
--> statement-breakpoint
CREATE TABLE "walks" (
	"tenant_id" text NOT NULL,
	"run_id" text NOT NULL,
	"branch" text NOT NULL,
	"epoch" integer NOT NULL,
	"segment" integer NOT NULL,
	"status" text NOT NULL,
	"engine_run_id" text,
	"step_id" text NOT NULL,
	"visit" integer NOT NULL,
	"visits" integer DEFAULT 0 NOT NULL,
	"restarts" integer DEFAULT 0 NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "walks_tenant_id_run_id_branch_pk" PRIMARY KEY("tenant_id","run_id","branch")
);
--> statement-breakpoint
CREATE TABLE "signing_secrets" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"sealed" text NOT NULL,
	"created_by" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"disabled_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	"long_lived_at" timestamp (3) with time zone,
	CONSTRAINT "signing_secrets_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "chat_events" (
	"tenant_id" text NOT NULL,
	"thread_id" text NOT NULL,
	"ticket" integer NOT NULL,
	"seq" bigint NOT NULL,
	"event" text NOT NULL,
	"data" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "chat_events_tenant_id_thread_id_ticket_seq_pk" PRIMARY KEY("tenant_id","thread_id","ticket","seq")
);
--> statement-breakpoint
CREATE TABLE "messages" (
	"tenant_id" text NOT NULL,
	"thread_id" text NOT NULL,
	"seq" integer NOT NULL,
	"role" text NOT NULL,
	"content" jsonb NOT NULL,
	"metadata" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "messages_tenant_id_thread_id_seq_pk" PRIMARY KEY("tenant_id","thread_id","seq")
);
--> statement-breakpoint
CREATE TABLE "thread_turns" (
	"tenant_id" text NOT NULL,
	"thread_id" text NOT NULL,
	"ticket" integer NOT NULL,
	"leased_until" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "thread_turns_tenant_id_thread_id_ticket_pk" PRIMARY KEY("tenant_id","thread_id","ticket")
);
--> statement-breakpoint
CREATE TABLE "threads" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"agent_id" text NOT NULL,
	"subject" text,
	"tickets" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "threads_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "tool_versions" (
	"tenant_id" text NOT NULL,
	"tool_id" text NOT NULL,
	"version" integer NOT NULL,
	"name" text DEFAULT '' NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"kind" text NOT NULL,
	"config" jsonb NOT NULL,
	"input_schema" jsonb,
	"output_schema" jsonb,
	"created_by" text DEFAULT 'system' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"published_at" timestamp (3) with time zone,
	CONSTRAINT "tool_versions_tenant_id_tool_id_version_pk" PRIMARY KEY("tenant_id","tool_id","version")
);
--> statement-breakpoint
CREATE TABLE "tools" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"name" text NOT NULL,
	"description" text NOT NULL,
	"status" text NOT NULL,
	"version" integer NOT NULL,
	"published_version" integer,
	"published_at" timestamp (3) with time zone,
	"archived_at" timestamp (3) with time zone,
	"created_by" text DEFAULT 'system' NOT NULL,
	"updated_by" text DEFAULT 'system' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tools_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "vault_secrets" (
	"tenant_id" text NOT NULL,
	"name" text NOT NULL,
	"sealed" text NOT NULL,
	"created_by" text NOT NULL,
	"updated_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "vault_secrets_tenant_id_name_pk" PRIMARY KEY("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "workflow_versions" (
	"tenant_id" text NOT NULL,
	"workflow_id" text NOT NULL,
	"version" integer NOT NULL,
	"name" text NOT NULL,
	"definition" jsonb NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"burst_since" timestamp (3) with time zone,
	"published_at" timestamp (3) with time zone,
	CONSTRAINT "workflow_versions_tenant_id_workflow_id_version_pk" PRIMARY KEY("tenant_id","workflow_id","version")
);
--> statement-breakpoint
CREATE TABLE "workflows" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"name" text NOT NULL,
	"description" text NOT NULL,
	"status" text NOT NULL,
	"version" integer NOT NULL,
	"published_version" integer,
	"published_at" timestamp (3) with time zone,
	"archived_at" timestamp (3) with time zone,
	"created_by" text NOT NULL,
	"updated_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "workflows_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "agent_versions" ADD CONSTRAINT "agent_versions_agent_fk" FOREIGN KEY ("tenant_id","agent_id") REFERENCES "public"."agents"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cors_origins" ADD CONSTRAINT "cors_origins_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_rotated_from_fk" FOREIGN KEY ("tenant_id","rotated_from") REFERENCES "public"."api_keys"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pauses" ADD CONSTRAINT "pauses_run_fk" FOREIGN KEY ("tenant_id","run_id") REFERENCES "public"."runs"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_version_fk" FOREIGN KEY ("tenant_id","workflow_id","workflow_version") REFERENCES "public"."workflow_versions"("tenant_id","workflow_id","version") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "step_records" ADD CONSTRAINT "step_records_run_fk" FOREIGN KEY ("tenant_id","run_id") REFERENCES "public"."runs"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "walks" ADD CONSTRAINT "walks_run_fk" FOREIGN KEY ("tenant_id","run_id") REFERENCES "public"."runs"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "signing_secrets" ADD CONSTRAINT "signing_secrets_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_events" ADD CONSTRAINT "chat_events_thread_fk" FOREIGN KEY ("tenant_id","thread_id") REFERENCES "public"."threads"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "messages" ADD CONSTRAINT "messages_thread_fk" FOREIGN KEY ("tenant_id","thread_id") REFERENCES "public"."threads"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "thread_turns" ADD CONSTRAINT "thread_turns_thread_fk" FOREIGN KEY ("tenant_id","thread_id") REFERENCES "public"."threads"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "threads" ADD CONSTRAINT "threads_agent_fk" FOREIGN KEY ("tenant_id","agent_id") REFERENCES "public"."agents"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_versions" ADD CONSTRAINT "tool_versions_tool_fk" FOREIGN KEY ("tenant_id","tool_id") REFERENCES "public"."tools"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tools" ADD CONSTRAINT "tools_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vault_secrets" ADD CONSTRAINT "vault_secrets_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workflow_versions" ADD CONSTRAINT "workflow_versions_tenant_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workflows" ADD CONSTRAINT "workflows_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agents_updated" ON "agents" USING btree ("tenant_id","updated_at" DESC NULLS LAST,"id");--> statement-breakpoint
CREATE INDEX "cors_origins_origin" ON "cors_origins" USING btree ("origin");--> statement-breakpoint
CREATE INDEX "events_received_at_idx" ON "engine"."events" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "jobs_due_at_idx" ON "engine"."jobs" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "jobs_run_id_idx" ON "engine"."jobs" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "jobs_lane_idx" ON "engine"."jobs" USING btree ("function_id","lane") WHERE "engine"."jobs"."lane" is not null;--> statement-breakpoint
CREATE INDEX "runs_ended_at_idx" ON "engine"."runs" USING btree ("ended_at") WHERE "engine"."runs"."ended_at" is not null;--> statement-breakpoint
CREATE INDEX "waits_key_token_idx" ON "engine"."waits" USING btree ("key","token");--> statement-breakpoint
CREATE UNIQUE INDEX "waits_signal_idx" ON "engine"."waits" USING btree ("key") WHERE "engine"."waits"."kind" = 'signal';--> statement-breakpoint
CREATE INDEX "waits_expires_at_idx" ON "engine"."waits" USING btree ("expires_at") WHERE "engine"."waits"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "files_by_run" ON "files" USING btree ("tenant_id","run_id");--> statement-breakpoint
CREATE INDEX "files_unclaimed" ON "files" USING btree ("created_at") WHERE claimed_at is null;--> statement-breakpoint
CREATE INDEX "files_condemned" ON "files" USING btree ("condemned_at") WHERE condemned_at is not null;--> statement-breakpoint
CREATE INDEX "idempotency_keys_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash" ON "api_keys" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "api_keys_rotated_from" ON "api_keys" USING btree ("tenant_id","rotated_from");--> statement-breakpoint
CREATE INDEX "members_user" ON "members" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email" ON "users" USING btree ("email");--> statement-breakpoint
CREATE INDEX "outbox_order" ON "outbox" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "outbox_tenant" ON "outbox" USING btree ("tenant_id");--> statement-breakpoint
CREATE INDEX "pauses_unconsumed" ON "pauses" USING btree ("answered_at") WHERE answered_at is not null and consumed_at is null;--> statement-breakpoint
CREATE INDEX "pauses_due" ON "pauses" USING btree ("due_at") WHERE due_at is not null and answered_at is null;--> statement-breakpoint
CREATE INDEX "runs_by_start" ON "runs" USING btree ("tenant_id","start_time" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "runs_by_workflow" ON "runs" USING btree ("tenant_id","workflow_id","workflow_version","start_time" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "runs_open" ON "runs" USING btree ("updated_at") WHERE status in ('running', 'paused');--> statement-breakpoint
CREATE INDEX "runs_cancelling" ON "runs" USING btree ("cancel_requested_at") WHERE cancel_requested_at is not null and end_time is null;--> statement-breakpoint
CREATE INDEX "step_records_history" ON "step_records" USING btree ("tenant_id","run_id","seq");--> statement-breakpoint
CREATE INDEX "walks_open" ON "walks" USING btree ("updated_at") WHERE status <> 'ended';--> statement-breakpoint
CREATE UNIQUE INDEX "signing_secrets_id" ON "signing_secrets" USING btree ("id");--> statement-breakpoint
CREATE INDEX "chat_events_age" ON "chat_events" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "threads_by_agent" ON "threads" USING btree ("tenant_id","agent_id","updated_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "tools_updated" ON "tools" USING btree ("tenant_id","updated_at" DESC NULLS LAST,"id");--> statement-breakpoint
CREATE INDEX "workflows_updated" ON "workflows" USING btree ("tenant_id","updated_at" DESC NULLS LAST,"id");