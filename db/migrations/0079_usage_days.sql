CREATE TABLE "usage_days" (
	"tenant_id" text NOT NULL,
	"day" date NOT NULL,
	"kind" text NOT NULL,
	"key" text NOT NULL,
	"calls" integer NOT NULL,
	"input" bigint NOT NULL,
	"cached" bigint NOT NULL,
	"output" bigint NOT NULL,
	"cost" double precision NOT NULL,
	CONSTRAINT "usage_days_tenant_id_day_kind_key_pk" PRIMARY KEY("tenant_id","day","kind","key")
);
--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "agent_limits" jsonb;--> statement-breakpoint
ALTER TABLE "usage_days" ADD CONSTRAINT "usage_days_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "usage_days_by_day" ON "usage_days" USING btree ("day");--> statement-breakpoint
CREATE INDEX "usage_days_of_subject" ON "usage_days" USING btree ("tenant_id","key") WHERE kind = 'subject';