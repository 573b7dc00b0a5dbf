ALTER TABLE "workflow_versions" ADD COLUMN "number" integer;--> statement-breakpoint
UPDATE "workflow_versions" v SET "number" = p.number
FROM (
	SELECT tenant_id, workflow_id, version, row_number() OVER (PARTITION BY tenant_id, workflow_id ORDER BY version) AS number
	FROM "workflow_versions" WHERE published_at IS NOT NULL) p
WHERE v.tenant_id = p.tenant_id AND v.workflow_id = p.workflow_id AND v.version = p.version;
--> statement-breakpoint
-- Whoever publishes has locked the workflow. A process of the release before publishes versions with a number too.
CREATE FUNCTION "number_version"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	SELECT coalesce(max(v.number), 0) + 1 INTO NEW.number FROM "workflow_versions" v
	WHERE v.tenant_id = NEW.tenant_id AND v.workflow_id = NEW.workflow_id;
	RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER "workflow_versions_published" BEFORE INSERT OR UPDATE OF "published_at" ON "workflow_versions" FOR EACH ROW WHEN (NEW.published_at IS NOT NULL AND NEW.number IS NULL) EXECUTE FUNCTION "number_version"();
