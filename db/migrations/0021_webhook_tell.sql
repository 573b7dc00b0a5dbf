-- Locks each endpoint before it writes to it. One that is being deleted is waited for and then left out, where the foreign key
-- would fail the statement that changes the run.
CREATE OR REPLACE FUNCTION "webhook_tell"(of_tenant text, of_run text, of_pause text, event text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WITH told AS (
		INSERT INTO webhook_deliveries (tenant_id, id, endpoint_id, type, run_id, pause_id)
		SELECT e.tenant_id, 'msg_' || replace(gen_random_uuid()::text, '-', ''), e.id, event, of_run, of_pause
		FROM webhook_endpoints e
		WHERE e.tenant_id = of_tenant AND e.enabled AND event = ANY (e.events)
		FOR KEY SHARE OF e
		RETURNING tenant_id, id, endpoint_id)
	INSERT INTO outbox (id, tenant_id, name, data)
	SELECT 'evt_' || id, tenant_id, 'webhook/endpoint.due', jsonb_build_object('tenantId', tenant_id, 'endpointId', endpoint_id)
	FROM told;
	IF FOUND THEN PERFORM pg_notify('outbox', ''); END IF;
END $$;
