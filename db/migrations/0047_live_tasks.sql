-- Tells the processes that have pages open whose tasks changed. By triggers, so that no statement that opens, answers, claims
-- or withdraws a task can forget it. Of a transaction's changes in one tenant, Postgres sends one notification.
CREATE FUNCTION "tasks_told"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('millrace_live', json_build_object('tasksOf', COALESCE(NEW.tenant_id, OLD.tenant_id))::text);
	RETURN NULL;
END $$;
--> statement-breakpoint
-- A run that fails, or is being cancelled, has open tasks that no longer wait for anybody.
CREATE FUNCTION "tasks_told_of_run"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM pauses WHERE tenant_id = NEW.tenant_id AND run_id = NEW.id AND signal IS NOT NULL AND answered_at IS NULL)
	THEN PERFORM pg_notify('millrace_live', json_build_object('tasksOf', NEW.tenant_id)::text); END IF;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "pauses_told_open" AFTER INSERT ON "pauses" FOR EACH ROW WHEN (NEW.signal IS NOT NULL) EXECUTE FUNCTION "tasks_told"();
--> statement-breakpoint
CREATE TRIGGER "pauses_told_answered" AFTER UPDATE OF "answered_at" ON "pauses" FOR EACH ROW WHEN (NEW.signal IS NOT NULL AND OLD.answered_at IS DISTINCT FROM NEW.answered_at) EXECUTE FUNCTION "tasks_told"();
--> statement-breakpoint
CREATE TRIGGER "runs_told_tasks" AFTER UPDATE OF "outcome" ON "runs" FOR EACH ROW WHEN (OLD.outcome IS NULL AND NEW.outcome <> 'succeeded') EXECUTE FUNCTION "tasks_told_of_run"();
--> statement-breakpoint
CREATE TRIGGER "pause_votes_told" AFTER INSERT ON "pause_votes" FOR EACH ROW EXECUTE FUNCTION "tasks_told"();
--> statement-breakpoint
CREATE TRIGGER "held_answers_told" AFTER INSERT OR UPDATE OR DELETE ON "held_answers" FOR EACH ROW EXECUTE FUNCTION "tasks_told"();
--> statement-breakpoint
CREATE TRIGGER "task_claims_told" AFTER INSERT OR UPDATE OR DELETE ON "task_claims" FOR EACH ROW EXECUTE FUNCTION "tasks_told"();
--> statement-breakpoint
CREATE TRIGGER "runs_told_cancel" AFTER UPDATE OF "cancel_requested_at" ON "runs" FOR EACH ROW WHEN (OLD.cancel_requested_at IS NULL AND NEW.cancel_requested_at IS NOT NULL) EXECUTE FUNCTION "tasks_told_of_run"();
