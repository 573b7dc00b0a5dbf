ALTER TABLE "pauses" ADD COLUMN "overdue_at" timestamp (3) with time zone;--> statement-breakpoint
-- What is late already is no news.
UPDATE "pauses" SET "overdue_at" = now()
WHERE answered_at is null and signal->>'dueAt' < to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "webhook_pause"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM webhook_tell(NEW.tenant_id, NEW.run_id, NEW.id, 'run.paused');
	IF NEW.signal->'assignees' IS NOT NULL THEN
		PERFORM webhook_tell(NEW.tenant_id, NEW.run_id, NEW.id, 'task.assigned');
	END IF;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION "webhook_claim"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'INSERT' OR OLD.person <> NEW.person THEN
		PERFORM webhook_tell(NEW.tenant_id, NEW.run_id, NEW.pause_id, 'task.assigned');
	END IF;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "task_claims_assigned" AFTER INSERT OR UPDATE ON "task_claims" FOR EACH ROW WHEN (NEW.person <> NEW.claimed_by) EXECUTE FUNCTION "webhook_claim"();
