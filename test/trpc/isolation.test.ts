import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { createInvitation } from '@/server/members/invitations/create'
import { startRun } from '@/server/runs/start'
import { keepToolCase } from '@/server/tools/test-cases'
import { setVaultSecret } from '@/server/vault/set'
import { archiveWorkflow, createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { fingerprint, unlike } from '../support/fingerprint'
import { seedLongRun } from '../support/seed-runs'
import { newScriptTool, newTenant } from '../support/tenant'
import { CASES, caseOf, KINDS } from './procedures'
import { callBatch, callProcedure, errorIn, newVisitor, type Visitor } from './support'

// `test/api/isolation.test.ts` does the same for REST.

vi.hoisted(() => {
  Object.assign(process.env, { ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'silent', MILLRACE_EMBEDDED: '1' })
})

/** Maximum contents of one request. */
const BATCH = 10

let database: FreshDatabase
let caller: Visitor
let other: ServiceContext
/** The other tenant's ids, by kind. */
let ids: Record<string, string>

beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  caller = await newVisitor(await newTenant(database), 'owner')
  other = await newTenant(database)
  ids = await furnish(other)
})
afterAll(() => database.close())

/** Creates one of everything. */
async function furnish(ctx: ServiceContext): Promise<Record<string, string>> {
  const steps = [{ id: 'order', type: 'collect-inputs', output: { item: { type: 'string' } } }]
  const draft = await createWorkflow(ctx, { name: 'Draft', steps })
  const published = await createWorkflow(ctx, { name: 'Published', steps })
  await publishWorkflow(ctx, { id: published.id })
  const archived = await createWorkflow(ctx, { name: 'Archived', steps })
  await archiveWorkflow(ctx, { id: archived.id })
  await setVaultSecret(ctx, { name: 'THEIR_SECRET', value: 'their-secret-value' })
  const tool = await newScriptTool(ctx, 'return 1')
  const kept = { name: 'Theirs', given: {}, expected: { kind: 'succeeds' } }
  return {
    'draft workflow': draft.id,
    'published workflow': published.id,
    'archived workflow': archived.id,
    'run under way': (await startRun(ctx, { workflowId: published.id, body: {} })).runId,
    'failed run': (await seedLongRun(database.sql, ctx.tenantId, 20)).runId,
    agent: (await createAgent(ctx, { name: 'Agent', instructions: 'Answer.' })).id,
    tool,
    'test case': (await keepToolCase(ctx, { id: tool, body: kept })).id,
    key: (await createApiKey(ctx, { name: 'Key', role: 'viewer' })).id,
    secret: (await createSigningSecret(ctx, { name: 'Secret', role: 'operator' })).id,
    'vault name': 'THEIR_SECRET',
    member: (await newVisitor(ctx, 'editor')).userId,
    invitation: (await createInvitation(ctx, { email: 'new@example.com', role: 'viewer' })).id,
    tenant: ctx.tenantId,
  }
}

describe('another tenant’s object does not exist for the dashboard’s API', () => {
  const naming = Object.keys(CASES).filter((name) => caseOf(name).input)

  test.each(naming)('%s', async (name) => {
    const { input = () => ({}), unknown = 'not found' } = caseOf(name)
    const before = await fingerprint(database.sql, other.tenantId)
    const kinds = Object.entries(ids)
    const answers = await callAll(
      name,
      kinds.flatMap(([, id]) => [input(id), input(unlike(id))]),
    )
    for (const [index, [kind, id]] of kinds.entries()) {
      const [theirs, nobodys] = answers.slice(2 * index)
      if (!theirs || !nobodys) throw new Error('Two calls have two answers')
      const text = `${name} with the ${kind} of another tenant: ${theirs.text}`
      if (unknown === 'nothing found') expect(theirs.status, text).toBe(200)
      else if (unknown === 'not found') expect(theirs.status, text).toBe(404)
      else expect(theirs.status >= 400 && theirs.status < 500, text).toBe(true)
      expect(masked(theirs.text, id), text).toBe(masked(nobodys.text, unlike(id)))
    }
    expect(await fingerprint(database.sql, other.tenantId), `${name} changed rows of another tenant`).toBe(before)
  })

  test('and appears in no list', async () => {
    const listing = Object.keys(CASES).filter((name) =>
      /\.(list|count|threads|invitations|samples|get|overview)$/.test(name),
    )
    const asked = listing.filter((name) => !caseOf(name).input || caseOf(name).unknown === 'nothing found')
    expect(asked.length).toBeGreaterThan(8)
    for (const name of asked) {
      const { status, text } = await callProcedure(caller, name, {})
      expect(status, `${name}: ${text}`).toBe(200)
      for (const [kind, id] of Object.entries(ids)) expect(text, `${name} shows a ${kind}`).not.toContain(id)
    }
  })
})

/** In as few requests as possible: there are more than a thousand calls. */
async function callAll(name: string, inputs: object[]): Promise<{ status: number; text: string }[]> {
  const answers = []
  if (KINDS[name] === 'subscription') for (const input of inputs) answers.push(await callProcedure(caller, name, input))
  else
    for (let from = 0; from < inputs.length; from += BATCH)
      answers.push(...(await callBatch(caller, name, inputs.slice(from, from + BATCH))))
  return answers
}

/** Without the parts that always differ: the requested id, and the request's own id. */
function masked(text: string, id: string): string {
  const request = text.includes('"requestId"') ? errorIn(text).requestId : ''
  const plain = text.replaceAll(id, '<id>').replaceAll(/"(at|now|time)":"[^"]*"/g, '"$1":""')
  return request ? plain.replaceAll(request, '<request>') : plain
}
