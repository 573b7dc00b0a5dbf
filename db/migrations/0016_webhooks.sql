CREATE TABLE "webhook_deliveries" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"seq" bigint GENERATED ALWAYS AS IDENTITY (sequence name "webhook_deliveries_seq_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"endpoint_id" text NOT NULL,
	"type" text NOT NULL,
	"run_id" text,
	"pause_id" text,
	"status" text DEFAULT 'pending' NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"attempts" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"due_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"body" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "webhook_deliveries_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"url" text NOT NULL,
	"description" text NOT NULL,
	"events" text[] NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"disabled_reason" text,
	"secrets" jsonb NOT NULL,
	"failing_since" timestamp (3) with time zone,
	"delivered_at" timestamp (3) with time zone,
	"leased_until" timestamp (3) with time zone,
	"created_by" text NOT NULL,
	"updated_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhook_endpoints_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_endpoint_fk" FOREIGN KEY ("tenant_id","endpoint_id") REFERENCES "public"."webhook_endpoints"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_run_fk" FOREIGN KEY ("tenant_id","run_id") REFERENCES "public"."runs"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_list" ON "webhook_deliveries" USING btree ("tenant_id","endpoint_id","seq" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "webhook_deliveries_run" ON "webhook_deliveries" USING btree ("tenant_id","run_id") WHERE run_id is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_pending" ON "webhook_deliveries" USING btree ("tenant_id","endpoint_id","run_id","seq") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("due_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_ended" ON "webhook_deliveries" USING btree ("ended_at") WHERE ended_at is not null;--> statement-breakpoint
-- Writes a message for each endpoint that wants the event, and the event that has them delivered.
CREATE FUNCTION "webhook_tell"(of_tenant text, of_run text, of_pause text, event text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WITH told AS (
		INSERT INTO webhook_deliveries (tenant_id, id, endpoint_id, type, run_id, pause_id)
		SELECT e.tenant_id, 'msg_' || replace(gen_random_uuid()::text, '-', ''), e.id, event, of_run, of_pause
		FROM webhook_endpoints e
		WHERE e.tenant_id = of_tenant AND e.enabled AND event = ANY (e.events)
		RETURNING tenant_id, id, endpoint_id)
	INSERT INTO outbox (id, tenant_id, name, data)
	SELECT 'evt_' || id, tenant_id, 'webhook/endpoint.due', jsonb_build_object('tenantId', tenant_id, 'endpointId', endpoint_id)
	FROM told;
	IF FOUND THEN PERFORM pg_notify('outbox', ''); END IF;
END $$;
--> statement-breakpoint
CREATE FUNCTION "webhook_run"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM webhook_endpoints WHERE tenant_id = NEW.tenant_id AND enabled) THEN RETURN NULL; END IF;
	IF TG_OP = 'INSERT' THEN PERFORM webhook_tell(NEW.tenant_id, NEW.id, NULL, 'run.started'); END IF;
	IF NEW.outcome IS NOT NULL THEN
		PERFORM webhook_tell(NEW.tenant_id, NEW.id, NULL, CASE NEW.outcome
			WHEN 'succeeded' THEN 'run.completed'
			WHEN 'cancelled' THEN 'run.cancelled'
			WHEN 'terminated' THEN 'run.terminated'
			ELSE 'run.failed' END);
	END IF;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION "webhook_pause"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM webhook_tell(NEW.tenant_id, NEW.run_id, NEW.id, 'run.paused');
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "runs_told_started" AFTER INSERT ON "runs" FOR EACH ROW EXECUTE FUNCTION "webhook_run"();
--> statement-breakpoint
CREATE TRIGGER "runs_told_ended" AFTER UPDATE OF "outcome" ON "runs" FOR EACH ROW WHEN (OLD.outcome IS NULL AND NEW.outcome IS NOT NULL) EXECUTE FUNCTION "webhook_run"();
--> statement-breakpoint
CREATE TRIGGER "pauses_told" AFTER INSERT ON "pauses" FOR EACH ROW WHEN (NEW.kind <> 'timer') EXECUTE FUNCTION "webhook_pause"();
