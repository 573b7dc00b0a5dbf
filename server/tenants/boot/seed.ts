import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { agents } from '@/db/schema/agents'
import { tenants } from '@/db/schema/tenants'
import { tools, toolVersions } from '@/db/schema/tools'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import { publishAgent } from '../../agents/lifecycle'
import { AGENT } from '../../agents/noun'
import { record } from '../../audit/record'
import { systemContext, type TransactionContext, withTransaction } from '../../context'
import { createApiKey } from '../../credentials/api-keys/create'
import type { Env } from '../../env'
import { newId } from '../../ids'
import { log } from '../../log'
import { create } from '../../versioned/create'
import { publishWorkflow } from '../../workflows/lifecycle'
import { WORKFLOW } from '../../workflows/noun'
import { SAMPLE_WORKFLOWS } from '../../workflows/samples'
import { createTenant } from '../create'
import { SAMPLE_AGENTS } from './sample-agents'
import { SAMPLE_TOOLS } from './samples'

/** Any number works, as long as every process uses the same one. */
const FIRST_BOOT_LOCK = 7_305_001
const SAMPLES_LOCK = 7_305_002

interface FirstBoot {
  tenantId: string
  /** True if this call created the tenant. */
  created: boolean
  /** The key created at the first boot; null later, because only its hash is stored. */
  apiKey: string | null
}

/**
 * Creates the first tenant, its owner key and the samples if the database has no tenant yet. If several processes start
 * concurrently, one does this and the others see the result.
 * @param options.inventKey false to generate no key if none is given, because it could not be shown to anybody
 */
export async function firstBoot(
  db: Db,
  env: Pick<Env, 'BOOTSTRAP_TENANT_ID' | 'BOOTSTRAP_API_KEY'>,
  { inventKey = true } = {},
): Promise<FirstBoot> {
  const tenantId = env.BOOTSTRAP_TENANT_ID ?? newId('ten')
  const ctx = systemContext({ tenantId, db, log: log() }, 'first-boot')
  return withTransaction(ctx, async (tx) => {
    await tx.db.execute(sql`select pg_advisory_xact_lock(${FIRST_BOOT_LOCK})`)
    const [existing] = await tx.db.select().from(tenants).orderBy(tenants.createdAt, tenants.id).limit(1)
    if (existing) return { tenantId: existing.id, created: false, apiKey: null }
    await createTenant(tx, { name: 'My workspace' })
    const wanted = inventKey || env.BOOTSTRAP_API_KEY !== undefined
    const made = wanted
      ? await createApiKey(tx, { name: 'First boot', role: 'owner' }, { value: env.BOOTSTRAP_API_KEY })
      : null
    await loadSamples(tx)
    return { tenantId, created: true, apiKey: made?.key ?? null }
  })
}

/**
 * Adds every missing sample.
 * @returns the ids of the workflows it added
 */
export async function loadSamples(tx: TransactionContext): Promise<string[]> {
  await loadSampleParts(tx)
  const added: string[] = []
  const [there, remembered] = await Promise.all([idsOf(tx, workflows), versionedIds(tx)])
  for (const sample of SAMPLE_WORKFLOWS.filter(({ id }) => !there.has(id))) {
    // Runs retain the versions of a permanently deleted workflow, so its id must not be reused.
    const id = remembered.has(sample.id) ? newId('wf') : sample.id
    await create(tx, WORKFLOW, id, sample.definition)
    await publishWorkflow(tx, { id })
    added.push(id)
  }
  return added
}

/** Adds the tools and agents the sample workflows call. */
export async function loadSampleParts(tx: TransactionContext): Promise<void> {
  // Otherwise two concurrent requests would both find nothing and add them twice.
  await tx.db.execute(sql`select pg_advisory_xact_lock(${SAMPLES_LOCK}, hashtext(${tx.tenantId}))`)
  const [haveTools, haveAgents] = await Promise.all([idsOf(tx, tools), idsOf(tx, agents)])
  for (const tool of SAMPLE_TOOLS.filter(({ id }) => !haveTools.has(id))) await insertScriptTool(tx, tool)
  for (const { id, config } of SAMPLE_AGENTS.filter(({ id }) => !haveAgents.has(id))) {
    await create(tx, AGENT, id, config)
    await publishAgent(tx, { id })
  }
}

async function insertScriptTool(
  tx: TransactionContext,
  { code, inputSchema, outputSchema, ...tool }: (typeof SAMPLE_TOOLS)[number],
) {
  const now = tx.now()
  const by = { createdBy: tx.actor.id, createdAt: now }
  await tx.db.insert(tools).values({
    tenantId: tx.tenantId,
    ...tool,
    ...by,
    status: 'published',
    version: 1,
    publishedVersion: 1,
    publishedAt: now,
    updatedBy: tx.actor.id,
    updatedAt: now,
  })
  await tx.db.insert(toolVersions).values({
    tenantId: tx.tenantId,
    toolId: tool.id,
    version: 1,
    name: tool.name,
    description: tool.description,
    kind: 'script',
    config: { code },
    inputSchema,
    outputSchema,
    ...by,
    publishedAt: now,
  })
  await record(tx, 'tool.created', tool)
  await record(tx, 'tool.published', tool, { version: 1 })
}

async function idsOf(
  tx: TransactionContext,
  table: typeof tools | typeof agents | typeof workflows,
): Promise<Set<string>> {
  const rows = await tx.db.select({ id: table.id }).from(table).where(eq(table.tenantId, tx.tenantId))
  return new Set(rows.map(({ id }) => id))
}

async function versionedIds(tx: TransactionContext): Promise<Set<string>> {
  const samples = SAMPLE_WORKFLOWS.map(({ id }) => id)
  const rows = await tx.db
    .selectDistinct({ id: workflowVersions.workflowId })
    .from(workflowVersions)
    .where(and(eq(workflowVersions.tenantId, tx.tenantId), inArray(workflowVersions.workflowId, samples)))
  return new Set(rows.map(({ id }) => id))
}
