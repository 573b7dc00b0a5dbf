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
