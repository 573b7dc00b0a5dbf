import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createAgent } from '@/server/agents/lifecycle'
import { listAudit } from '@/server/audit-log/list'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { disableApiKey, enableApiKey } from '@/server/credentials/api-keys/disable'
import { rotateApiKey } from '@/server/credentials/api-keys/rotate'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { debugToken } from '@/server/credentials/signing-secrets/debug-token'
import { disableSigningSecret, enableSigningSecret } from '@/server/credentials/signing-secrets/disable'
import { SCRIPTED_MODEL } from '@/server/models/schema'
import { setTenantName } from '@/server/tenants/set-name'
import { getTenantSettings } from '@/server/tenants/settings'
import { createTool } from '@/server/tools/lifecycle'
import { setVaultSecret } from '@/server/vault/set'
import { browseApiKeys } from '@/server/views/credentials/api-keys'
import { browseSigningSecrets } from '@/server/views/credentials/signing-secrets'
import { browseVault } from '@/server/views/vault'
import { mint } from '../auth/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
import { outcome, withClock } from '../workflows/support'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.JWT_AUDIENCE = 'app.example.com'
  process.env.LOG_LEVEL = 'silent'
})

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

describe('browseApiKeys', () => {
  test('shows each key’s state over its life, and never its value', async () => {
    const { ctx, pass } = withClock(await newTenant(database))
    const first = await createApiKey(ctx, { name: 'Backend', role: 'editor' })
    const other = await createApiKey(ctx, { name: 'Other', role: 'viewer' })
    const states = async () => Object.fromEntries((await browseApiKeys(ctx)).map(({ id, state }) => [id, state]))
    await disableApiKey(ctx, other.id)
    expect(await states()).toEqual({ [first.id]: 'enabled', [other.id]: 'disabled' })
    await enableApiKey(ctx, other.id)
    const heir = await rotateApiKey(ctx, first.id, 3_600_000)
    expect(await states()).toEqual({ [first.id]: 'ending', [other.id]: 'enabled', [heir.id]: 'enabled' })
    pass(3_600)
    expect((await states())[first.id]).toBe('replaced')
    const listed = await browseApiKeys(ctx)
    expect(listed.find(({ id }) => id === first.id)?.replacedBy).toBe(heir.id)
    expect(JSON.stringify(listed)).not.toContain(heir.key)
  })

  test('is for admins of the workspace only; a rotation’s grace is between zero and a year', async () => {
    const ctx = await newTenant(database)
    const { id } = await createApiKey(ctx, { name: 'Backend', role: 'admin' })
    expect(await outcome(browseApiKeys(withRole(ctx, 'editor')))).toBe('FORBIDDEN')
    expect(await browseApiKeys(await newTenant(database))).toEqual([])
    for (const graceMs of [-1, 366 * 86_400_000, Number.NaN]) {
      expect(await outcome(rotateApiKey(ctx, id, graceMs))).toBe('INVALID_INPUT')
    }
  })
})

test('a key that only checks definitions is listed as one, and the key that replaces it is one, too', async () => {
  const ctx = await newTenant(database)
  const made = await createApiKey(ctx, { name: 'Pull requests', role: 'owner', only: 'definitions:check' })
  // An earlier release, which knows roles alone, lets it do the least.
  expect(made).toMatchObject({ role: 'viewer', only: 'definitions:check' })
  const heir = await rotateApiKey(ctx, made.id, 0)
  expect(heir).toMatchObject({ role: 'viewer', only: 'definitions:check' })
  const other = await createApiKey(ctx, { name: 'Backend', role: 'viewer' })
  expect(other).not.toHaveProperty('only')
  expect(Object.fromEntries((await browseApiKeys(ctx)).map(({ id, only }) => [id, only]))).toEqual({
    [made.id]: 'definitions:check',
    [heir.id]: 'definitions:check',
    [other.id]: null,
  })
  const { entries } = await listAudit(ctx, { action: 'apiKey.created', thing: made.id })
  expect(entries).toMatchObject([{ details: { only: 'definitions:check' } }])
  expect(await outcome(createApiKey(ctx, { name: 'X', only: 'run:read' }))).toBe('INVALID_INPUT')
})

describe('debugToken', () => {
  async function withSecret() {
    const ctx = await newTenant(database)
    const { id, secret } = await createSigningSecret(ctx, { name: 'App' })
    const now = Math.floor(Date.now() / 1000)
    const claims = { sub: 'user_1', aud: 'app.example.com', iat: now, exp: now + 600, context: { name: 'Ada' } }
    const failing = async (token: string) => {
      const { accepted, checks } = await debugToken(ctx, { token })
      return accepted ? null : checks.find(({ state }) => state === 'failed')?.name
    }
    return { ctx, id, secret, now, claims, failing }
  }
  const header = (kid: string) => ({ alg: 'HS256', typ: 'JWT', kid })

  test('accepts a valid token, says who the caller would be, and does not count as a use', async () => {
    const { ctx, id, secret, claims } = await withSecret()
    const report = await debugToken(ctx, { token: mint(header(id), claims, secret) })
    expect(report).toMatchObject({
      accepted: true,
      caller: { sub: 'user_1', role: 'operator', secretName: 'App', longLived: false },
      payload: { context: { name: 'Ada' } },
    })
    expect(report.checks.every(({ state }) => state === 'passed')).toBe(true)
    expect((await browseSigningSecrets(ctx)).secrets[0]?.lastUsedAt).toBeNull()
  })

  test('names the check that fails', async () => {
    const { ctx, id, secret, now, claims, failing } = await withSecret()
    const sign = (change: object, kid = id, key = secret) => mint(header(kid), { ...claims, ...change }, key)
    expect(await failing('hello')).toBe('form')
    expect(await failing(mint({ alg: 'HS512', kid: id }, claims, secret))).toBe('algorithm')
    expect(await failing(mint({ alg: 'HS256' }, claims, secret))).toBe('kid')
    expect(await failing(sign({}, 'sec_UNKNOWN00'))).toBe('secret')
    expect(await failing(sign({}, id, 'x'.repeat(43)))).toBe('signature')
    expect(await failing(sign({ aud: 'elsewhere' }))).toBe('aud')
    expect(await failing(sign({ exp: now - 3_600 }))).toBe('exp')
    expect(await failing(sign({ exp: now + 3 * 86_400 }))).toBe('exp')
    expect(await failing(sign({ sub: undefined }))).toBe('sub')
    expect(await failing(sign({ iat: now + 3_600 }))).toBe('iat')
    expect(await failing(sign({ context: 'text' }))).toBe('context')
    await disableSigningSecret(ctx, id)
    expect(await failing(sign({}))).toBe('secret')
    await enableSigningSecret(ctx, id)
    expect(await failing(sign({}))).toBeNull()
  })

  test("does not know other workspaces' secrets", async () => {
    const { id, secret, claims } = await withSecret()
    const other = await newTenant(database)
    const { checks, accepted } = await debugToken(other, { token: mint(header(id), claims, secret) })
    expect(accepted).toBe(false)
    expect(checks.find(({ state }) => state === 'failed')?.message).toContain('No signing secret of this workspace')
    expect(await outcome(debugToken(withRole(other, 'editor'), { token: 'x' }))).toBe('FORBIDDEN')
  })
})

test('the vault shows which tools use a secret, never its value', async () => {
  const ctx = await newTenant(database)
  await setVaultSecret(ctx, { name: 'CRM_KEY', value: 'hunter2-hunter2' })
  await setVaultSecret(ctx, { name: 'UNUSED', value: 'hunter2-hunter2' })
  const headers = { authorization: 'Bearer ${secrets.CRM_KEY}' }
  const tool = await createTool(ctx, {
    name: 'CRM',
    kind: 'http',
    config: { method: 'GET', url: 'https://a.test', headers },
  })
  const listed = await browseVault(ctx)
  expect(listed.map(({ name, usedBy }) => [name, usedBy])).toEqual([
    ['CRM_KEY', [{ kind: 'tool', id: tool.id, name: 'CRM', refusedAt: null }]],
    ['UNUSED', []],
  ])
  expect(JSON.stringify(listed)).not.toContain('hunter2')
})

test('the vault counts agents that use the well-known key of their provider, unless they name another', async () => {
  const ctx = await newTenant(database)
  for (const name of ['ANTHROPIC_API_KEY', 'MINE', 'OPENAI_API_KEY']) {
    await setVaultSecret(ctx, { name, value: 'hunter2-hunter2' })
  }
  const model = { provider: 'anthropic' as const, modelId: 'claude-sonnet-5', settings: {} }
  await createAgent(ctx, { name: 'Silent', model })
  await createAgent(ctx, { name: 'Naming', model: { ...model, apiKey: '${secrets.MINE}' } })
  await createAgent(ctx, { name: 'Offline', model: SCRIPTED_MODEL })
  const used = (await browseVault(ctx)).map(({ name, usedBy }) => [name, usedBy.map((user) => user.name)])
  expect(Object.fromEntries(used)).toEqual({ ANTHROPIC_API_KEY: ['Silent'], MINE: ['Naming'], OPENAI_API_KEY: [] })
})

test('admins can rename a workspace, and its slug stays', async () => {
  const ctx = await newTenant(database)
  const before = await getTenantSettings(ctx)
  await setTenantName(withRole(ctx, 'admin'), { name: '  Acme  ' })
  expect(await getTenantSettings(ctx)).toEqual({ ...before, name: 'Acme' })
  expect(await outcome(setTenantName(ctx, { name: ' ' }))).toBe('INVALID_INPUT')
  expect(await outcome(setTenantName(withRole(ctx, 'editor'), { name: 'x' }))).toBe('FORBIDDEN')
})
