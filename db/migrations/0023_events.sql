CREATE TABLE "events" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"seq" bigint GENERATED ALWAYS AS IDENTITY (sequence name "events_seq_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"key" text,
	"data" jsonb NOT NULL,
	"posted_by" text NOT NULL,
	"received_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"offered_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"delivered_at" timestamp (3) with time zone,
	CONSTRAINT "events_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
DROP INDEX "pauses_waiting";--> statement-breakpoint
DROP INDEX "pauses_answered";--> statement-breakpoint
ALTER TABLE "pauses" ADD COLUMN "event_name" text;--> statement-breakpoint
ALTER TABLE "pauses" ADD COLUMN "event_key" text;--> statement-breakpoint
ALTER TABLE "pauses" ADD COLUMN "event_rules" jsonb;--> statement-breakpoint
ALTER TABLE "pauses" ADD COLUMN "looked" boolean;--> statement-breakpoint
ALTER TABLE "pauses" ADD COLUMN "event_id" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "timeout_at" timestamp (3) with time zone;--> statement-breakpoint
-- In two steps: with a default that differs for each row, the first would write every row anew.
ALTER TABLE "runs" ADD COLUMN "written_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "runs" ALTER COLUMN "written_at" SET DEFAULT clock_timestamp();--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "events_by_name" ON "events" USING btree ("tenant_id","name","seq");--> statement-breakpoint
CREATE INDEX "events_by_key" ON "events" USING btree ("tenant_id","name","key","seq") WHERE key is not null;--> statement-breakpoint
CREATE INDEX "events_undelivered" ON "events" USING btree ("offered_at") WHERE delivered_at is null;--> statement-breakpoint
CREATE INDEX "events_by_age" ON "events" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "pauses_for_event" ON "pauses" USING btree ("tenant_id","event_name","event_key","created_at","run_id","id") WHERE event_name is not null and answered_at is null;--> statement-breakpoint
CREATE INDEX "pauses_unlooked" ON "pauses" USING btree ("created_at") WHERE looked = false and answered_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "pauses_event_once" ON "pauses" USING btree ("tenant_id","run_id","step_id","event_id") WHERE event_id is not null;--> statement-breakpoint
CREATE INDEX "runs_by_timeout" ON "runs" USING btree ("timeout_at") WHERE timeout_at is not null and end_time is null;--> statement-breakpoint
CREATE INDEX "pauses_waiting" ON "pauses" USING btree ("tenant_id","created_at","run_id","id") WHERE answered_at is null and signal is not null;--> statement-breakpoint
CREATE INDEX "pauses_answered" ON "pauses" USING btree ("tenant_id","answered_at" DESC NULLS FIRST,"run_id" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE answer is not null and signal is not null;--> statement-breakpoint
-- Nobody is asked by a wait for an event.
DROP TRIGGER "pauses_told" ON "pauses";--> statement-breakpoint
CREATE TRIGGER "pauses_told" AFTER INSERT ON "pauses" FOR EACH ROW WHEN (NEW.signal is not null) EXECUTE FUNCTION "webhook_pause"();
