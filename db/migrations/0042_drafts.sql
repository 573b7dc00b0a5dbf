CREATE TABLE "drafts" (
	"tenant_id" text NOT NULL,
	"noun" text NOT NULL,
	"id" text NOT NULL,
	"revision" integer NOT NULL,
	"base_version" integer NOT NULL,
	"content" json,
	"updated_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "drafts_tenant_id_noun_id_pk" PRIMARY KEY("tenant_id","noun","id")
);
--> statement-breakpoint
ALTER TABLE "agent_versions" ADD COLUMN "note" text;--> statement-breakpoint
ALTER TABLE "tool_versions" ADD COLUMN "note" text;--> statement-breakpoint
ALTER TABLE "workflow_versions" ADD COLUMN "note" text;--> statement-breakpoint
ALTER TABLE "drafts" ADD CONSTRAINT "drafts_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;