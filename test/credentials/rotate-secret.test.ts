import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { debugToken } from '@/server/credentials/signing-secrets/debug-token'
import { disableSigningSecret, enableSigningSecret } from '@/server/credentials/signing-secrets/disable'
import { rotateSigningSecret } from '@/server/credentials/signing-secrets/rotate'
import { AppError } from '@/server/errors'
import { browseSigningSecrets } from '@/server/views/credentials/signing-secrets'
import { bearer, claims, identify, mint, NOW } from '../auth/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.JWT_AUDIENCE = 'app.example.com'
  process.env.LOG_LEVEL = 'silent'
})

const HOUR = 3_600_000

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const workspace = async () => ({ ...(await newTenant(database)), now: () => NOW })
const tokenOf = ({ id, secret }: { id: string; secret: string }, more: Record<string, unknown> = {}) =>
  mint({ alg: 'HS256', kid: id }, claims(more), secret)
const caller = (made: { id: string; secret: string }, at = NOW) =>
  identify(database, bearer(tokenOf(made, { exp: Math.floor(at.getTime() / 1000) + 600 })), at)
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (err: unknown) => (err instanceof AppError ? err.code : String(err)),
  )
const states = async (ctx: ServiceContext) =>
  Object.fromEntries((await browseSigningSecrets(ctx)).secrets.map(({ id, state }) => [id, state]))

test('tokens of a signing secret and of the one that replaces it are accepted for the grace period, with the same rights', async () => {
  const ctx = await workspace()
  const old = await createSigningSecret(ctx, { name: 'Portal', role: 'viewer', ownRuns: true, agentIds: [] })
  const made = await rotateSigningSecret(ctx, { id: old.id, graceMs: HOUR })
  expect(made).toMatchObject({ rotatedFrom: old.id, role: 'viewer', audience: 'app.example.com' })
  expect([made.id === old.id, made.secret === old.secret]).toEqual([false, false])
  const reach = { workflowIds: null, agentIds: [], ownRuns: true }
  for (const secret of [old, made]) expect(await caller(secret)).toMatchObject({ actor: { role: 'viewer' }, reach })
  // The new one signs for itself only.
  expect(await caller({ id: made.id, secret: old.secret })).toBeNull()
  expect(await states(ctx)).toEqual({ [old.id]: 'ending', [made.id]: 'enabled' })
  const later = new Date(NOW.getTime() + HOUR)
  expect(await caller(old, later)).toBeNull()
  expect(await caller(made, later)).not.toBeNull()
  expect(await states({ ...ctx, now: () => later })).toMatchObject({ [old.id]: 'replaced' })
  const token = tokenOf(old)
  expect(await debugToken({ ...ctx, now: () => later }, { token })).toMatchObject({ accepted: false })
})

test('by default no token is refused before its time, and with no grace period all are at once', async () => {
  const ctx = await workspace()
  const [kept, leaked] = [await createSigningSecret(ctx, { name: 'A' }), await createSigningSecret(ctx, { name: 'B' })]
  const token = tokenOf(kept, { exp: Math.floor(NOW.getTime() / 1000) + 24 * 3600 })
  await rotateSigningSecret(ctx, { id: kept.id })
  expect(await identify(database, bearer(token), new Date(NOW.getTime() + 24 * HOUR - 1_000))).not.toBeNull()
  await rotateSigningSecret(ctx, { id: leaked.id, graceMs: 0 })
  expect(await caller(leaked)).toBeNull()
  await enableSigningSecret(ctx, leaked.id)
  expect(await caller(leaked)).toBeNull()
})

test('a signing secret is replaced once, not while it is disabled, and only by a person who may make one like it', async () => {
  const ctx = await workspace()
  const once = await createSigningSecret(ctx, { name: 'Once' })
  const next = await rotateSigningSecret(ctx, { id: once.id })
  expect(await codeOf(rotateSigningSecret(ctx, { id: once.id }))).toBe('CONFLICT')
  await disableSigningSecret(ctx, next.id)
  expect(await codeOf(rotateSigningSecret(ctx, { id: next.id }))).toBe('CONFLICT')
  const strong = await createSigningSecret(ctx, { name: 'Strong', role: 'admin' })
  expect(await codeOf(rotateSigningSecret(withRole(ctx, 'admin'), { id: strong.id }))).toBe('FORBIDDEN')
  expect(await caller(strong)).not.toBeNull()
  expect(await codeOf(rotateSigningSecret(await workspace(), { id: strong.id }))).toBe('NOT_FOUND')
  const entries = await database.sql<{ action: string; details: object }[]>`
    select action, details from audit_entries where tenant_id = ${ctx.tenantId} and action = 'signingSecret.rotated'`
  expect(entries).toMatchObject([{ details: { newSecret: next.id } }])
  expect(JSON.stringify(entries)).not.toContain(next.secret)
})
