-- Messages for webhooks. Triggers write them, so no statement that starts or ends a run, opens a pause or assigns a task can
-- forget them, and a message is committed with its change or not at all. `server/webhooks/deliver.ts` sends them.

-- Writes a message for each enabled endpoint that subscribes to the event, and the outbox event that has it delivered. It locks
-- each endpoint first: if one is being deleted, it waits and then leaves it out. Otherwise the foreign key would fail the
-- statement that changes the run. `server/webhooks/overdue.ts` and `server/runs/remind.ts` call it too.
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
