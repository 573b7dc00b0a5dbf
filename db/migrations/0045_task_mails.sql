CREATE TABLE "task_mails" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"run_id" text NOT NULL,
	"pause_id" text NOT NULL,
	"user_id" text NOT NULL,
	"kind" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"reason" text,
	"due_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"leased_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "task_mails_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "installation" ADD COLUMN "mails" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "members" ADD COLUMN "task_mails" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "task_mails" ADD CONSTRAINT "task_mails_pause_fk" FOREIGN KEY ("tenant_id","run_id","pause_id") REFERENCES "public"."pauses"("tenant_id","run_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "task_mails_once" ON "task_mails" USING btree ("tenant_id","run_id","pause_id","user_id","kind");--> statement-breakpoint
CREATE INDEX "task_mails_due" ON "task_mails" USING btree ("due_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "task_mails_sent" ON "task_mails" USING btree ("tenant_id","user_id","ended_at") WHERE status = 'sent';--> statement-breakpoint
CREATE INDEX "task_mails_ended" ON "task_mails" USING btree ("ended_at") WHERE ended_at is not null;--> statement-breakpoint
-- Writes a mail to members about a task, and the event that has it sent. That the task is overdue is written now as well, and
-- dropped if it has been answered by then. No installation without mail writes any.
CREATE FUNCTION "mail_tell"(of_tenant text, of_run text, of_pause text, why text, people text[], due text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WITH written AS (
		INSERT INTO task_mails (tenant_id, id, run_id, pause_id, user_id, kind, due_at)
		SELECT of_tenant, 'mail_' || replace(gen_random_uuid()::text, '-', ''), of_run, of_pause, person, k.kind, k.at
		FROM unnest(people) person CROSS JOIN (VALUES (why, now()), ('overdue', due::timestamptz)) k (kind, at)
		WHERE k.kind = why OR k.at > now()
		ON CONFLICT DO NOTHING
		RETURNING id, kind)
	INSERT INTO outbox (id, tenant_id, name, data)
	SELECT 'evt_' || id, of_tenant, 'mail/task.due', jsonb_build_object('tenantId', of_tenant, 'mailId', id)
	FROM written WHERE kind = why;
	IF FOUND THEN PERFORM pg_notify('outbox', ''); END IF;
END $$;
--> statement-breakpoint
CREATE FUNCTION "mail_assigned"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM installation WHERE mails) THEN RETURN NULL; END IF;
	PERFORM mail_tell(NEW.tenant_id, NEW.run_id, NEW.id, 'assigned', array_agg(DISTINCT m.user_id), NEW.signal->>'dueAt')
	FROM json_array_elements_text(NEW.signal->'assignees') assignee
	JOIN users u ON u.email = substr(assignee, 6) OR u.id = substr(assignee, 6)
	JOIN members m ON m.user_id = u.id AND m.tenant_id = NEW.tenant_id
	WHERE assignee LIKE 'user:%'
	HAVING count(*) > 0;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "pauses_mailed" AFTER INSERT ON "pauses" FOR EACH ROW WHEN (NEW.signal->'assignees' IS NOT NULL) EXECUTE FUNCTION "mail_assigned"();
--> statement-breakpoint
CREATE FUNCTION "mail_given"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM installation WHERE mails) THEN RETURN NULL; END IF;
	PERFORM mail_tell(NEW.tenant_id, NEW.run_id, NEW.pause_id, 'given', ARRAY[NEW.person], p.signal->>'dueAt')
	FROM pauses p WHERE p.tenant_id = NEW.tenant_id AND p.run_id = NEW.run_id AND p.id = NEW.pause_id;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "task_claims_mailed" AFTER INSERT OR UPDATE ON "task_claims" FOR EACH ROW WHEN (NEW.person <> NEW.claimed_by) EXECUTE FUNCTION "mail_given"();
