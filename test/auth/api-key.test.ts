import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { apiKeys } from '@/db/schema/keys'
import { generateApiKey, hashApiKey, looksLikeApiKey, looksMistyped, sameHash } from '@/server/auth/api-key'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { disableApiKey, enableApiKey } from '@/server/credentials/api-keys/disable'
import { listApiKeys } from '@/server/credentials/api-keys/list'
import { rotateApiKey } from '@/server/credentials/api-keys/rotate'
import { ROLES, type Role } from '@/server/roles'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { PATIENCE } from '../support/patience'
import { newTenant, withRole } from '../support/tenant'
import { identify, NOW } from './support'

vi.hoisted(() => {
  process.env.LOG_LEVEL = 'silent'
})

let database: FreshDatabase
let ctx: ServiceContext
let key: { id: string; key: string; tenantId: string }
let other: { key: string; tenantId: string }
let disabled: { key: string }
let replaced: { key: string }

beforeAll(async () => {
  database = await freshDatabase()
  ctx = { ...(await newTenant(database)), now: () => NOW }
  key = await createApiKey(ctx, { name: 'Mine', role: 'editor' })
  other = await createApiKey(await newTenant(database), { name: 'Theirs', role: 'owner' })
  const first = await createApiKey(ctx, { name: 'Off' })
  await disableApiKey(ctx, first.id)
  disabled = first
  const second = await createApiKey(ctx, { name: 'Old' })
  await rotateApiKey(ctx, second.id, 0)
  replaced = second
})
afterAll(() => database.close())

type Vector = [name: string, headers: () => Record<string, string>]

const ACCEPTED: Vector[] = [
  ['with its tenant', () => ({ 'x-api-key': key.key, 'x-tenant-id': key.tenantId })],
  ['without a tenant', () => ({ 'x-api-key': key.key })],
  ['with a header name in capitals', () => ({ 'X-API-KEY': key.key, 'X-TENANT-ID': key.tenantId })],
  ['between spaces, which HTTP ignores', () => ({ 'x-api-key': ` ${key.key} ` })],
  ['beside a bad token, which is ignored', () => ({ 'x-api-key': key.key, authorization: 'Bearer x.y.z' })],
]

const REFUSED: Vector[] = [
  ['none', () => ({})],
  ['none, but the tenant', () => ({ 'x-tenant-id': key.tenantId })],
  ['empty', () => ({ 'x-api-key': '' })],
  ['only spaces', () => ({ 'x-api-key': '   ' })],
  ['only the prefix', () => ({ 'x-api-key': 'sk_' })],
  ['without the prefix', () => ({ 'x-api-key': key.key.slice(3) })],
  ['with the prefix in capitals', () => ({ 'x-api-key': key.key.replace('sk_', 'SK_') })],
  ['cut short', () => ({ 'x-api-key': key.key.slice(0, -1) })],
  ['with one more character', () => ({ 'x-api-key': `${key.key}0` })],
  ['with its first characters only, as shown', () => ({ 'x-api-key': key.key.slice(0, 11) })],
  ['all in small letters', () => ({ 'x-api-key': key.key.toLowerCase() })],
  ['all in capitals', () => ({ 'x-api-key': `sk_${key.key.slice(3).toUpperCase()}` })],
  ['mistyped', () => ({ 'x-api-key': swapped(key.key) })],
  ['well formed and unknown', () => ({ 'x-api-key': generateApiKey() })],
  ['its own hash', () => ({ 'x-api-key': hashApiKey(key.key) })],
  ['its own hash with the prefix', () => ({ 'x-api-key': `sk_${hashApiKey(key.key)}` })],
  ['its own id', () => ({ 'x-api-key': key.id })],
  ['twice in one header', () => ({ 'x-api-key': `${key.key}, ${key.key}` })],
  ['as a bearer token', () => ({ authorization: `Bearer ${key.key}` })],
  ['as a basic credential', () => ({ authorization: `Basic ${Buffer.from(`${key.key}:`).toString('base64')}` })],
  ['with a space in it', () => ({ 'x-api-key': key.key.replace(/(.{10})/, '$1 ') })],
  ['with a quote', () => ({ 'x-api-key': `${key.key}'--` })],
  ['SQL', () => ({ 'x-api-key': "sk_' or '1'='1" })],
  ['with characters above ASCII', () => ({ 'x-api-key': `sk_${'é'.repeat(20)}` })],
  ['10 KB long', () => ({ 'x-api-key': `sk_${'a'.repeat(10_240)}` })],
  ['disabled', () => ({ 'x-api-key': disabled.key })],
  ['replaced without a grace', () => ({ 'x-api-key': replaced.key })],
  ['with the tenant of another', () => ({ 'x-api-key': key.key, 'x-tenant-id': other.tenantId })],
  ['of another with my tenant', () => ({ 'x-api-key': other.key, 'x-tenant-id': key.tenantId })],
  ['with an unknown tenant', () => ({ 'x-api-key': key.key, 'x-tenant-id': 'ten_unknown' })],
  ['with an empty tenant', () => ({ 'x-api-key': key.key, 'x-tenant-id': '' })],
  ['with its tenant in small letters', () => ({ 'x-api-key': key.key, 'x-tenant-id': key.tenantId.toLowerCase() })],
  ['with its tenant twice', () => ({ 'x-api-key': key.key, 'x-tenant-id': `${key.tenantId}, ${key.tenantId}` })],
  ['with any tenant', () => ({ 'x-api-key': key.key, 'x-tenant-id': '*' })],
]

/** Swaps two adjacent characters that differ. */
function swapped(text: string): string {
  for (let i = 10; ; i++) {
    const [a, b] = [text.charAt(i), text.charAt(i + 1)]
    if (a !== b) return text.slice(0, i) + b + a + text.slice(i + 2)
  }
}

describe('an API key', () => {
  test.each(ACCEPTED)('is accepted %s', async (_, headers) => {
    expect(await identify(database, new Headers(headers()))).toEqual({
      tenantId: key.tenantId,
      actor: { kind: 'apiKey', id: key.id, role: 'editor' },
      trusted: null,
    })
  })

  test.each(REFUSED)('is refused: %s', async (_, headers) => {
    expect(await identify(database, new Headers(headers()))).toBeNull()
  })

  test('has a format that secret scanners recognise, and a checksum', () => {
    const made = Array.from({ length: 200 }, generateApiKey)
    expect(made.every((one) => /^sk_[0-9A-Za-z]{38}$/.test(one) && looksLikeApiKey(one) && !looksMistyped(one))).toBe(
      true,
    )
    expect(made.every((one) => looksMistyped(swapped(one)))).toBe(true)
    expect(new Set(made).size).toBe(made.length)
  })

  test('is compared in full, at any length', () => {
    const hash = hashApiKey('a')
    expect([hash, hashApiKey('b'), hash.slice(2), '', `${hash}00`].map((text) => sameHash(hash, text))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
  })

  test('is stored in no row', async () => {
    const rows = await database.db.select().from(apiKeys)
    expect(rows.length).toBeGreaterThan(3)
    for (const one of [key, other, disabled, replaced]) expect(JSON.stringify(rows)).not.toContain(one.key)
    expect(JSON.stringify(await listApiKeys(ctx))).not.toMatch(/hash|[0-9a-f]{64}/)
  })

  test('is refused from the next request after it is disabled, and works again once enabled', async () => {
    const made = await createApiKey(ctx, { name: 'Switch' })
    const works = async () => (await identify(database, new Headers({ 'x-api-key': made.key }))) !== null
    expect(await works()).toBe(true)
    await disableApiKey(ctx, made.id)
    expect(await works()).toBe(false)
    await enableApiKey(ctx, made.id)
    expect(await works()).toBe(true)
  })

  test('records its use at most once a minute', async () => {
    const made = await createApiKey(ctx, { name: 'Used' })
    const useAt = async (at: Date, expected: Date) => {
      await identify(database, new Headers({ 'x-api-key': made.key }), at)
      await vi.waitFor(async () => {
        const [row] = await database.db.select().from(apiKeys).where(eq(apiKeys.id, made.id))
        expect(row?.lastUsedAt).toEqual(expected)
      }, PATIENCE)
    }
    const [soon, later] = [new Date(NOW.getTime() + 59_000), new Date(NOW.getTime() + 61_000)]
    await useAt(NOW, NOW)
    await useAt(soon, NOW)
    await useAt(later, later)
  })
})

describe('rotation', () => {
  test('keeps the old key working until the grace period ends, to the millisecond', async () => {
    const old = await createApiKey(ctx, { name: 'Rotated', role: 'viewer' })
    const next = await rotateApiKey(ctx, old.id, 60_000)
    expect(next).toMatchObject({ role: 'viewer', rotatedFrom: old.id })
    const worksAt = async (one: { key: string }, ms: number) =>
      (await identify(database, new Headers({ 'x-api-key': one.key }), new Date(NOW.getTime() + ms))) !== null
    expect([await worksAt(old, 0), await worksAt(old, 59_999), await worksAt(old, 60_000)]).toEqual([true, true, false])
    expect([await worksAt(next, 0), await worksAt(next, 60_000)]).toEqual([true, true])
  })

  test('with a grace of 0 ends the old key at once', async () => {
    const old = await createApiKey(ctx, { name: 'Rotated' })
    const next = await rotateApiKey(ctx, old.id, 0)
    expect(await identify(database, new Headers({ 'x-api-key': old.key }))).toBeNull()
    expect(await identify(database, new Headers({ 'x-api-key': next.key }))).not.toBeNull()
  })

  test('never revives a replaced or disabled key', async () => {
    const old = await createApiKey(ctx, { name: 'Rotated' })
    await rotateApiKey(ctx, old.id, 0)
    await expect(rotateApiKey(ctx, old.id, 60_000)).rejects.toMatchObject({ code: 'CONFLICT' })
    await enableApiKey(ctx, old.id)
    expect(await identify(database, new Headers({ 'x-api-key': old.key }))).toBeNull()
    const off = await createApiKey(ctx, { name: 'Off' })
    await disableApiKey(ctx, off.id)
    await expect(rotateApiKey(ctx, off.id, 60_000)).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('by two callers at once makes one new key', async () => {
    const old = await createApiKey(ctx, { name: 'Rotated' })
    const outcomes = await Promise.allSettled([rotateApiKey(ctx, old.id), rotateApiKey(ctx, old.id)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})

describe('granting roles to keys', () => {
  const pairs = ROLES.flatMap((giver) => ROLES.map((given): [Role, Role] => [giver, given]))
  test.each(pairs)('%s gives %s', async (giver, given) => {
    const allowed = ROLES.indexOf(giver) >= ROLES.indexOf('admin') && ROLES.indexOf(given) <= ROLES.indexOf(giver)
    const outcome = createApiKey(withRole(ctx, giver), { name: 'Given', role: given })
    if (allowed) expect(await outcome).toMatchObject({ role: given })
    else await expect(outcome).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('an admin cannot disable, enable or replace an owner’s key', async () => {
    const owners = await createApiKey(ctx, { name: 'Owner', role: 'owner' })
    const admin = withRole(ctx, 'admin')
    for (const verb of [disableApiKey, enableApiKey, rotateApiKey])
      await expect(verb(admin, owners.id)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await identify(database, new Headers({ 'x-api-key': owners.key }))).not.toBeNull()
  })

  test('nobody reaches a key of another tenant', async () => {
    const [theirs] = await database.db.select().from(apiKeys).where(eq(apiKeys.tenantId, other.tenantId))
    for (const verb of [disableApiKey, enableApiKey, rotateApiKey])
      await expect(verb(ctx, theirs?.id ?? '')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await listApiKeys(ctx)).map(({ id }) => id)).not.toContain(theirs?.id)
  })
})
