CREATE TABLE "group_members" (
	"tenant_id" text NOT NULL,
	"group_id" text NOT NULL,
	"user_id" text NOT NULL,
	CONSTRAINT "group_members_tenant_id_group_id_user_id_pk" PRIMARY KEY("tenant_id","group_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "groups" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"name" text NOT NULL,
	"key" text NOT NULL,
	"earlier_keys" text[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "groups_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_group_fk" FOREIGN KEY ("tenant_id","group_id") REFERENCES "public"."groups"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_member_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."members"("tenant_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "groups" ADD CONSTRAINT "groups_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "group_members_user" ON "group_members" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "groups_key" ON "groups" USING btree ("tenant_id","key");--> statement-breakpoint
-- Mails about tasks. Triggers write them, so no statement that opens a pause or gives a task to somebody can forget them.
-- `server/mail/deliver.ts` sends them. While no process has SMTP_URL, the row of `installation` says so and none is written.

-- Writes a mail about a task to each of these people, and the outbox event that has it sent. It also writes the mail that says
-- that the task is overdue, due at that time and dropped if the task has been answered by then. Each is written once, except
-- for reminders: a new one takes the row of the last one, so that no more than one waits for a mail server. A row that ended
-- lately stays as it is, and no mail is written: `server/mail/deliver.ts` counts it in the limit of an hour. It is not quite an
-- hour, because a mail ends a moment after its reminder, and hourly ones are all to be sent.
CREATE OR REPLACE FUNCTION "enqueue_mail"(of_tenant text, of_run text, of_pause text, why text, people text[], due text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WITH written AS (
		INSERT INTO task_mails (tenant_id, id, run_id, pause_id, user_id, kind, due_at)
		SELECT of_tenant, 'mail_' || replace(gen_random_uuid()::text, '-', ''), of_run, of_pause, person, k.kind, k.at
		FROM unnest(people) person CROSS JOIN (VALUES (why, now()), ('overdue', due::timestamptz)) k (kind, at)
		WHERE k.kind = why OR k.at > now()
		ON CONFLICT (tenant_id, run_id, pause_id, user_id, kind) DO UPDATE SET id = excluded.id, status = 'pending', tries = 0,
			reason = NULL, due_at = excluded.due_at, leased_until = NULL, created_at = excluded.created_at, ended_at = NULL
			WHERE task_mails.kind = 'reminder'
				AND (task_mails.status = 'pending' OR task_mails.ended_at < now() - interval '55 minutes')
		RETURNING id, kind)
	INSERT INTO outbox (id, tenant_id, name, data)
	SELECT 'evt_' || id, of_tenant, 'mail/task.due', jsonb_build_object('tenantId', of_tenant, 'mailId', id)
	FROM written WHERE kind = why;
	IF FOUND THEN PERFORM pg_notify('outbox', ''); END IF;
END $$;

-- The same for assignees: those who are members get the mail, and so do the members of groups. An assignee is `user:` with an
-- address or an id, `group:` with a name in lower case, or a role. At most 200 people get it, since all mails of a task are
-- written in the transaction that opens it.
-- `server/runs/remind.ts` calls it too.
CREATE OR REPLACE FUNCTION "enqueue_mail_to"(of_tenant text, of_run text, of_pause text, why text, assignees json, due text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM installation WHERE mails) THEN RETURN; END IF;
	PERFORM enqueue_mail(of_tenant, of_run, of_pause, why, (array_agg(DISTINCT named.user_id ORDER BY named.user_id))[1:200], due)
	FROM json_array_elements_text(assignees) assignee
	CROSS JOIN LATERAL (
		SELECT m.user_id FROM users u
		JOIN members m ON m.user_id = u.id AND m.tenant_id = of_tenant
		WHERE assignee LIKE 'user:%' AND (u.email = substr(assignee, 6) OR u.id = substr(assignee, 6))
		UNION ALL
		SELECT gm.user_id FROM groups g
		JOIN group_members gm ON gm.tenant_id = g.tenant_id AND gm.group_id = g.id
		WHERE assignee LIKE 'group:%' AND g.tenant_id = of_tenant
			AND (g.key = substr(assignee, 7) OR substr(assignee, 7) = ANY (g.earlier_keys))) named
	HAVING count(*) > 0;
END $$;

-- A task opens that names its assignees.
CREATE OR REPLACE FUNCTION "pauses_enqueue_mail"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM enqueue_mail_to(NEW.tenant_id, NEW.run_id, NEW.id, 'assigned', NEW.signal->'assignees', NEW.signal->>'dueAt');
	RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "pauses_enqueue_mail" AFTER INSERT ON "pauses"
FOR EACH ROW WHEN (NEW.signal->'assignees' IS NOT NULL) EXECUTE FUNCTION "pauses_enqueue_mail"();

-- A member gives a task to another one, who gets a mail.
CREATE OR REPLACE FUNCTION "task_claims_enqueue_mail"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM installation WHERE mails) THEN RETURN NULL; END IF;
	PERFORM enqueue_mail(NEW.tenant_id, NEW.run_id, NEW.pause_id, 'given', ARRAY[NEW.person], p.signal->>'dueAt')
	FROM pauses p WHERE p.tenant_id = NEW.tenant_id AND p.run_id = NEW.run_id AND p.id = NEW.pause_id;
	RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "task_claims_enqueue_mail" AFTER INSERT OR UPDATE ON "task_claims"
FOR EACH ROW WHEN (NEW.person <> NEW.claimed_by) EXECUTE FUNCTION "task_claims_enqueue_mail"();
--> statement-breakpoint
-- Notifications for open pages whose tasks change: every process listens on `millrace_live` (`server/live/channel.ts`) and passes
-- them on to its pages. Triggers send them, so no statement that opens, answers, claims or withdraws a task can forget it.
-- Postgres sends one notification for all changes that a transaction makes in one tenant.

-- A task opens, is answered, or people are reminded of it or it is handed over; a vote, an answer that can still be undone or a
-- claim changes.
CREATE OR REPLACE FUNCTION "notify_tasks"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('millrace_live', json_build_object('tasksOf', COALESCE(NEW.tenant_id, OLD.tenant_id))::text);
	RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "pauses_notify_opened" AFTER INSERT ON "pauses"
FOR EACH ROW WHEN (NEW.signal IS NOT NULL) EXECUTE FUNCTION "notify_tasks"();

CREATE OR REPLACE TRIGGER "pauses_notify_answered" AFTER UPDATE OF "answered_at" ON "pauses"
FOR EACH ROW WHEN (NEW.signal IS NOT NULL AND OLD.answered_at IS DISTINCT FROM NEW.answered_at) EXECUTE FUNCTION "notify_tasks"();

CREATE OR REPLACE TRIGGER "pauses_notify_reminded" AFTER UPDATE OF "remind_at" ON "pauses"
FOR EACH ROW EXECUTE FUNCTION "notify_tasks"();

CREATE OR REPLACE TRIGGER "pause_votes_notify" AFTER INSERT ON "pause_votes"
FOR EACH ROW EXECUTE FUNCTION "notify_tasks"();

CREATE OR REPLACE TRIGGER "held_answers_notify" AFTER INSERT OR UPDATE OR DELETE ON "held_answers"
FOR EACH ROW EXECUTE FUNCTION "notify_tasks"();

CREATE OR REPLACE TRIGGER "task_claims_notify" AFTER INSERT OR UPDATE OR DELETE ON "task_claims"
FOR EACH ROW EXECUTE FUNCTION "notify_tasks"();

-- A member joins or leaves a group, or a group gets another name: other people see the tasks that are assigned to it.
CREATE OR REPLACE TRIGGER "group_members_notify" AFTER INSERT OR DELETE ON "group_members"
FOR EACH ROW EXECUTE FUNCTION "notify_tasks"();

CREATE OR REPLACE TRIGGER "groups_notify" AFTER UPDATE OF "key" ON "groups"
FOR EACH ROW EXECUTE FUNCTION "notify_tasks"();

-- A run ends without success, or a caller asks to cancel it: its open tasks are no longer answered.
CREATE OR REPLACE FUNCTION "notify_tasks_of_run"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM pauses WHERE tenant_id = NEW.tenant_id AND run_id = NEW.id AND signal IS NOT NULL AND answered_at IS NULL)
	THEN PERFORM pg_notify('millrace_live', json_build_object('tasksOf', NEW.tenant_id)::text); END IF;
	RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "runs_notify_ended" AFTER UPDATE OF "outcome" ON "runs"
FOR EACH ROW WHEN (OLD.outcome IS NULL AND NEW.outcome <> 'succeeded') EXECUTE FUNCTION "notify_tasks_of_run"();

CREATE OR REPLACE TRIGGER "runs_notify_cancelled" AFTER UPDATE OF "cancel_requested_at" ON "runs"
FOR EACH ROW WHEN (OLD.cancel_requested_at IS NULL AND NEW.cancel_requested_at IS NOT NULL) EXECUTE FUNCTION "notify_tasks_of_run"();
