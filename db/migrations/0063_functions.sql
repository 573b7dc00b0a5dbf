-- Gives the functions and triggers the names and texts that db/functions has. `webhook_tell` stays for the release before.
DROP TRIGGER "runs_told_started" ON "runs";
DROP TRIGGER "runs_told_ended" ON "runs";
DROP TRIGGER "runs_told_tasks" ON "runs";
DROP TRIGGER "runs_told_cancel" ON "runs";
DROP TRIGGER "pauses_told" ON "pauses";
DROP TRIGGER "pauses_mailed" ON "pauses";
DROP TRIGGER "pauses_told_open" ON "pauses";
DROP TRIGGER "pauses_told_answered" ON "pauses";
DROP TRIGGER "pause_votes_told" ON "pause_votes";
DROP TRIGGER "held_answers_told" ON "held_answers";
DROP TRIGGER "task_claims_told" ON "task_claims";
DROP TRIGGER "task_claims_mailed" ON "task_claims";
DROP TRIGGER "task_claims_assigned" ON "task_claims";
DROP FUNCTION "webhook_run"();
DROP FUNCTION "webhook_pause"();
DROP FUNCTION "webhook_claim"();
DROP FUNCTION "mail_assigned"();
DROP FUNCTION "mail_given"();
DROP FUNCTION "mail_tell"(text, text, text, text, text[], text);
DROP FUNCTION "tasks_told"();
DROP FUNCTION "tasks_told_of_run"();

-- Messages for webhooks. Triggers write them, so no statement that starts or ends a run, opens a pause or assigns a task can
-- forget them, and a message is committed with its change or not at all. `server/webhooks/deliver.ts` sends them.

-- Writes a message for each enabled endpoint that subscribes to the event, and the outbox event that has it delivered. It locks
-- each endpoint first: if one is being deleted, it waits and then leaves it out. Otherwise the foreign key would fail the
-- statement that changes the run. `server/webhooks/overdue.ts` calls it too.
CREATE OR REPLACE FUNCTION "enqueue_webhooks"(of_tenant text, of_run text, of_pause text, event text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WITH written AS (
		INSERT INTO webhook_deliveries (tenant_id, id, endpoint_id, type, run_id, pause_id)
		SELECT e.tenant_id, 'msg_' || replace(gen_random_uuid()::text, '-', ''), e.id, event, of_run, of_pause
		FROM webhook_endpoints e
		WHERE e.tenant_id = of_tenant AND e.enabled AND event = ANY (e.events)
		FOR KEY SHARE OF e
		RETURNING tenant_id, id, endpoint_id)
	INSERT INTO outbox (id, tenant_id, name, data)
	SELECT 'evt_' || id, tenant_id, 'webhook/endpoint.due', jsonb_build_object('tenantId', tenant_id, 'endpointId', endpoint_id)
	FROM written;
	IF FOUND THEN PERFORM pg_notify('outbox', ''); END IF;
END $$;

-- The name by which a process of the release before calls it. Drop it once none can be running.
CREATE OR REPLACE FUNCTION "webhook_tell"(of_tenant text, of_run text, of_pause text, event text) RETURNS void LANGUAGE sql AS $$
	SELECT enqueue_webhooks(of_tenant, of_run, of_pause, event);
$$;

-- A run starts or ends. One that fails as it starts does both. A tenant without endpoints costs one lookup in an empty index.
CREATE OR REPLACE FUNCTION "runs_enqueue_webhooks"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM webhook_endpoints WHERE tenant_id = NEW.tenant_id AND enabled) THEN RETURN NULL; END IF;
	IF TG_OP = 'INSERT' THEN PERFORM enqueue_webhooks(NEW.tenant_id, NEW.id, NULL, 'run.started'); END IF;
	IF NEW.outcome IS NOT NULL THEN
		PERFORM enqueue_webhooks(NEW.tenant_id, NEW.id, NULL, CASE NEW.outcome
			WHEN 'succeeded' THEN 'run.completed'
			WHEN 'cancelled' THEN 'run.cancelled'
			WHEN 'terminated' THEN 'run.terminated'
			ELSE 'run.failed' END);
	END IF;
	RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "runs_enqueue_webhooks_started" AFTER INSERT ON "runs"
FOR EACH ROW EXECUTE FUNCTION "runs_enqueue_webhooks"();

CREATE OR REPLACE TRIGGER "runs_enqueue_webhooks_ended" AFTER UPDATE OF "outcome" ON "runs"
FOR EACH ROW WHEN (OLD.outcome IS NULL AND NEW.outcome IS NOT NULL) EXECUTE FUNCTION "runs_enqueue_webhooks"();

-- A run pauses for an answer. A wait for an event has no signal, and asks nobody.
CREATE OR REPLACE FUNCTION "pauses_enqueue_webhooks"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM enqueue_webhooks(NEW.tenant_id, NEW.run_id, NEW.id, 'run.paused');
	IF NEW.signal->'assignees' IS NOT NULL THEN
		PERFORM enqueue_webhooks(NEW.tenant_id, NEW.run_id, NEW.id, 'task.assigned');
	END IF;
	RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "pauses_enqueue_webhooks" AFTER INSERT ON "pauses"
FOR EACH ROW WHEN (NEW.signal IS NOT NULL) EXECUTE FUNCTION "pauses_enqueue_webhooks"();

-- A member gives a task to another one. Taking a task oneself is not reported.
CREATE OR REPLACE FUNCTION "task_claims_enqueue_webhooks"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'INSERT' OR OLD.person <> NEW.person THEN
		PERFORM enqueue_webhooks(NEW.tenant_id, NEW.run_id, NEW.pause_id, 'task.assigned');
	END IF;
	RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "task_claims_enqueue_webhooks" AFTER INSERT OR UPDATE ON "task_claims"
FOR EACH ROW WHEN (NEW.person <> NEW.claimed_by) EXECUTE FUNCTION "task_claims_enqueue_webhooks"();
-- Mails about tasks. Triggers write them, so no statement that opens a pause or gives a task to somebody can forget them.
-- `server/mail/deliver.ts` sends them. While no process has SMTP_URL, the row of `installation` says so and none is written.

-- Writes a mail about a task to each of these people, and the outbox event that has it sent. It also writes the mail that says
-- that the task is overdue, due at that time and dropped if the task has been answered by then. Each is written once.
CREATE OR REPLACE FUNCTION "enqueue_mail"(of_tenant text, of_run text, of_pause text, why text, people text[], due text) RETURNS void LANGUAGE plpgsql AS $$
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

-- A task opens that names its assignees. Those who are members get a mail; an assignee is `user:` with an address or an id.
CREATE OR REPLACE FUNCTION "pauses_enqueue_mail"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM installation WHERE mails) THEN RETURN NULL; END IF;
	PERFORM enqueue_mail(NEW.tenant_id, NEW.run_id, NEW.id, 'assigned', array_agg(DISTINCT m.user_id), NEW.signal->>'dueAt')
	FROM json_array_elements_text(NEW.signal->'assignees') assignee
	JOIN users u ON u.email = substr(assignee, 6) OR u.id = substr(assignee, 6)
	JOIN members m ON m.user_id = u.id AND m.tenant_id = NEW.tenant_id
	WHERE assignee LIKE 'user:%'
	HAVING count(*) > 0;
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
-- Notifications for open pages whose tasks change: every process listens on `millrace_live` (`server/live/channel.ts`) and passes
-- them on to its pages. Triggers send them, so no statement that opens, answers, claims or withdraws a task can forget it.
-- Postgres sends one notification for all changes that a transaction makes in one tenant.

-- A task opens or is answered, or a vote, an answer that can still be undone or a claim changes.
CREATE OR REPLACE FUNCTION "notify_tasks"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('millrace_live', json_build_object('tasksOf', COALESCE(NEW.tenant_id, OLD.tenant_id))::text);
	RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "pauses_notify_opened" AFTER INSERT ON "pauses"
FOR EACH ROW WHEN (NEW.signal IS NOT NULL) EXECUTE FUNCTION "notify_tasks"();

CREATE OR REPLACE TRIGGER "pauses_notify_answered" AFTER UPDATE OF "answered_at" ON "pauses"
FOR EACH ROW WHEN (NEW.signal IS NOT NULL AND OLD.answered_at IS DISTINCT FROM NEW.answered_at) EXECUTE FUNCTION "notify_tasks"();

CREATE OR REPLACE TRIGGER "pause_votes_notify" AFTER INSERT ON "pause_votes"
FOR EACH ROW EXECUTE FUNCTION "notify_tasks"();

CREATE OR REPLACE TRIGGER "held_answers_notify" AFTER INSERT OR UPDATE OR DELETE ON "held_answers"
FOR EACH ROW EXECUTE FUNCTION "notify_tasks"();

CREATE OR REPLACE TRIGGER "task_claims_notify" AFTER INSERT OR UPDATE OR DELETE ON "task_claims"
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
