CREATE TABLE "test_cases" (
	"tenant_id" text NOT NULL,
	"noun" text NOT NULL,
	"object_id" text NOT NULL,
	"id" text NOT NULL,
	"name" text NOT NULL,
	"given" json NOT NULL,
	"expected" json NOT NULL,
	"thread_id" text,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "test_cases_tenant_id_noun_object_id_id_pk" PRIMARY KEY("tenant_id","noun","object_id","id")
);
--> statement-breakpoint
ALTER TABLE "test_cases" ADD CONSTRAINT "test_cases_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "test_cases" ADD CONSTRAINT "test_cases_thread_fk" FOREIGN KEY ("tenant_id","thread_id") REFERENCES "public"."threads"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "test_cases_of_thread" ON "test_cases" USING btree ("tenant_id","thread_id") WHERE thread_id is not null;