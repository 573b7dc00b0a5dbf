-- Numbers of published workflow versions.

-- A version is published for the first time and gets the next number of its workflow. Publishing locks the workflow, so no
-- number is given twice. A trigger, because a process of a release that knows no numbers publishes too.
CREATE OR REPLACE FUNCTION "number_version"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	SELECT coalesce(max(v.number), 0) + 1 INTO NEW.number FROM "workflow_versions" v
	WHERE v.tenant_id = NEW.tenant_id AND v.workflow_id = NEW.workflow_id;
	RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER "workflow_versions_published" BEFORE INSERT OR UPDATE OF "published_at" ON "workflow_versions"
FOR EACH ROW WHEN (NEW.published_at IS NOT NULL AND NEW.number IS NULL) EXECUTE FUNCTION "number_version"();
