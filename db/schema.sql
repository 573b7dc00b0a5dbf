-- The database as the migrations leave it, to be read. Never edit it; after a new migration, write it with
-- npx vitest run test/db/schema.test.ts -u

CREATE SCHEMA engine;

CREATE SEQUENCE changes AS bigint INCREMENT 1 MINVALUE 1 MAXVALUE 9223372036854775807 START 1 CACHE 1;

CREATE SEQUENCE engine.generation AS bigint INCREMENT 1 MINVALUE 1 MAXVALUE 9223372036854775807 START 1 CACHE 1;

CREATE OR REPLACE FUNCTION public.enqueue_mail(of_tenant text, of_run text, of_pause text, why text, people text[], due text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.enqueue_mail_to(of_tenant text, of_run text, of_pause text, why text, assignees json, due text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.enqueue_webhooks(of_tenant text, of_run text, of_pause text, event text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.notify_tasks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
	PERFORM pg_notify('millrace_live', json_build_object('tasksOf', COALESCE(NEW.tenant_id, OLD.tenant_id))::text);
	RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.notify_tasks_of_run()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
	IF EXISTS (SELECT FROM pauses WHERE tenant_id = NEW.tenant_id AND run_id = NEW.id AND signal IS NOT NULL AND answered_at IS NULL)
	THEN PERFORM pg_notify('millrace_live', json_build_object('tasksOf', NEW.tenant_id)::text); END IF;
	RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.number_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
	SELECT coalesce(max(v.number), 0) + 1 INTO NEW.number FROM "workflow_versions" v
	WHERE v.tenant_id = NEW.tenant_id AND v.workflow_id = NEW.workflow_id;
	RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.pauses_enqueue_mail()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
	PERFORM enqueue_mail_to(NEW.tenant_id, NEW.run_id, NEW.id, 'assigned', NEW.signal->'assignees', NEW.signal->>'dueAt');
	RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.pauses_enqueue_webhooks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
	PERFORM enqueue_webhooks(NEW.tenant_id, NEW.run_id, NEW.id, 'run.paused');
	IF NEW.signal->'assignees' IS NOT NULL THEN
		PERFORM enqueue_webhooks(NEW.tenant_id, NEW.run_id, NEW.id, 'task.assigned');
	END IF;
	RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.runs_enqueue_webhooks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.task_claims_enqueue_mail()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
	IF NOT EXISTS (SELECT FROM installation WHERE mails) THEN RETURN NULL; END IF;
	PERFORM enqueue_mail(NEW.tenant_id, NEW.run_id, NEW.pause_id, 'given', ARRAY[NEW.person], p.signal->>'dueAt')
	FROM pauses p WHERE p.tenant_id = NEW.tenant_id AND p.run_id = NEW.run_id AND p.id = NEW.pause_id;
	RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.task_claims_enqueue_webhooks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
	IF TG_OP = 'INSERT' OR OLD.person <> NEW.person THEN
		PERFORM enqueue_webhooks(NEW.tenant_id, NEW.run_id, NEW.pause_id, 'task.assigned');
	END IF;
	RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.tell_asked_again(of_tenant text, of_run text, of_pause text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.webhook_tell(of_tenant text, of_run text, of_pause text, event text)
 RETURNS void
 LANGUAGE sql
AS $function$
	SELECT enqueue_webhooks(of_tenant, of_run, of_pause, event);
$function$;

CREATE TABLE engine.events (
  scope text NOT NULL,
  id text NOT NULL,
  received_at timestamp with time zone NOT NULL,
  CONSTRAINT events_scope_id_pk PRIMARY KEY (scope, id)
);

CREATE INDEX events_received_at_idx ON engine.events USING btree (received_at);

CREATE TABLE engine.jobs (
  id text NOT NULL,
  run_id text,
  function_id text NOT NULL,
  kind text NOT NULL,
  step_id text,
  due_at timestamp with time zone NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  generation bigint NOT NULL DEFAULT 0,
  deliveries integer NOT NULL DEFAULT 0,
  owner text,
  lane text,
  event text,
  CONSTRAINT jobs_pkey PRIMARY KEY (id),
  CONSTRAINT jobs_kind_check CHECK ((kind = ANY (ARRAY['run'::text, 'step'::text, 'sleep'::text, 'end'::text, 'cron'::text])))
);

CREATE INDEX jobs_due_at_idx ON engine.jobs USING btree (due_at);
CREATE INDEX jobs_free_idx ON engine.jobs USING btree (due_at) WHERE (lane IS NULL);
CREATE INDEX jobs_lane_due_idx ON engine.jobs USING btree (function_id, lane, due_at) WHERE (lane IS NOT NULL);
CREATE INDEX jobs_lane_owner_idx ON engine.jobs USING btree (function_id, lane) WHERE ((lane IS NOT NULL) AND (owner IS NOT NULL));
CREATE INDEX jobs_run_id_idx ON engine.jobs USING btree (run_id);
CREATE INDEX jobs_suspect_idx ON engine.jobs USING btree (due_at) WHERE (deliveries > 0);

CREATE TABLE engine.runs (
  id text NOT NULL,
  function_id text NOT NULL,
  event text NOT NULL,
  status text NOT NULL DEFAULT 'running'::text,
  output text,
  pending integer NOT NULL DEFAULT 0,
  race boolean NOT NULL DEFAULT false,
  lane text,
  parent_run_id text,
  parent_step_id text,
  created_at timestamp with time zone NOT NULL,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  CONSTRAINT runs_pkey PRIMARY KEY (id),
  CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);

CREATE INDEX runs_ended_at_idx ON engine.runs USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE TABLE engine.steps (
  run_id text NOT NULL,
  id text NOT NULL,
  "position" bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  value text NOT NULL,
  CONSTRAINT steps_run_id_id_pk PRIMARY KEY (run_id, id)
);

CREATE TABLE engine.waits (
  run_id text NOT NULL,
  step_id text NOT NULL,
  kind text NOT NULL,
  key text NOT NULL,
  token text NOT NULL DEFAULT ''::text,
  condition text,
  expires_at timestamp with time zone,
  CONSTRAINT waits_run_id_step_id_pk PRIMARY KEY (run_id, step_id),
  CONSTRAINT waits_kind_check CHECK ((kind = ANY (ARRAY['event'::text, 'signal'::text, 'replaced'::text, 'invoke'::text, 'cancel'::text, 'cancelled'::text, 'start'::text, 'finish'::text])))
);

CREATE INDEX waits_expires_at_idx ON engine.waits USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX waits_key_token_idx ON engine.waits USING btree (key, token);
CREATE UNIQUE INDEX waits_signal_idx ON engine.waits USING btree (key) WHERE (kind = 'signal'::text);

CREATE TABLE engine.workers (
  boot_id text NOT NULL,
  host_id text NOT NULL,
  pid integer NOT NULL,
  started_at timestamp with time zone NOT NULL,
  last_seen timestamp with time zone NOT NULL,
  release integer NOT NULL DEFAULT 0,
  CONSTRAINT workers_pkey PRIMARY KEY (boot_id)
);

CREATE TABLE tenants (
  id text NOT NULL,
  name text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  slug text NOT NULL,
  keep_runs_days integer,
  keep_audit_days integer NOT NULL DEFAULT 400,
  agent_limits jsonb,
  CONSTRAINT tenants_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX tenants_slug ON public.tenants USING btree (slug);

CREATE TABLE workflow_versions (
  tenant_id text NOT NULL,
  workflow_id text NOT NULL,
  version integer NOT NULL,
  name text NOT NULL,
  definition json NOT NULL,
  created_by text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  burst_since timestamp(3) with time zone,
  published_at timestamp(3) with time zone,
  language integer,
  pins jsonb,
  note text,
  number integer,
  CONSTRAINT workflow_versions_tenant_id_workflow_id_version_pk PRIMARY KEY (tenant_id, workflow_id, version),
  CONSTRAINT workflow_versions_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TRIGGER workflow_versions_published BEFORE INSERT OR UPDATE OF published_at ON public.workflow_versions FOR EACH ROW WHEN (((new.published_at IS NOT NULL) AND (new.number IS NULL))) EXECUTE FUNCTION number_version();

CREATE TABLE runs (
  tenant_id text NOT NULL,
  id text NOT NULL,
  workflow_id text NOT NULL,
  workflow_version integer NOT NULL,
  workflow_name text NOT NULL,
  status text NOT NULL,
  outcome text,
  epoch integer NOT NULL DEFAULT 1,
  input jsonb NOT NULL,
  data jsonb NOT NULL,
  result jsonb,
  error jsonb,
  current_step_id text,
  context jsonb,
  started_by text NOT NULL,
  cancellation jsonb,
  cancel_requested_at timestamp(3) with time zone,
  cleanup_started_at timestamp(3) with time zone,
  retry_of text,
  start_time timestamp(3) with time zone NOT NULL,
  end_time timestamp(3) with time zone,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  change bigint NOT NULL DEFAULT nextval('changes'::regclass),
  started_via text NOT NULL DEFAULT 'apiKey'::text,
  business_key text,
  timeout_at timestamp(3) with time zone,
  written_at timestamp with time zone DEFAULT clock_timestamp(),
  parent_run_id text,
  depth integer NOT NULL DEFAULT 0,
  failing jsonb,
  edits jsonb,
  data_refs jsonb,
  traceparent text,
  part jsonb,
  CONSTRAINT runs_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT runs_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  CONSTRAINT runs_version_fk FOREIGN KEY (tenant_id, workflow_id, workflow_version) REFERENCES workflow_versions(tenant_id, workflow_id, version)
) WITH (fillfactor=80);

CREATE INDEX runs_again ON public.runs USING btree (tenant_id, retry_of) WHERE (retry_of IS NOT NULL);
CREATE INDEX runs_by_end ON public.runs USING btree (tenant_id, end_time) WHERE (end_time IS NOT NULL);
CREATE INDEX runs_by_key ON public.runs USING btree (tenant_id, lower(business_key) text_pattern_ops, start_time DESC) WHERE (business_key IS NOT NULL);
CREATE INDEX runs_by_status ON public.runs USING btree (tenant_id, status, outcome, start_time, id) WHERE ((outcome IS NULL) OR (outcome <> 'succeeded'::text));
CREATE INDEX runs_by_time ON public.runs USING btree (tenant_id, start_time, id, workflow_id, status, outcome, started_via) WITH (fillfactor='75');
CREATE INDEX runs_by_timeout ON public.runs USING btree (timeout_at) WHERE ((timeout_at IS NOT NULL) AND (end_time IS NULL));
CREATE INDEX runs_cancelling ON public.runs USING btree (cancel_requested_at) WHERE ((cancel_requested_at IS NOT NULL) AND (end_time IS NULL));
CREATE INDEX runs_failed_by_workflow ON public.runs USING btree (tenant_id, workflow_id, start_time, id) WHERE (status = 'failed'::text);
CREATE INDEX runs_of_subject ON public.runs USING btree (tenant_id, started_by, id) WHERE (started_via = ANY (ARRAY['jwt'::text, 'test'::text]));
CREATE INDEX runs_of_workflow ON public.runs USING btree (tenant_id, workflow_id, workflow_version, start_time);
CREATE TRIGGER runs_enqueue_webhooks_ended AFTER UPDATE OF outcome ON public.runs FOR EACH ROW WHEN (((old.outcome IS NULL) AND (new.outcome IS NOT NULL))) EXECUTE FUNCTION runs_enqueue_webhooks();
CREATE TRIGGER runs_enqueue_webhooks_started AFTER INSERT ON public.runs FOR EACH ROW EXECUTE FUNCTION runs_enqueue_webhooks();
CREATE TRIGGER runs_notify_cancelled AFTER UPDATE OF cancel_requested_at ON public.runs FOR EACH ROW WHEN (((old.cancel_requested_at IS NULL) AND (new.cancel_requested_at IS NOT NULL))) EXECUTE FUNCTION notify_tasks_of_run();
CREATE TRIGGER runs_notify_ended AFTER UPDATE OF outcome ON public.runs FOR EACH ROW WHEN (((old.outcome IS NULL) AND (new.outcome <> 'succeeded'::text))) EXECUTE FUNCTION notify_tasks_of_run();

CREATE TABLE agents (
  tenant_id text NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  status text NOT NULL,
  version integer NOT NULL,
  published_version integer,
  published_at timestamp(3) with time zone,
  archived_at timestamp(3) with time zone,
  created_by text NOT NULL,
  updated_by text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT agents_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT agents_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE INDEX agents_updated ON public.agents USING btree (tenant_id, updated_at DESC NULLS LAST, id);

CREATE TABLE threads (
  tenant_id text NOT NULL,
  id text NOT NULL,
  agent_id text NOT NULL,
  subject text,
  tickets integer NOT NULL DEFAULT 0,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  drawn_at timestamp(3) with time zone,
  CONSTRAINT threads_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT threads_agent_fk FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX threads_by_agent ON public.threads USING btree (tenant_id, agent_id, updated_at DESC NULLS LAST);
CREATE INDEX threads_of_subject ON public.threads USING btree (tenant_id, subject) WHERE (subject IS NOT NULL);

CREATE TABLE agent_turns (
  tenant_id text NOT NULL,
  id text NOT NULL,
  run_id text,
  branch text,
  step_id text,
  visit integer,
  agent_id text NOT NULL,
  version integer NOT NULL,
  tools jsonb,
  thread_id text,
  history_to integer NOT NULL,
  state text NOT NULL,
  error_code text,
  usage jsonb NOT NULL,
  cost double precision,
  started_at timestamp(3) with time zone NOT NULL,
  ended_at timestamp(3) with time zone,
  attempt integer NOT NULL DEFAULT 0,
  key text,
  owner text,
  leased_until timestamp(3) with time zone,
  request json,
  answer json,
  subject text,
  ticket integer,
  root_id text,
  CONSTRAINT agent_turns_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT agent_turns_root_fk FOREIGN KEY (tenant_id, root_id) REFERENCES agent_turns(tenant_id, id) ON DELETE CASCADE,
  CONSTRAINT agent_turns_run_fk FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE,
  CONSTRAINT agent_turns_thread_fk FOREIGN KEY (tenant_id, thread_id) REFERENCES threads(tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX agent_turns_held ON public.agent_turns USING btree (leased_until) WHERE (leased_until IS NOT NULL);
CREATE UNIQUE INDEX agent_turns_key ON public.agent_turns USING btree (tenant_id, key) WHERE (key IS NOT NULL);
CREATE INDEX agent_turns_of_agent ON public.agent_turns USING btree (tenant_id, agent_id, started_at, id);
CREATE INDEX agent_turns_of_root ON public.agent_turns USING btree (tenant_id, root_id) WHERE (root_id IS NOT NULL);
CREATE INDEX agent_turns_of_subject ON public.agent_turns USING btree (tenant_id, subject) WHERE (subject IS NOT NULL);
CREATE INDEX agent_turns_of_thread ON public.agent_turns USING btree (tenant_id, thread_id) WHERE (thread_id IS NOT NULL);
CREATE INDEX agent_turns_outside ON public.agent_turns USING btree (started_at) WHERE (run_id IS NULL);
CREATE INDEX agent_turns_unanswered ON public.agent_turns USING btree (tenant_id, thread_id) WHERE ((request IS NOT NULL) AND (run_id IS NOT NULL) AND (answer IS NULL) AND (thread_id IS NOT NULL));
CREATE UNIQUE INDEX agent_turns_visit ON public.agent_turns USING btree (tenant_id, run_id, branch, step_id, visit);
CREATE INDEX agent_turns_waiting ON public.agent_turns USING btree (tenant_id, thread_id) WHERE (state = 'waiting'::text);

CREATE TABLE agent_calls (
  tenant_id text NOT NULL,
  turn_id text NOT NULL,
  seq integer NOT NULL,
  kind text NOT NULL,
  name text NOT NULL,
  output json NOT NULL,
  usage jsonb,
  cost double precision,
  error_code text,
  started_at timestamp(3) with time zone NOT NULL,
  ended_at timestamp(3) with time zone NOT NULL,
  key_base text,
  change bigint NOT NULL DEFAULT nextval('changes'::regclass),
  provider text,
  fallback integer,
  tried jsonb,
  policy json,
  decision json,
  CONSTRAINT agent_calls_tenant_id_turn_id_seq_pk PRIMARY KEY (tenant_id, turn_id, seq),
  CONSTRAINT agent_calls_turn_fk FOREIGN KEY (tenant_id, turn_id) REFERENCES agent_turns(tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE agent_days (
  tenant_id text NOT NULL,
  day date NOT NULL,
  workflow_id text NOT NULL,
  agent_id text NOT NULL,
  answers integer NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  priced integer NOT NULL,
  cost double precision NOT NULL,
  CONSTRAINT agent_days_tenant_id_day_workflow_id_agent_id_pk PRIMARY KEY (tenant_id, day, workflow_id, agent_id),
  CONSTRAINT agent_days_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE agent_versions (
  tenant_id text NOT NULL,
  agent_id text NOT NULL,
  version integer NOT NULL,
  name text NOT NULL,
  config json NOT NULL,
  created_by text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  published_at timestamp(3) with time zone,
  note text,
  CONSTRAINT agent_versions_tenant_id_agent_id_version_pk PRIMARY KEY (tenant_id, agent_id, version),
  CONSTRAINT agent_versions_agent_fk FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE api_keys (
  tenant_id text NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  role text NOT NULL,
  hash text NOT NULL,
  hint text NOT NULL,
  created_by text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  last_used_at timestamp(3) with time zone,
  disabled_at timestamp(3) with time zone,
  rotated_from text,
  grace_until timestamp(3) with time zone,
  "only" text,
  CONSTRAINT api_keys_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT api_keys_rotated_from_fk FOREIGN KEY (tenant_id, rotated_from) REFERENCES api_keys(tenant_id, id),
  CONSTRAINT api_keys_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX api_keys_hash ON public.api_keys USING btree (hash);
CREATE INDEX api_keys_rotated_from ON public.api_keys USING btree (tenant_id, rotated_from);

CREATE TABLE applied_definitions (
  tenant_id text NOT NULL,
  kind text NOT NULL,
  id text NOT NULL,
  version integer NOT NULL,
  archived boolean NOT NULL DEFAULT false,
  applied_by text NOT NULL,
  applied_at timestamp(3) with time zone NOT NULL,
  fingerprint text,
  CONSTRAINT applied_definitions_tenant_id_kind_id_pk PRIMARY KEY (tenant_id, kind, id),
  CONSTRAINT applied_definitions_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE audit_entries (
  tenant_id text NOT NULL,
  id text NOT NULL,
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at timestamp(3) with time zone NOT NULL DEFAULT now(),
  actor_kind text NOT NULL,
  actor_id text NOT NULL,
  actor_name text NOT NULL,
  action text NOT NULL,
  thing_kind text NOT NULL,
  thing_id text NOT NULL,
  thing_name text NOT NULL,
  details jsonb NOT NULL,
  request_id text NOT NULL,
  address text,
  CONSTRAINT audit_entries_tenant_id_id_pk PRIMARY KEY (tenant_id, id)
);

CREATE INDEX audit_entries_action ON public.audit_entries USING btree (tenant_id, action, at, seq);
CREATE INDEX audit_entries_actor ON public.audit_entries USING btree (tenant_id, actor_id, at, seq);
CREATE INDEX audit_entries_list ON public.audit_entries USING btree (tenant_id, at, seq);
CREATE INDEX audit_entries_thing ON public.audit_entries USING btree (tenant_id, thing_id, at, seq);

CREATE TABLE chat_events (
  tenant_id text NOT NULL,
  thread_id text NOT NULL,
  ticket integer NOT NULL,
  seq bigint NOT NULL,
  event text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT chat_events_tenant_id_thread_id_ticket_seq_pk PRIMARY KEY (tenant_id, thread_id, ticket, seq),
  CONSTRAINT chat_events_thread_fk FOREIGN KEY (tenant_id, thread_id) REFERENCES threads(tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX chat_events_age ON public.chat_events USING btree (created_at);

CREATE TABLE cors_origins (
  tenant_id text NOT NULL,
  origin text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT cors_origins_tenant_id_origin_pk PRIMARY KEY (tenant_id, origin),
  CONSTRAINT cors_origins_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE INDEX cors_origins_origin ON public.cors_origins USING btree (origin);

CREATE TABLE counted_days (
  tenant_id text NOT NULL,
  day date NOT NULL,
  counted_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  parts smallint NOT NULL DEFAULT 1,
  CONSTRAINT counted_days_tenant_id_day_pk PRIMARY KEY (tenant_id, day),
  CONSTRAINT counted_days_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE drafts (
  tenant_id text NOT NULL,
  noun text NOT NULL,
  id text NOT NULL,
  revision integer NOT NULL,
  base_version integer NOT NULL,
  content json,
  updated_by text NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT drafts_tenant_id_noun_id_pk PRIMARY KEY (tenant_id, noun, id),
  CONSTRAINT drafts_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE events (
  tenant_id text NOT NULL,
  id text NOT NULL,
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  name text NOT NULL,
  key text,
  data jsonb NOT NULL,
  posted_by text NOT NULL,
  received_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  offered_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  delivered_at timestamp(3) with time zone,
  CONSTRAINT events_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT events_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE INDEX events_by_age ON public.events USING btree (received_at);
CREATE INDEX events_by_key ON public.events USING btree (tenant_id, name, key, seq) WHERE (key IS NOT NULL);
CREATE INDEX events_by_name ON public.events USING btree (tenant_id, name, seq);
CREATE INDEX events_undelivered ON public.events USING btree (offered_at) WHERE (delivered_at IS NULL);

CREATE TABLE files (
  tenant_id text NOT NULL,
  id uuid NOT NULL,
  run_id text,
  name text NOT NULL,
  declared_type text NOT NULL,
  sniffed_type text NOT NULL,
  size integer NOT NULL,
  sha256 text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  claimed_at timestamp(3) with time zone,
  condemned_at timestamp(3) with time zone,
  uploaded_by text,
  thread_id text,
  CONSTRAINT files_tenant_id_id_pk PRIMARY KEY (tenant_id, id)
);

CREATE INDEX files_by_run ON public.files USING btree (tenant_id, run_id);
CREATE INDEX files_by_thread ON public.files USING btree (tenant_id, thread_id) WHERE (thread_id IS NOT NULL);
CREATE INDEX files_condemned ON public.files USING btree (condemned_at) WHERE (condemned_at IS NOT NULL);
CREATE INDEX files_unclaimed ON public.files USING btree (created_at) WHERE (claimed_at IS NULL);

CREATE TABLE groups (
  tenant_id text NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  key text NOT NULL,
  earlier_keys text[] NOT NULL DEFAULT '{}'::text[],
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT groups_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT groups_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX groups_key ON public.groups USING btree (tenant_id, key);
CREATE TRIGGER groups_notify AFTER UPDATE OF key ON public.groups FOR EACH ROW EXECUTE FUNCTION notify_tasks();

CREATE TABLE users (
  id text NOT NULL,
  email text NOT NULL,
  name text NOT NULL,
  password_hash text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  address_proven_at timestamp(3) with time zone,
  CONSTRAINT users_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX users_email ON public.users USING btree (email);

CREATE TABLE members (
  tenant_id text NOT NULL,
  user_id text NOT NULL,
  role text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  task_mails boolean NOT NULL DEFAULT true,
  run_views jsonb NOT NULL DEFAULT '[]'::jsonb,
  CONSTRAINT members_tenant_id_user_id_pk PRIMARY KEY (tenant_id, user_id),
  CONSTRAINT members_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  CONSTRAINT members_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE INDEX members_user ON public.members USING btree (user_id);

CREATE TABLE group_members (
  tenant_id text NOT NULL,
  group_id text NOT NULL,
  user_id text NOT NULL,
  CONSTRAINT group_members_tenant_id_group_id_user_id_pk PRIMARY KEY (tenant_id, group_id, user_id),
  CONSTRAINT group_members_group_fk FOREIGN KEY (tenant_id, group_id) REFERENCES groups(tenant_id, id) ON DELETE CASCADE,
  CONSTRAINT group_members_member_fk FOREIGN KEY (tenant_id, user_id) REFERENCES members(tenant_id, user_id) ON DELETE CASCADE
);

CREATE INDEX group_members_user ON public.group_members USING btree (tenant_id, user_id);
CREATE TRIGGER group_members_notify AFTER INSERT OR DELETE ON public.group_members FOR EACH ROW EXECUTE FUNCTION notify_tasks();

CREATE TABLE pauses (
  tenant_id text NOT NULL,
  id text NOT NULL,
  run_id text NOT NULL,
  branch text NOT NULL,
  step_id text NOT NULL,
  visit integer NOT NULL,
  kind text NOT NULL,
  signal json,
  due_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  answered_at timestamp(3) with time zone,
  answer jsonb,
  answered_by text,
  consumed_at timestamp(3) with time zone,
  event_name text,
  event_key text,
  event_rules jsonb,
  looked boolean,
  event_id text,
  answered_via text,
  child_run_id text,
  child_state text,
  overdue_at timestamp(3) with time zone,
  remind_at timestamp(3) with time zone,
  CONSTRAINT pauses_tenant_id_run_id_id_pk PRIMARY KEY (tenant_id, run_id, id),
  CONSTRAINT pauses_run_fk FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX pauses_by_answer ON public.pauses USING btree (tenant_id, answered_at, run_id, id) WHERE ((answer IS NOT NULL) AND (signal IS NOT NULL));
CREATE INDEX pauses_due ON public.pauses USING btree (due_at) WHERE ((due_at IS NOT NULL) AND (answered_at IS NULL));
CREATE INDEX pauses_due_of_agents ON public.pauses USING btree (due_at) WHERE ((due_at IS NOT NULL) AND (answered_at IS NULL) AND (id ~ '~[0-9.]+$'::text));
CREATE UNIQUE INDEX pauses_event_once ON public.pauses USING btree (tenant_id, run_id, step_id, event_id) WHERE (event_id IS NOT NULL);
CREATE INDEX pauses_for_child ON public.pauses USING btree (created_at) WHERE (child_state = ANY (ARRAY['due'::text, 'started'::text]));
CREATE INDEX pauses_for_event ON public.pauses USING btree (tenant_id, event_name, event_key, created_at, run_id, id) WHERE ((event_name IS NOT NULL) AND (answered_at IS NULL));
CREATE UNIQUE INDEX pauses_of_child ON public.pauses USING btree (tenant_id, child_run_id) WHERE (child_run_id IS NOT NULL);
CREATE INDEX pauses_overdue ON public.pauses USING btree (((signal ->> 'dueAt'::text))) WHERE ((answered_at IS NULL) AND (overdue_at IS NULL) AND ((signal ->> 'dueAt'::text) IS NOT NULL));
CREATE INDEX pauses_to_remind ON public.pauses USING btree (remind_at) WHERE ((remind_at IS NOT NULL) AND (answered_at IS NULL));
CREATE INDEX pauses_unconsumed ON public.pauses USING btree (answered_at) WHERE ((answered_at IS NOT NULL) AND (consumed_at IS NULL));
CREATE INDEX pauses_unlooked ON public.pauses USING btree (created_at) WHERE ((looked = false) AND (answered_at IS NULL));
CREATE INDEX pauses_waiting ON public.pauses USING btree (tenant_id, created_at, run_id, id) WHERE ((answered_at IS NULL) AND (signal IS NOT NULL));
CREATE TRIGGER pauses_enqueue_mail AFTER INSERT ON public.pauses FOR EACH ROW WHEN (((new.signal -> 'assignees'::text) IS NOT NULL)) EXECUTE FUNCTION pauses_enqueue_mail();
CREATE TRIGGER pauses_enqueue_webhooks AFTER INSERT ON public.pauses FOR EACH ROW WHEN ((new.signal IS NOT NULL)) EXECUTE FUNCTION pauses_enqueue_webhooks();
CREATE TRIGGER pauses_notify_answered AFTER UPDATE OF answered_at ON public.pauses FOR EACH ROW WHEN (((new.signal IS NOT NULL) AND (old.answered_at IS DISTINCT FROM new.answered_at))) EXECUTE FUNCTION notify_tasks();
CREATE TRIGGER pauses_notify_opened AFTER INSERT ON public.pauses FOR EACH ROW WHEN ((new.signal IS NOT NULL)) EXECUTE FUNCTION notify_tasks();
CREATE TRIGGER pauses_notify_reminded AFTER UPDATE OF remind_at ON public.pauses FOR EACH ROW EXECUTE FUNCTION notify_tasks();

CREATE TABLE held_answers (
  tenant_id text NOT NULL,
  run_id text NOT NULL,
  pause_id text NOT NULL,
  person text NOT NULL,
  answer jsonb NOT NULL,
  held_at timestamp(3) with time zone NOT NULL,
  until timestamp(3) with time zone NOT NULL,
  refused jsonb,
  CONSTRAINT held_answers_tenant_id_run_id_pause_id_person_pk PRIMARY KEY (tenant_id, run_id, pause_id, person),
  CONSTRAINT held_answers_pause_fk FOREIGN KEY (tenant_id, run_id, pause_id) REFERENCES pauses(tenant_id, run_id, id) ON DELETE CASCADE
);

CREATE INDEX held_answers_due ON public.held_answers USING btree (until) WHERE (refused IS NULL);
CREATE INDEX held_answers_refused ON public.held_answers USING btree (tenant_id, person) WHERE (refused IS NOT NULL);
CREATE TRIGGER held_answers_notify AFTER INSERT OR DELETE OR UPDATE ON public.held_answers FOR EACH ROW EXECUTE FUNCTION notify_tasks();

CREATE TABLE idempotency_keys (
  tenant_id text NOT NULL,
  scope text NOT NULL,
  key text NOT NULL,
  request_hash text NOT NULL,
  state text NOT NULL,
  owner text NOT NULL,
  leased_until timestamp(3) with time zone NOT NULL,
  effects jsonb NOT NULL,
  status integer,
  headers jsonb,
  body text,
  created_at timestamp(3) with time zone NOT NULL,
  subject text,
  CONSTRAINT idempotency_keys_tenant_id_scope_key_pk PRIMARY KEY (tenant_id, scope, key),
  CONSTRAINT idempotency_keys_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);
CREATE INDEX idempotency_keys_of_subject ON public.idempotency_keys USING btree (tenant_id, subject) WHERE (subject IS NOT NULL);

CREATE TABLE workflows (
  tenant_id text NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  status text NOT NULL,
  version integer NOT NULL,
  published_version integer,
  published_at timestamp(3) with time zone,
  archived_at timestamp(3) with time zone,
  created_by text NOT NULL,
  updated_by text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  layout jsonb NOT NULL DEFAULT '{}'::jsonb,
  CONSTRAINT workflows_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT workflows_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE INDEX workflows_updated ON public.workflows USING btree (tenant_id, updated_at DESC NULLS LAST, id);

CREATE TABLE inbound_webhooks (
  tenant_id text NOT NULL,
  id text NOT NULL,
  workflow_id text NOT NULL,
  token text NOT NULL,
  name text NOT NULL,
  scheme text NOT NULL,
  signature_header text,
  encoding text,
  id_header text,
  secrets jsonb NOT NULL,
  mapping jsonb NOT NULL,
  "when" text,
  enabled boolean NOT NULL DEFAULT true,
  refused_at timestamp(3) with time zone,
  refusal text,
  created_by text NOT NULL,
  updated_by text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT inbound_webhooks_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT inbound_webhooks_workflow_fk FOREIGN KEY (tenant_id, workflow_id) REFERENCES workflows(tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX inbound_webhooks_by_workflow ON public.inbound_webhooks USING btree (tenant_id, workflow_id);
CREATE UNIQUE INDEX inbound_webhooks_token ON public.inbound_webhooks USING btree (token);

CREATE TABLE inbound_deliveries (
  tenant_id text NOT NULL,
  id text NOT NULL,
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  webhook_id text NOT NULL,
  key text,
  status text NOT NULL,
  run_id text,
  error text,
  content_type text NOT NULL,
  headers jsonb NOT NULL,
  query jsonb NOT NULL,
  body text,
  replay_of text,
  created_by text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT inbound_deliveries_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT inbound_deliveries_webhook_fk FOREIGN KEY (tenant_id, webhook_id) REFERENCES inbound_webhooks(tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX inbound_deliveries_created ON public.inbound_deliveries USING btree (created_at);
CREATE UNIQUE INDEX inbound_deliveries_key ON public.inbound_deliveries USING btree (tenant_id, webhook_id, key) WHERE (key IS NOT NULL);
CREATE INDEX inbound_deliveries_list ON public.inbound_deliveries USING btree (tenant_id, webhook_id, seq DESC NULLS LAST);
CREATE INDEX inbound_deliveries_run ON public.inbound_deliveries USING btree (tenant_id, run_id) WHERE (run_id IS NOT NULL);

CREATE TABLE installation (
  id boolean NOT NULL DEFAULT true,
  deployment text,
  key_check text,
  file_store text,
  registration jsonb,
  called_at timestamp(3) with time zone,
  mails boolean NOT NULL DEFAULT false,
  CONSTRAINT installation_pkey PRIMARY KEY (id)
);

CREATE TABLE invitations (
  tenant_id text NOT NULL,
  id text NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  token_hash text NOT NULL,
  created_by text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  accepted_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  CONSTRAINT invitations_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT invitations_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE INDEX invitations_email ON public.invitations USING btree (email);
CREATE UNIQUE INDEX invitations_token ON public.invitations USING btree (token_hash);

CREATE TABLE messages (
  tenant_id text NOT NULL,
  thread_id text NOT NULL,
  seq integer NOT NULL,
  role text NOT NULL,
  content jsonb NOT NULL,
  metadata jsonb,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  run_id text,
  CONSTRAINT messages_tenant_id_thread_id_seq_pk PRIMARY KEY (tenant_id, thread_id, seq),
  CONSTRAINT messages_thread_fk FOREIGN KEY (tenant_id, thread_id) REFERENCES threads(tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE outbox (
  id text NOT NULL,
  tenant_id text NOT NULL,
  name text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  leased_until timestamp(3) with time zone,
  CONSTRAINT outbox_pkey PRIMARY KEY (id),
  CONSTRAINT outbox_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE INDEX outbox_order ON public.outbox USING btree (created_at, id);
CREATE INDEX outbox_tenant ON public.outbox USING btree (tenant_id);

CREATE TABLE pause_votes (
  tenant_id text NOT NULL,
  run_id text NOT NULL,
  pause_id text NOT NULL,
  person text NOT NULL,
  name text NOT NULL,
  action_id text NOT NULL,
  action_value text NOT NULL,
  via text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  data jsonb,
  remark text,
  CONSTRAINT pause_votes_tenant_id_run_id_pause_id_person_pk PRIMARY KEY (tenant_id, run_id, pause_id, person),
  CONSTRAINT pause_votes_pause_fk FOREIGN KEY (tenant_id, run_id, pause_id) REFERENCES pauses(tenant_id, run_id, id) ON DELETE CASCADE
);

CREATE TRIGGER pause_votes_notify AFTER INSERT ON public.pause_votes FOR EACH ROW EXECUTE FUNCTION notify_tasks();

CREATE TABLE rate_buckets (
  id text NOT NULL,
  full_at double precision NOT NULL,
  CONSTRAINT rate_buckets_pkey PRIMARY KEY (id)
);

CREATE TABLE run_comments (
  tenant_id text NOT NULL,
  id text NOT NULL,
  run_id text NOT NULL,
  author text NOT NULL,
  text text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  pause_id text,
  CONSTRAINT run_comments_tenant_id_run_id_id_pk PRIMARY KEY (tenant_id, run_id, id),
  CONSTRAINT run_comments_run_fk FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE run_days (
  tenant_id text NOT NULL,
  day date NOT NULL,
  workflow_id text NOT NULL,
  outcome text NOT NULL,
  bucket smallint NOT NULL,
  runs integer NOT NULL,
  longest double precision,
  CONSTRAINT run_days_tenant_id_day_workflow_id_outcome_bucket_pk PRIMARY KEY (tenant_id, day, workflow_id, outcome, bucket),
  CONSTRAINT run_days_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE run_moves (
  tenant_id text NOT NULL,
  run_id text NOT NULL,
  n integer NOT NULL,
  workflow_id text NOT NULL,
  from_version integer NOT NULL,
  to_version integer NOT NULL,
  after_seq bigint NOT NULL,
  asked json,
  batch text NOT NULL,
  moved_by text NOT NULL,
  reason text,
  moved_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT run_moves_tenant_id_run_id_n_pk PRIMARY KEY (tenant_id, run_id, n),
  CONSTRAINT run_moves_from_fk FOREIGN KEY (tenant_id, workflow_id, from_version) REFERENCES workflow_versions(tenant_id, workflow_id, version),
  CONSTRAINT run_moves_run_fk FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE,
  CONSTRAINT run_moves_to_fk FOREIGN KEY (tenant_id, workflow_id, to_version) REFERENCES workflow_versions(tenant_id, workflow_id, version)
);

CREATE INDEX run_moves_batch ON public.run_moves USING btree (tenant_id, batch);
CREATE INDEX run_moves_from ON public.run_moves USING btree (tenant_id, workflow_id, from_version);

CREATE TABLE schedules (
  tenant_id text NOT NULL,
  id text NOT NULL,
  workflow_id text NOT NULL,
  name text NOT NULL,
  cron text NOT NULL,
  time_zone text NOT NULL,
  catch_up text NOT NULL,
  data jsonb NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  next_at timestamp(3) with time zone,
  created_by text NOT NULL,
  updated_by text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT schedules_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT schedules_workflow_fk FOREIGN KEY (tenant_id, workflow_id) REFERENCES workflows(tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX schedules_by_workflow ON public.schedules USING btree (tenant_id, workflow_id);
CREATE INDEX schedules_due ON public.schedules USING btree (next_at) WHERE (next_at IS NOT NULL);

CREATE TABLE schedule_ticks (
  tenant_id text NOT NULL,
  schedule_id text NOT NULL,
  at timestamp(3) with time zone NOT NULL,
  status text NOT NULL,
  run_id text,
  error text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT schedule_ticks_tenant_id_schedule_id_at_pk PRIMARY KEY (tenant_id, schedule_id, at),
  CONSTRAINT schedule_ticks_schedule_fk FOREIGN KEY (tenant_id, schedule_id) REFERENCES schedules(tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX schedule_ticks_at ON public.schedule_ticks USING btree (at);

CREATE TABLE scopes (
  tenant_id text NOT NULL,
  run_id text NOT NULL,
  id text NOT NULL,
  total integer NOT NULL,
  next integer NOT NULL,
  succeeded integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  need integer,
  stop_on_error boolean NOT NULL,
  state text NOT NULL,
  cause jsonb,
  CONSTRAINT scopes_tenant_id_run_id_id_pk PRIMARY KEY (tenant_id, run_id, id),
  CONSTRAINT scopes_run_fk FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE sessions (
  id text NOT NULL,
  user_id text NOT NULL,
  agent text,
  created_at timestamp(3) with time zone NOT NULL,
  last_seen_at timestamp(3) with time zone NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  revoked_at timestamp(3) with time zone,
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE INDEX sessions_expiry ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_user ON public.sessions USING btree (user_id);

CREATE TABLE signing_secrets (
  tenant_id text NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  role text NOT NULL,
  sealed text NOT NULL,
  created_by text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  disabled_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  long_lived_at timestamp(3) with time zone,
  workflow_ids text[],
  agent_ids text[],
  own_runs boolean NOT NULL DEFAULT false,
  rotated_from text,
  grace_until timestamp(3) with time zone,
  CONSTRAINT signing_secrets_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT signing_secrets_rotated_from_fk FOREIGN KEY (tenant_id, rotated_from) REFERENCES signing_secrets(tenant_id, id),
  CONSTRAINT signing_secrets_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX signing_secrets_id ON public.signing_secrets USING btree (id);
CREATE INDEX signing_secrets_rotated_from ON public.signing_secrets USING btree (tenant_id, rotated_from);

CREATE TABLE start_links (
  tenant_id text NOT NULL,
  id text NOT NULL,
  workflow_id text NOT NULL,
  label text,
  maker_kind text NOT NULL,
  maker_id text NOT NULL,
  secret_id text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone NOT NULL,
  revoked_at timestamp(3) with time zone,
  deleted_forms integer NOT NULL DEFAULT 0,
  forms_deleted_at timestamp(3) with time zone,
  CONSTRAINT start_links_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT start_links_workflow_fk FOREIGN KEY (tenant_id, workflow_id) REFERENCES workflows(tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX start_links_by_end ON public.start_links USING btree (LEAST(expires_at, revoked_at)) WHERE (forms_deleted_at IS NULL);
CREATE INDEX start_links_of_workflow ON public.start_links USING btree (tenant_id, workflow_id);

CREATE TABLE start_link_forms (
  tenant_id text NOT NULL,
  link_id text NOT NULL,
  form_id text NOT NULL,
  run_id text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT start_link_forms_tenant_id_link_id_form_id_pk PRIMARY KEY (tenant_id, link_id, form_id),
  CONSTRAINT start_link_forms_link_fk FOREIGN KEY (tenant_id, link_id) REFERENCES start_links(tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE step_records (
  tenant_id text NOT NULL,
  run_id text NOT NULL,
  branch text NOT NULL,
  step_id text NOT NULL,
  visit integer NOT NULL,
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  step_type text NOT NULL,
  step_name text NOT NULL,
  status text NOT NULL,
  attempt integer NOT NULL DEFAULT 1,
  attempts jsonb NOT NULL DEFAULT '[]'::jsonb,
  start_time timestamp(3) with time zone NOT NULL,
  end_time timestamp(3) with time zone,
  config json,
  input_data jsonb,
  output_data jsonb,
  delta jsonb,
  usage jsonb,
  error text,
  error_code text,
  receipt jsonb,
  change bigint NOT NULL DEFAULT nextval('changes'::regclass),
  input_bytes integer,
  output_bytes integer,
  handled boolean,
  exit text,
  reminders jsonb,
  CONSTRAINT step_records_tenant_id_run_id_branch_step_id_visit_pk PRIMARY KEY (tenant_id, run_id, branch, step_id, visit),
  CONSTRAINT step_records_run_fk FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor=85);

CREATE INDEX step_records_history ON public.step_records USING btree (tenant_id, run_id, seq);
CREATE INDEX step_records_of_agents ON public.step_records USING btree (tenant_id, start_time) WHERE (usage IS NOT NULL);

CREATE TABLE sweeps (
  name text NOT NULL,
  succeeded_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT sweeps_pkey PRIMARY KEY (name)
);

CREATE TABLE task_claims (
  tenant_id text NOT NULL,
  run_id text NOT NULL,
  pause_id text NOT NULL,
  person text NOT NULL,
  claimed_by text NOT NULL,
  claimed_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT task_claims_tenant_id_run_id_pause_id_pk PRIMARY KEY (tenant_id, run_id, pause_id),
  CONSTRAINT task_claims_pause_fk FOREIGN KEY (tenant_id, run_id, pause_id) REFERENCES pauses(tenant_id, run_id, id) ON DELETE CASCADE
);

CREATE TRIGGER task_claims_enqueue_mail AFTER INSERT OR UPDATE ON public.task_claims FOR EACH ROW WHEN ((new.person <> new.claimed_by)) EXECUTE FUNCTION task_claims_enqueue_mail();
CREATE TRIGGER task_claims_enqueue_webhooks AFTER INSERT OR UPDATE ON public.task_claims FOR EACH ROW WHEN ((new.person <> new.claimed_by)) EXECUTE FUNCTION task_claims_enqueue_webhooks();
CREATE TRIGGER task_claims_notify AFTER INSERT OR DELETE OR UPDATE ON public.task_claims FOR EACH ROW EXECUTE FUNCTION notify_tasks();

CREATE TABLE task_links (
  tenant_id text NOT NULL,
  id text NOT NULL,
  run_id text NOT NULL,
  pause_id text NOT NULL,
  maker_kind text NOT NULL,
  maker_id text NOT NULL,
  secret_id text,
  answers_for text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone NOT NULL,
  used_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  CONSTRAINT task_links_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT task_links_pause_fk FOREIGN KEY (tenant_id, run_id, pause_id) REFERENCES pauses(tenant_id, run_id, id) ON DELETE CASCADE
);

CREATE INDEX task_links_pause ON public.task_links USING btree (tenant_id, run_id, pause_id);

CREATE TABLE task_mails (
  tenant_id text NOT NULL,
  id text NOT NULL,
  run_id text NOT NULL,
  pause_id text NOT NULL,
  user_id text NOT NULL,
  kind text NOT NULL,
  status text NOT NULL DEFAULT 'pending'::text,
  tries integer NOT NULL DEFAULT 0,
  reason text,
  due_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  leased_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  ended_at timestamp(3) with time zone,
  CONSTRAINT task_mails_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT task_mails_pause_fk FOREIGN KEY (tenant_id, run_id, pause_id) REFERENCES pauses(tenant_id, run_id, id) ON DELETE CASCADE
);

CREATE INDEX task_mails_due ON public.task_mails USING btree (due_at) WHERE (status = 'pending'::text);
CREATE INDEX task_mails_ended ON public.task_mails USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE UNIQUE INDEX task_mails_once ON public.task_mails USING btree (tenant_id, run_id, pause_id, user_id, kind);
CREATE INDEX task_mails_sent ON public.task_mails USING btree (tenant_id, user_id, ended_at) WHERE (status = 'sent'::text);

CREATE TABLE test_cases (
  tenant_id text NOT NULL,
  noun text NOT NULL,
  object_id text NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  given json NOT NULL,
  expected json NOT NULL,
  thread_id text,
  created_by text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT test_cases_tenant_id_noun_object_id_id_pk PRIMARY KEY (tenant_id, noun, object_id, id),
  CONSTRAINT test_cases_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  CONSTRAINT test_cases_thread_fk FOREIGN KEY (tenant_id, thread_id) REFERENCES threads(tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX test_cases_of_thread ON public.test_cases USING btree (tenant_id, thread_id) WHERE (thread_id IS NOT NULL);

CREATE TABLE thread_turns (
  tenant_id text NOT NULL,
  thread_id text NOT NULL,
  ticket integer NOT NULL,
  leased_until timestamp(3) with time zone NOT NULL,
  CONSTRAINT thread_turns_tenant_id_thread_id_ticket_pk PRIMARY KEY (tenant_id, thread_id, ticket),
  CONSTRAINT thread_turns_thread_fk FOREIGN KEY (tenant_id, thread_id) REFERENCES threads(tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE tools (
  tenant_id text NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  status text NOT NULL,
  version integer NOT NULL,
  published_version integer,
  published_at timestamp(3) with time zone,
  archived_at timestamp(3) with time zone,
  created_by text NOT NULL DEFAULT 'system'::text,
  updated_by text NOT NULL DEFAULT 'system'::text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT tools_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT tools_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE INDEX tools_updated ON public.tools USING btree (tenant_id, updated_at DESC NULLS LAST, id);

CREATE TABLE tool_versions (
  tenant_id text NOT NULL,
  tool_id text NOT NULL,
  version integer NOT NULL,
  name text NOT NULL DEFAULT ''::text,
  description text NOT NULL DEFAULT ''::text,
  kind text NOT NULL,
  config json NOT NULL,
  input_schema json,
  output_schema json,
  created_by text NOT NULL DEFAULT 'system'::text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  published_at timestamp(3) with time zone,
  note text,
  CONSTRAINT tool_versions_tenant_id_tool_id_version_pk PRIMARY KEY (tenant_id, tool_id, version),
  CONSTRAINT tool_versions_tool_fk FOREIGN KEY (tenant_id, tool_id) REFERENCES tools(tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE usage_days (
  tenant_id text NOT NULL,
  day date NOT NULL,
  kind text NOT NULL,
  key text NOT NULL,
  calls integer NOT NULL,
  input bigint NOT NULL,
  cached bigint NOT NULL,
  output bigint NOT NULL,
  cost double precision NOT NULL,
  CONSTRAINT usage_days_tenant_id_day_kind_key_pk PRIMARY KEY (tenant_id, day, kind, key),
  CONSTRAINT usage_days_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE INDEX usage_days_by_day ON public.usage_days USING btree (day);
CREATE INDEX usage_days_of_subject ON public.usage_days USING btree (tenant_id, key) WHERE (kind = 'subject'::text);

CREATE TABLE vault_secrets (
  tenant_id text NOT NULL,
  name text NOT NULL,
  sealed text NOT NULL,
  created_by text NOT NULL,
  updated_by text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  hosts text[],
  CONSTRAINT vault_secrets_tenant_id_name_pk PRIMARY KEY (tenant_id, name),
  CONSTRAINT vault_secrets_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE wait_days (
  tenant_id text NOT NULL,
  day date NOT NULL,
  workflow_id text NOT NULL,
  step_id text NOT NULL,
  bucket smallint NOT NULL,
  answers integer NOT NULL,
  longest double precision,
  CONSTRAINT wait_days_tenant_id_day_workflow_id_step_id_bucket_pk PRIMARY KEY (tenant_id, day, workflow_id, step_id, bucket),
  CONSTRAINT wait_days_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE walks (
  tenant_id text NOT NULL,
  run_id text NOT NULL,
  branch text NOT NULL,
  epoch integer NOT NULL,
  segment integer NOT NULL,
  status text NOT NULL,
  engine_run_id text,
  step_id text NOT NULL,
  visit integer NOT NULL,
  visits integer NOT NULL DEFAULT 0,
  restarts integer NOT NULL DEFAULT 0,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  scope text,
  "position" integer,
  data jsonb,
  arrival jsonb,
  data_refs jsonb,
  CONSTRAINT walks_tenant_id_run_id_branch_pk PRIMARY KEY (tenant_id, run_id, branch),
  CONSTRAINT walks_run_fk FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX walks_failed ON public.walks USING btree (tenant_id, run_id, scope, "position") WHERE (arrival ? 'failed'::text);
CREATE INDEX walks_moved ON public.walks USING btree (tenant_id, run_id, status, updated_at) WHERE ((scope IS NOT NULL) AND (status <> 'queued'::text));
CREATE INDEX walks_of_scope ON public.walks USING btree (tenant_id, run_id, scope, "position") WHERE (scope IS NOT NULL);
CREATE INDEX walks_open ON public.walks USING btree (updated_at) WHERE (status = ANY (ARRAY['requested'::text, 'walking'::text]));

CREATE TABLE webhook_endpoints (
  tenant_id text NOT NULL,
  id text NOT NULL,
  url text NOT NULL,
  description text NOT NULL,
  events text[] NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  disabled_reason text,
  secrets jsonb NOT NULL,
  failing_since timestamp(3) with time zone,
  delivered_at timestamp(3) with time zone,
  leased_until timestamp(3) with time zone,
  created_by text NOT NULL,
  updated_by text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  format text NOT NULL DEFAULT 'standard'::text,
  CONSTRAINT webhook_endpoints_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT webhook_endpoints_tenant_id_tenants_id_fk FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE webhook_deliveries (
  tenant_id text NOT NULL,
  id text NOT NULL,
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  endpoint_id text NOT NULL,
  type text NOT NULL,
  run_id text,
  pause_id text,
  status text NOT NULL DEFAULT 'pending'::text,
  tries integer NOT NULL DEFAULT 0,
  attempts jsonb NOT NULL DEFAULT '[]'::jsonb,
  due_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  body text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  ended_at timestamp(3) with time zone,
  CONSTRAINT webhook_deliveries_tenant_id_id_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT webhook_deliveries_endpoint_fk FOREIGN KEY (tenant_id, endpoint_id) REFERENCES webhook_endpoints(tenant_id, id) ON DELETE CASCADE,
  CONSTRAINT webhook_deliveries_run_fk FOREIGN KEY (tenant_id, run_id) REFERENCES runs(tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (due_at) WHERE (status = 'pending'::text);
CREATE INDEX webhook_deliveries_ended ON public.webhook_deliveries USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX webhook_deliveries_list ON public.webhook_deliveries USING btree (tenant_id, endpoint_id, seq DESC NULLS LAST);
CREATE INDEX webhook_deliveries_pending ON public.webhook_deliveries USING btree (tenant_id, endpoint_id, run_id, seq) WHERE (status = 'pending'::text);
CREATE INDEX webhook_deliveries_run ON public.webhook_deliveries USING btree (tenant_id, run_id) WHERE (run_id IS NOT NULL);
