-- outside a transaction
-- Where the word stands for something else, the run hides nothing, and nothing is masked.
UPDATE "messages" m SET "run_id" = s.run_id
FROM "step_records" s
JOIN "runs" r ON r.tenant_id = s.tenant_id AND r.id = s.run_id
JOIN "workflow_versions" v ON v.tenant_id = r.tenant_id AND v.workflow_id = r.workflow_id AND v.version = r.workflow_version
WHERE s.usage ? 'threadId' AND v.definition::text LIKE '%"sensitive"%'
	AND m.tenant_id = s.tenant_id AND m.thread_id = s.usage->>'threadId' AND m.role = 'user' AND m.run_id IS NULL
	AND m.created_at BETWEEN s.start_time AND coalesce(s.end_time, 'infinity');
