CREATE TABLE "start_link_forms" (
	"tenant_id" text NOT NULL,
	"link_id" text NOT NULL,
	"form_id" text NOT NULL,
	"run_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "start_link_forms_tenant_id_link_id_form_id_pk" PRIMARY KEY("tenant_id","link_id","form_id")
);
--> statement-breakpoint
CREATE TABLE "start_links" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"workflow_id" text NOT NULL,
	"label" text,
	"maker_kind" text NOT NULL,
	"maker_id" text NOT NULL,
	"secret_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "start_links_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "start_link_forms" ADD CONSTRAINT "start_link_forms_link_fk" FOREIGN KEY ("tenant_id","link_id") REFERENCES "public"."start_links"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "start_links" ADD CONSTRAINT "start_links_workflow_fk" FOREIGN KEY ("tenant_id","workflow_id") REFERENCES "public"."workflows"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "start_links_of_workflow" ON "start_links" USING btree ("tenant_id","workflow_id");