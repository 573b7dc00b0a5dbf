CREATE TABLE "run_moves" (
	"tenant_id" text NOT NULL,
	"run_id" text NOT NULL,
	"n" integer NOT NULL,
	"workflow_id" text NOT NULL,
	"from_version" integer NOT NULL,
	"to_version" integer NOT NULL,
	"after_seq" bigint NOT NULL,
	"asked" json,
	"batch" text NOT NULL,
	"moved_by" text NOT NULL,
	"reason" text,
	"moved_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "run_moves_tenant_id_run_id_n_pk" PRIMARY KEY("tenant_id","run_id","n")
);
--> statement-breakpoint
ALTER TABLE "run_moves" ADD CONSTRAINT "run_moves_run_fk" FOREIGN KEY ("tenant_id","run_id") REFERENCES "public"."runs"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_moves" ADD CONSTRAINT "run_moves_from_fk" FOREIGN KEY ("tenant_id","workflow_id","from_version") REFERENCES "public"."workflow_versions"("tenant_id","workflow_id","version") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_moves" ADD CONSTRAINT "run_moves_to_fk" FOREIGN KEY ("tenant_id","workflow_id","to_version") REFERENCES "public"."workflow_versions"("tenant_id","workflow_id","version") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "run_moves_batch" ON "run_moves" USING btree ("tenant_id","batch");--> statement-breakpoint
CREATE INDEX "run_moves_from" ON "run_moves" USING btree ("tenant_id","workflow_id","from_version");
--> statement-breakpoint
-- Mails about tasks. Triggers write them, so no statement that opens a pause or gives a task to somebody can forget them.
-- `server/mail/deliver.ts` sends them. While no process has SMTP_URL, the row of `installation` says so and none is written.

-- Writes a mail about a task to each of these people, and the outbox event that has it sent. It also writes the mail that says
-- that the task is overdue, due at that time and dropped if the task has been answered by then. Each is written once, except
-- for reminders: a new one takes the row of the last one, so that no more than one waits for a mail server. A row that ended
-- lately stays as it is, and no mail is written: `server/mail/deliver.ts` counts it in the limit of an hour. It is not quite an
-- hour, because a mail ends a moment after its reminder, and hourly ones are all to be sent. A task that is asked again has
-- another question, and perhaps another time: its mails always take the rows of the last ones.
CREATE OR REPLACE FUNCTION "enqueue_mail"(of_tenant text, of_run text, of_pause text, why text, people text[], due text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WITH written AS (
		INSERT INTO task_mails (tenant_id, id, run_id, pause_id, user_id, kind, due_at)
		SELECT of_tenant, 'mail_' || replace(gen_random_uuid()::text, '-', ''), of_run, of_pause, person, k.kind, k.at
		FROM unnest(people) person CROSS JOIN (VALUES (why, now()), ('overdue', due::timestamptz)) k (kind, at)
		WHERE k.kind = why OR k.at > now()
		ON CONFLICT (tenant_id, run_id, pause_id, user_id, kind) DO UPDATE SET id = excluded.id, status = 'pending', tries = 0,
			reason = NULL, due_at = excluded.due_at, leased_until = NULL, created_at = excluded.created_at, ended_at = NULL
			WHERE why = 'asked again' OR (task_mails.kind = 'reminder'
				AND (task_mails.status = 'pending' OR task_mails.ended_at < now() - interval '55 minutes'))
		RETURNING id, kind)
	INSERT INTO outbox (id, tenant_id, name, data)
	SELECT 'evt_' || id, of_tenant, 'mail/task.due', jsonb_build_object('tenantId', of_tenant, 'mailId', id)
	FROM written WHERE kind = why;
	IF FOUND THEN PERFORM pg_notify('outbox', ''); END IF;
END $$;

-- The same for assignees: those who are members get the mail, and so do the members of groups. An assignee is `user:` with an
-- address or an id, `group:` with a name in lower case, or a role. At most 200 people get it, since all mails of a task are
-- written in the transaction that opens it.
-- `server/runs/remind.ts` calls it too, and `tell_asked_again`.
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

-- A run was moved to another version, where an open task asks something else: a webhook hears of it as of a new task, and
-- its assignees and the member who takes care of it get a mail. Mails about the old question that wait still are dropped.
-- A trigger could not tell it from a hand-over, which changes the question too. `server/interpreter/write/moves.ts` calls it.
CREATE OR REPLACE FUNCTION "tell_asked_again"(of_tenant text, of_run text, of_pause text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	asked json;
	people json;
BEGIN
	UPDATE task_mails SET status = 'dropped', reason = 'The task was asked again.', ended_at = now(), leased_until = NULL
	WHERE tenant_id = of_tenant AND run_id = of_run AND pause_id = of_pause AND status = 'pending';
	SELECT signal INTO asked FROM pauses WHERE tenant_id = of_tenant AND run_id = of_run AND id = of_pause AND signal IS NOT NULL;
	IF NOT FOUND THEN RETURN; END IF;
	SELECT json_agg(person) INTO people FROM (
		SELECT json_array_elements_text(asked->'assignees') AS person
		UNION SELECT 'user:' || c.person FROM task_claims c
		WHERE c.tenant_id = of_tenant AND c.run_id = of_run AND c.pause_id = of_pause) named;
	PERFORM enqueue_webhooks(of_tenant, of_run, of_pause, 'run.paused');
	IF asked->'assignees' IS NOT NULL THEN PERFORM enqueue_webhooks(of_tenant, of_run, of_pause, 'task.assigned'); END IF;
	IF people IS NOT NULL THEN PERFORM enqueue_mail_to(of_tenant, of_run, of_pause, 'asked again', people, asked->>'dueAt'); END IF;
END $$;
