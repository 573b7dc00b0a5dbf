CREATE TABLE "task_links" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"run_id" text NOT NULL,
	"pause_id" text NOT NULL,
	"maker_kind" text NOT NULL,
	"maker_id" text NOT NULL,
	"secret_id" text,
	"answers_for" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "task_links_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "task_links" ADD CONSTRAINT "task_links_pause_fk" FOREIGN KEY ("tenant_id","run_id","pause_id") REFERENCES "public"."pauses"("tenant_id","run_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "task_links_pause" ON "task_links" USING btree ("tenant_id","run_id","pause_id");