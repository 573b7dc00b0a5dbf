import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { vaultSecrets } from '@/db/schema/vault'
import type { ServiceContext } from '@/server/context'
import { seal } from '@/server/crypto'
import { bindVaultSecret } from '@/server/vault/bind'
import { deleteVaultSecret } from '@/server/vault/delete'
import { listVaultSecrets } from '@/server/vault/list'
import { tenantMasker } from '@/server/vault/masker'
import { readVaultSecrets } from '@/server/vault/read'
import { vaultPlace } from '@/server/vault/schema'
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
afterAll(() => database.close())

describe('the vault', () => {
  test('gives values to tools only; the list has names and dates', async () => {
    expect(await setVaultSecret(ctx, { name: 'API_KEY', value: 'the first value' })).toEqual({
      name: 'API_KEY',
      created: true,
    })
    expect(await setVaultSecret(ctx, { name: 'API_KEY', value: 'the second value' })).toEqual({
      name: 'API_KEY',
      created: false,
    })
    await setVaultSecret(ctx, { name: 'A', value: ' the spaces go \n' })
    const list = await listVaultSecrets(ctx)
    expect(list.map(({ name }) => name)).toEqual(['A', 'API_KEY'])
    expect(Object.keys(list[0] ?? {}).sort()).toEqual([
      'createdAt',
      'createdBy',
      'hosts',
      'name',
      'short',
      'updatedAt',
      'updatedBy',
    ])
    expect(JSON.stringify(list)).not.toMatch(/value|spaces/)
    expect((await readVaultSecrets(ctx, ['API_KEY', 'A'])).values).toEqual(
      new Map([
        ['API_KEY', 'the second value'],
        ['A', 'the spaces go'],
      ]),
    )
    expect(JSON.stringify(await database.db.select().from(vaultSecrets))).not.toMatch(/second|spaces stay/)
  })

  test('keeps its value if only a new secret may be stored', async () => {
    const set = (value: string) => setVaultSecret(ctx, { name: 'ONCE', value }, { onlyNew: true })
    expect(await set('the value that stays')).toEqual({ name: 'ONCE', created: true })
    await expect(set('a value that comes late')).rejects.toMatchObject({ code: 'CONFLICT' })
    expect((await readVaultSecrets(ctx, ['ONCE'])).values.get('ONCE')).toBe('the value that stays')
  })

  test('belongs to one tenant: others get neither values nor names', async () => {
    await setVaultSecret(ctx, { name: 'MINE', value: 'mine and only mine' })
    expect(await listVaultSecrets(other)).toEqual([])
    await expect(readVaultSecrets(other, ['MINE'])).rejects.toThrow('no secret MINE')
    await expect(deleteVaultSecret(other, 'MINE')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await readVaultSecrets(ctx, ['MINE'])).values.get('MINE')).toBe('mine and only mine')
  })

  test('a row copied to another name or tenant cannot be decrypted, and the error contains no value', async () => {
    await setVaultSecret(ctx, { name: 'SOURCE', value: 'sealed right here' })
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
    expect((await readVaultSecrets(ctx, [])).values).toEqual(new Map())
  })

  test.each([
    { name: '', value: 'a value long enough' },
    { name: '1A', value: 'a value long enough' },
    { name: 'a-b', value: 'a value long enough' },
    { name: '__proto__', value: 'a value long enough' },
    { name: 'constructor', value: 'a value long enough' },
    { name: 'x'.repeat(101), value: 'a value long enough' },
    { name: 'OK', value: 'elevenchars' },
    { name: 'OK', value: '  not twelve  ' },
    { name: 'OK', value: 'a value long enough', hosts: [] },
    { name: 'OK', value: 'a value long enough', hosts: ['https://a.example.com'] },
    { name: 'OK', value: 'x'.repeat(16_385) },
    { name: 'OK', value: 'with\u0000nul' },
    { name: 'OK', value: '\ud800lone' },
    { name: 'OK' },
    { name: 'OK', value: 12345 },
  ])('rejects %j', async (input) => {
    await expect(setVaultSecret(ctx, input)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('keeps where a secret may go when its value is replaced, and never lets go of it', async () => {
    const hostsOf = async (name: string) => (await listVaultSecrets(ctx)).find((one) => one.name === name)?.hosts
    await setVaultSecret(ctx, { name: 'KEPT', value: 'a value long enough' })
    expect(await hostsOf('KEPT')).toBeNull()
    const bound = await bindVaultSecret(ctx, { name: 'KEPT', hosts: ['API.example.com', 'api.example.com. '] })
    expect(bound).toEqual({ name: 'KEPT', hosts: ['api.example.com'] })
    await setVaultSecret(ctx, { name: 'KEPT', value: 'another value long enough' })
    expect(await hostsOf('KEPT')).toEqual(['api.example.com'])
    await setVaultSecret(ctx, { name: 'KEPT', value: 'a value long enough', hosts: ['b.example.com:8443'] })
    expect(await hostsOf('KEPT')).toEqual(['b.example.com:8443'])
    for (const hosts of [[], null, undefined, 'a.example.com', ['']])
      await expect(bindVaultSecret(ctx, { name: 'KEPT', hosts })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(await hostsOf('KEPT')).toEqual(['b.example.com:8443'])
    await expect(bindVaultSecret(other, { name: 'KEPT', hosts: ['a.example.com'] })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  test('flags values from before short ones were refused, and no others', async () => {
    const old = { tenantId: ctx.tenantId, createdBy: 'x', updatedBy: 'x' }
    const sealed = seal('hunter2', vaultPlace(ctx.tenantId, 'OLD'))
    await database.db.insert(vaultSecrets).values({ ...old, name: 'OLD', sealed })
    await setVaultSecret(ctx, { name: 'NEW', value: 'twelve chars' })
    const flagged = (await listVaultSecrets(ctx)).filter(({ short }) => short)
    expect(flagged.map(({ name }) => name)).toEqual(['OLD'])
    expect((await tenantMasker(ctx)).text('it is hunter2')).toBe('it is ***')
  })

  test('is for admins', async () => {
    const editor = withRole(ctx, 'editor')
    await expect(setVaultSecret(editor, { name: 'X', value: 'a value long enough' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await expect(listVaultSecrets(editor)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(bindVaultSecret(editor, { name: 'API_KEY', hosts: ['a.example.com'] })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await expect(deleteVaultSecret(editor, 'API_KEY')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await setVaultSecret(withRole(ctx, 'admin'), { name: 'BY_ADMIN', value: 'a value long enough' })
    expect(await deleteVaultSecret(withRole(ctx, 'admin'), 'BY_ADMIN')).toEqual({ name: 'BY_ADMIN', deleted: true })
    await expect(deleteVaultSecret(ctx, 'BY_ADMIN')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
