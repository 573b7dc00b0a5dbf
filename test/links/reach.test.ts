import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Visitor } from '@/server/auth/visitor'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { limitSigningSecret } from '@/server/credentials/signing-secrets/limit'
import { rotateSigningSecret } from '@/server/credentials/signing-secrets/rotate'
import { answerTaskLink } from '@/server/links/answer'
import { createTaskLink } from '@/server/links/create'
import { openTaskLink } from '@/server/links/open'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const NONE = { workflowIds: null, agentIds: null, ownRuns: false }
const ASKING = {
  steps: [{ id: 'ok', type: 'request-user-action', actions: [{ id: 'approve', label: 'Approve' }] }],
}

test.each([
  ['other workflows', { workflowIds: [] }],
  ['the runs of its subject, who did not start this one', { ownRuns: true }],
])(
  'a link ends when the tokens of its maker are limited to %s, and answers again once they are not',
  async (_, limits) => {
    const { ctx, db } = runtime
    const runId = await runtime.start(ASKING)
    await runtime.wait(runId, ({ status }) => status === 'paused')
    const { id } = await createSigningSecret(ctx, { name: 'App', role: 'operator' })
    const ivy = { ...ctx, actor: { kind: 'jwt', id: 'ivy', secretId: id, role: 'operator' } as const }
    const { url } = await createTaskLink(ivy, { runId, body: {}, origin: 'https://millrace.example.com' })
    const token = url.slice(url.indexOf('#') + 1)
    const visitor: Visitor = { db, headers: new Headers(), log: ctx.log, now: ctx.now, requestId: 'from-a-link' }
    // The limits that count are those of the secret which replaced it.
    const replaced = await rotateSigningSecret(ctx, { id, graceMs: 0 })
    const limit = (to: object) => limitSigningSecret(ctx, { id: replaced.id, limits: { ...NONE, ...to } })

    expect(await openTaskLink(visitor, { token })).toMatchObject({ state: 'open' })
    await limit(limits)
    expect(await openTaskLink(visitor, { token })).toEqual({ state: 'revoked' })
    expect(await answerTaskLink(visitor, { token, actionId: 'approve' })).toEqual({ state: 'revoked' })
    expect((await runtime.status(runId)).status).toBe('paused')
    await limit({})
    expect(await answerTaskLink(visitor, { token, actionId: 'approve' })).toMatchObject({ state: 'used' })
    expect((await runtime.wait(runId)).status).toBe('completed')
  },
)
