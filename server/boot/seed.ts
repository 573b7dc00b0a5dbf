import { sql } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { tenants } from '@/db/schema/tenants'
import { tools, toolVersions } from '@/db/schema/tools'
import { insertAgent } from '../agents/create'
import { publishAgent } from '../agents/publish'
import { systemContext, type TransactionContext, withTransaction } from '../context'
import type { Env } from '../env'
import { newId } from '../ids'
import { createApiKey } from '../keys/create'
import { log } from '../log'
import { createTenant } from '../tenants/create'
import { insertWorkflow } from '../workflows/create'
import { publishWorkflow } from '../workflows/publish'
import { SAMPLE_AGENTS } from './sample-agents'
import { SAMPLE_TOOLS, SAMPLE_WORKFLOWS } from './samples'

/** Any number will do, as long as every starter uses the same. */
const FIRST_BOOT_LOCK = 7_305_001

export interface FirstBoot {
  tenantId: string
  /** The key of the first boot; null on every later one, when it is no longer known. */
  apiKey: string | null
}

/**
 * Makes the first tenant, its owner key and the samples when the database has no tenant yet.
 * Of several processes that start at once, one does and the others see its work.
 */
export async function firstBoot(
  db: Db,
  env: Pick<Env, 'BOOTSTRAP_TENANT_ID' | 'BOOTSTRAP_API_KEY'>,
): Promise<FirstBoot> {
  const tenantId = env.BOOTSTRAP_TENANT_ID ?? newId('ten')
  const ctx = systemContext({ tenantId, db, log: log() }, 'first-boot')
  return withTransaction(ctx, async (tx) => {
    await tx.db.execute(sql`select pg_advisory_xact_lock(${FIRST_BOOT_LOCK})`)
    const [existing] = await tx.db.select().from(tenants).orderBy(tenants.createdAt, tenants.id).limit(1)
    if (existing) return { tenantId: existing.id, apiKey: null }
    await createTenant(tx, { name: 'My workspace' })
    const { key } = await createApiKey(tx, { name: 'First boot', role: 'owner' }, { value: env.BOOTSTRAP_API_KEY })
    await loadSamples(tx)
    return { tenantId, apiKey: key }
  })
}

export async function loadSamples(tx: TransactionContext): Promise<void> {
  const now = tx.now()
  for (const { code, ...tool } of SAMPLE_TOOLS) {
    const row = {
      tenantId: tx.tenantId,
      ...tool,
      status: 'published' as const,
      version: 1,
      publishedVersion: 1,
      publishedAt: now,
      createdAt: now,
      updatedAt: now,
    }
    await tx.db.insert(tools).values(row)
    await tx.db.insert(toolVersions).values({
      tenantId: tx.tenantId,
      toolId: tool.id,
      version: 1,
      name: tool.name,
      description: tool.description,
      kind: 'script',
      config: { code },
      createdAt: now,
      publishedAt: now,
    })
  }
  for (const { id, config } of SAMPLE_AGENTS) {
    await insertAgent(tx, id, config)
    await publishAgent(tx, id)
  }
  for (const { id, definition } of SAMPLE_WORKFLOWS) {
    await insertWorkflow(tx, id, definition)
    await publishWorkflow(tx, id)
  }
}
