import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { vaultSecrets } from '@/db/schema/vault'
import type { ServiceContext } from '@/server/context'
import { deleteVaultSecret } from '@/server/vault/delete'
import { listVaultSecrets } from '@/server/vault/list'
import { readVaultSecrets } from '@/server/vault/read'
import { setVaultSecret } from '@/server/vault/set'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
})

let database: FreshDatabase
let ctx: ServiceContext
let other: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
  other = await newTenant(database)
})
afterAll(() => database.drop())

describe('the vault', () => {
  test('gives values to tools only; the list has names and dates', async () => {
    expect(await setVaultSecret(ctx, { name: 'API_KEY', value: 'first value' })).toEqual({
      name: 'API_KEY',
      created: true,
    })
    expect(await setVaultSecret(ctx, { name: 'API_KEY', value: 'second value' })).toEqual({
      name: 'API_KEY',
      created: false,
    })
    await setVaultSecret(ctx, { name: 'A', value: ' spaces stay ' })
    const list = await listVaultSecrets(ctx)
    expect(list.map(({ name }) => name)).toEqual(['A', 'API_KEY'])
    expect(Object.keys(list[0] ?? {}).sort()).toEqual(['createdAt', 'createdBy', 'name', 'updatedAt', 'updatedBy'])
    expect(JSON.stringify(list)).not.toMatch(/value|spaces/)
    expect(await readVaultSecrets(ctx, ['API_KEY', 'A'])).toEqual(
      new Map([
        ['API_KEY', 'second value'],
        ['A', ' spaces stay '],
      ]),
    )
    expect(JSON.stringify(await database.db.select().from(vaultSecrets))).not.toMatch(/second|spaces stay/)
  })

  test('belongs to one tenant: others get neither values nor names', async () => {
    await setVaultSecret(ctx, { name: 'MINE', value: 'mine only' })
    expect(await listVaultSecrets(other)).toEqual([])
    await expect(readVaultSecrets(other, ['MINE'])).rejects.toThrow('no secret MINE')
    await expect(deleteVaultSecret(other, 'MINE')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await readVaultSecrets(ctx, ['MINE'])).get('MINE')).toBe('mine only')
  })

  test('a row copied to another name or tenant cannot be decrypted, and the error contains no value', async () => {
    await setVaultSecret(ctx, { name: 'SOURCE', value: 'sealed here' })
    await setVaultSecret(other, { name: 'SOURCE', value: 'to be replaced' })
    const [row] = await database.db.select().from(vaultSecrets).where(eq(vaultSecrets.name, 'SOURCE'))
    for (const target of [
      { tenantId: other.tenantId, name: 'SOURCE' },
      { tenantId: row?.tenantId ?? '', name: 'COPY' },
    ]) {
      await database.db
        .insert(vaultSecrets)
        .values({ ...target, sealed: row?.sealed ?? '', createdBy: 'x', updatedBy: 'x' })
        .onConflictDoUpdate({ target: [vaultSecrets.tenantId, vaultSecrets.name], set: { sealed: row?.sealed ?? '' } })
    }
    const mine = row?.tenantId === ctx.tenantId ? ctx : other
    const theirs = mine === ctx ? other : ctx
    await expect(readVaultSecrets(mine, ['COPY'])).rejects.toThrow('no secret COPY')
    if (theirs === other) await expect(readVaultSecrets(other, ['SOURCE'])).rejects.toThrow('no secret SOURCE')
  })

  test('all missing secrets are named', async () => {
    await expect(readVaultSecrets(ctx, ['NO1', 'API_KEY', 'NO2'])).rejects.toThrow('no secret NO1, NO2')
    expect(await readVaultSecrets(ctx, [])).toEqual(new Map())
  })

  test.each([
    { name: '', value: 'long enough' },
    { name: '1A', value: 'long enough' },
    { name: 'a-b', value: 'long enough' },
    { name: '__proto__', value: 'long enough' },
    { name: 'constructor', value: 'long enough' },
    { name: 'x'.repeat(101), value: 'long enough' },
    { name: 'OK', value: 'abc' },
    { name: 'OK', value: 'x'.repeat(16_385) },
    { name: 'OK', value: 'with\u0000nul' },
    { name: 'OK', value: '\ud800lone' },
    { name: 'OK' },
    { name: 'OK', value: 12345 },
  ])('rejects %j', async (input) => {
    await expect(setVaultSecret(ctx, input)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('is for admins', async () => {
    const editor = withRole(ctx, 'editor')
    await expect(setVaultSecret(editor, { name: 'X', value: 'long enough' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await expect(listVaultSecrets(editor)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(deleteVaultSecret(editor, 'API_KEY')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await setVaultSecret(withRole(ctx, 'admin'), { name: 'BY_ADMIN', value: 'long enough' })
    expect(await deleteVaultSecret(withRole(ctx, 'admin'), 'BY_ADMIN')).toEqual({ name: 'BY_ADMIN', deleted: true })
    await expect(deleteVaultSecret(ctx, 'BY_ADMIN')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
