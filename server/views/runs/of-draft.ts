import { sql } from 'drizzle-orm'
import { workflowVersions } from '@/db/schema/workflows'

/**
 * Whether a run tried out a draft, as a column of a query of `runs`. Not every test run did: a part can be tried of a
 * published version, and the child runs of a test run perform the versions that its steps keep to.
 */
export const OF_DRAFT = sql<boolean>`runs.started_via = 'test' and not exists (
  select 1 from ${workflowVersions} of_draft where of_draft.tenant_id = runs.tenant_id
    and of_draft.workflow_id = runs.workflow_id and of_draft.version = runs.workflow_version
    and of_draft.published_at is not null)`
