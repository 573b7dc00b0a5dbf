CREATE TABLE "inbound_deliveries" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"seq" bigint GENERATED ALWAYS AS IDENTITY (sequence name "inbound_deliveries_seq_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"webhook_id" text NOT NULL,
	"key" text,
	"status" text NOT NULL,
	"run_id" text,
	"error" text,
	"content_type" text NOT NULL,
	"headers" jsonb NOT NULL,
	"query" jsonb NOT NULL,
	"body" text,
	"replay_of" text,
	"created_by" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "inbound_deliveries_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "inbound_webhooks" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"workflow_id" text NOT NULL,
	"token" text NOT NULL,
	"name" text NOT NULL,
	"scheme" text NOT NULL,
	"signature_header" text,
	"encoding" text,
	"id_header" text,
	"secrets" jsonb NOT NULL,
	"mapping" jsonb NOT NULL,
	"when" text,
	"enabled" boolean DEFAULT true NOT NULL,
	"refused_at" timestamp (3) with time zone,
	"refusal" text,
	"created_by" text NOT NULL,
	"updated_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "inbound_webhooks_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "inbound_deliveries" ADD CONSTRAINT "inbound_deliveries_webhook_fk" FOREIGN KEY ("tenant_id","webhook_id") REFERENCES "public"."inbound_webhooks"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "inbound_webhooks" ADD CONSTRAINT "inbound_webhooks_workflow_fk" FOREIGN KEY ("tenant_id","workflow_id") REFERENCES "public"."workflows"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "inbound_deliveries_key" ON "inbound_deliveries" USING btree ("tenant_id","webhook_id","key") WHERE key is not null;--> statement-breakpoint
CREATE INDEX "inbound_deliveries_list" ON "inbound_deliveries" USING btree ("tenant_id","webhook_id","seq" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "inbound_deliveries_run" ON "inbound_deliveries" USING btree ("tenant_id","run_id") WHERE run_id is not null;--> statement-breakpoint
CREATE INDEX "inbound_deliveries_created" ON "inbound_deliveries" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "inbound_webhooks_token" ON "inbound_webhooks" USING btree ("token");--> statement-breakpoint
CREATE INDEX "inbound_webhooks_by_workflow" ON "inbound_webhooks" USING btree ("tenant_id","workflow_id");