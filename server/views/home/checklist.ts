import { and, eq, gt, inArray, isNotNull, like, notInArray, or, sql } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import { members } from '@/db/schema/members'
import { runs } from '@/db/schema/runs'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { tenantMasker } from '../../vault/masker'
import { SAMPLE_WORKFLOWS } from '../../workflows/samples'
import { PUBLISHED_NUMBER } from '../workflows/numbers'

/** What a workspace has achieved so far, based on facts rather than clicks. */
export interface Checklist {
  /** Someone started a run. */
  ran: boolean
  /** A run was started from outside, with a key or a token. */
  called: boolean
  /** A person created an API key. */
  keyed: boolean
  /** Something other than an unchanged sample is published. */
  published: boolean
  /** A run has ended whose agent asks people; null if there is no sample to try that with. */
  decided: boolean | null
  /** The workspace has another member. */
  invited: boolean
  /** A sample to start a run of; null if none exists. */
  sample: { id: string; name: string; publishedNumber: number | null } | null
}

/** The sample whose agent asks people. */
const ASKING = 'wf_refund'
/** The sample that needs no person comes first. */
const SAMPLE_IDS = SAMPLE_WORKFLOWS.map(({ id }) => id)

export async function readChecklist(ctx: ServiceContext): Promise<Checklist> {
  authorize(ctx, 'run:read')
  const { tenantId } = ctx
  const one = { one: sql`1` }
  const [ran, called, keyed, published, decided, people, samples, masker] = await Promise.all([
    any(ctx.db.select(one).from(runs).where(eq(runs.tenantId, tenantId)).limit(1)),
    any(
      ctx.db
        .select(one)
        .from(runs)
        .where(and(eq(runs.tenantId, tenantId), inArray(runs.startedVia, ['apiKey', 'jwt'])))
        .limit(1),
    ),
    any(
      ctx.db
        .select(one)
        .from(apiKeys)
        .where(and(eq(apiKeys.tenantId, tenantId), like(apiKeys.createdBy, 'usr\\_%')))
        .limit(1),
    ),
    any(
      ctx.db
        .select(one)
        .from(workflows)
        .where(
          and(
            eq(workflows.tenantId, tenantId),
            isNotNull(workflows.publishedVersion),
            or(notInArray(workflows.id, SAMPLE_IDS), gt(workflows.publishedVersion, 1)),
          ),
        )
        .limit(1),
    ),
    any(
      ctx.db
        .select(one)
        .from(runs)
        .where(and(eq(runs.tenantId, tenantId), eq(runs.workflowId, ASKING), isNotNull(runs.endTime)))
        .limit(1),
    ),
    ctx.db.select(one).from(members).where(eq(members.tenantId, tenantId)).limit(2),
    ctx.db
      .select({ id: workflows.id, name: workflows.name, publishedNumber: PUBLISHED_NUMBER })
      .from(workflows)
      .where(
        and(eq(workflows.tenantId, tenantId), inArray(workflows.id, SAMPLE_IDS), eq(workflows.status, 'published')),
      ),
    tenantMasker(ctx),
  ])
  const sample = SAMPLE_IDS.flatMap((id) => samples.find((row) => row.id === id) ?? []).at(0)
  return {
    ran,
    called,
    keyed,
    published,
    decided: samples.some(({ id }) => id === ASKING) ? decided : null,
    invited: people.length > 1,
    sample: sample ? { ...sample, name: masker.text(sample.name) } : null,
  }
}

async function any(rows: PromiseLike<unknown[]>): Promise<boolean> {
  return (await rows).length > 0
}
