import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { users } from '@/db/schema/members'
import { hashPassword, verifyPassword } from '@/server/auth/password'
import type { ServiceContext } from '@/server/context'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { disableSigningSecret } from '@/server/credentials/signing-secrets/disable'
import { listSigningSecrets } from '@/server/credentials/signing-secrets/list'
import { type Keyring, open, readKeyring, seal } from '@/server/crypto'
import { parseEncryptionKeys, readEnv, requirePlatform } from '@/server/env'
import { createMember } from '@/server/members/create'
import { listMembers } from '@/server/members/list'
import { ROLES, type Role } from '@/server/roles'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.LOG_LEVEL = 'silent'
})

const ring = (...hex: string[]) => hex.map((text) => Buffer.from(text.repeat(32), 'hex')) as unknown as Keyring

describe('sealed data', () => {
  test('opens in its own place, and looks different each time', () => {
    const sealed = [seal('secret é', 'a:b', ring('01')), seal('secret é', 'a:b', ring('01'))]
    expect(sealed.map((one) => open(one, 'a:b', ring('01')))).toEqual(['secret é', 'secret é'])
    expect(sealed[0]).not.toBe(sealed[1])
  })

  test('does not open in another place, with another key, truncated, or with any one byte changed', () => {
    const sealed = seal('secret', 'a:b', ring('01'))
    const bytes = Buffer.from(sealed, 'base64')
    const spoiled = [...bytes].map((byte, at) => {
      const copy = Buffer.from(bytes)
      copy[at] = byte ^ 1
      return copy.toString('base64')
    })
    const tries: [string, string, Keyring][] = [
      [sealed, 'a:c', ring('01')],
      [sealed, 'a:b', ring('02')],
      ['', 'a:b', ring('01')],
      [bytes.subarray(0, 28).toString('base64'), 'a:b', ring('01')],
      [bytes.subarray(0, -1).toString('base64'), 'a:b', ring('01')],
      ...spoiled.map((one): [string, string, Keyring] => [one, 'a:b', ring('01')]),
    ]
    for (const [text, place, keys] of tries) expect(() => open(text, place, keys)).toThrow(/./)
    expect(tries.length).toBeGreaterThan(30)
  })

  test('stays readable while a key is replaced', () => {
    const before = seal('old', 'p', ring('01'))
    const during = seal('new', 'p', ring('02', '01'))
    expect([before, during].map((one) => open(one, 'p', ring('02', '01')))).toEqual(['old', 'new'])
    expect(open(during, 'p', ring('02'))).toBe('new')
    expect(() => open(before, 'p', ring('02'))).toThrow('No key')
  })
})

describe('the encryption key', () => {
  let home: string
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'millrace-key-'))
  })
  afterAll(() => rmSync(home, { recursive: true, force: true }))

  test('is generated once, readable only by its owner, and kept', () => {
    const dataDir = join(home, 'new', 'deep')
    const [first] = readKeyring({ dataDir })
    expect(first.length).toBe(32)
    expect(statSync(join(dataDir, 'encryption.key')).mode & 0o777).toBe(0o600)
    expect(readKeyring({ dataDir })[0].equals(first)).toBe(true)
    expect(readdirSync(dataDir)).toEqual(['encryption.key'])
  })

  test('from the environment takes precedence over the stored one', () => {
    const dataDir = join(home, 'both')
    readKeyring({ dataDir })
    expect(readKeyring({ ENCRYPTION_KEY: '01'.repeat(32), dataDir })[0].toString('hex')).toBe('01'.repeat(32))
  })

  test('that cannot be stored is requested in one sentence', () => {
    const file = join(home, 'file')
    writeFileSync(file, '')
    expect(() => readKeyring({ dataDir: join(file, 'data') })).toThrow(/^ENCRYPTION_KEY is missing.*ENOTDIR\.$/)
  })

  test('that is damaged is not replaced, because data sealed with it would be lost', () => {
    const dataDir = join(home, 'spoiled')
    mkdirSync(dataDir)
    writeFileSync(join(dataDir, 'encryption.key'), 'short')
    expect(() => readKeyring({ dataDir })).toThrow('ENCRYPTION_KEY must be 32 random bytes')
    expect(readFileSync(join(dataDir, 'encryption.key'), 'utf8')).toBe('short')
  })

  test('may be base64, base64url or hex, or several separated by commas, and nothing else', () => {
    const bytes = Buffer.alloc(32, 0xfb)
    for (const form of ['base64', 'base64url', 'hex'] as const)
      expect(parseEncryptionKeys(bytes.toString(form))).toEqual([bytes])
    expect(parseEncryptionKeys(`${'01'.repeat(32)}, ${'02'.repeat(32)}`)?.length).toBe(2)
    for (const wrong of ['', 'x', '01'.repeat(31), '01'.repeat(33), `${'01'.repeat(32)},`])
      expect(parseEncryptionKeys(wrong)).toBeNull()
  })

  test('is required where nothing can be stored', () => {
    const vercel = { VERCEL: '1', DATABASE_URL: 'postgres://x/y', INNGEST_EVENT_KEY: 'a', INNGEST_SIGNING_KEY: 'b' }
    expect(() => requirePlatform(readEnv(vercel))).toThrow(/^ENCRYPTION_KEY is required on Vercel/)
    expect(readEnv({ ...vercel, ENCRYPTION_KEY: '01'.repeat(32) }).limitsShared).toBe(true)
    expect(() => readEnv({ ENCRYPTION_KEY: 'short' })).toThrow(/^ENCRYPTION_KEY must be 32 random bytes/)
  })

  test('an audience is the service’s host name, without a port', () => {
    expect(readEnv({}).jwtAudience).toBe('localhost')
    expect(readEnv({ PUBLIC_URL: 'https://millrace.example.com:8443/x' }).jwtAudience).toBe('millrace.example.com')
    expect(readEnv({ PUBLIC_URL: 'https://a.example.com', JWT_AUDIENCE: 'b.example.com' }).jwtAudience).toBe(
      'b.example.com',
    )
  })
})

describe('secrets and members', () => {
  let database: FreshDatabase
  let ctx: ServiceContext
  beforeAll(async () => {
    database = await freshDatabase()
    ctx = await newTenant(database)
  })
  afterAll(() => database.close())

  const pairs = ROLES.flatMap((giver) => ROLES.map((given): [Role, Role] => [giver, given]))

  test.each(pairs)('%s makes a secret whose tokens are %s', async (giver, given) => {
    const harmless = given === 'viewer' || given === 'operator'
    const outcome = createSigningSecret(withRole(ctx, giver), { name: 'Given', role: given })
    if (giver === 'owner' || (giver === 'admin' && harmless)) expect(await outcome).toMatchObject({ role: given })
    else await expect(outcome).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('a secret has 256 random bits, is shown once, and defaults to the role operator', async () => {
    const made = await createSigningSecret(ctx, { name: ' Frontend ' })
    expect(made).toMatchObject({ role: 'operator', id: expect.stringMatching(/^sec_[0-9A-Z]{26}$/) })
    expect(Buffer.from(made.secret, 'base64url').length).toBe(32)
    const listed = await listSigningSecrets(ctx)
    expect(listed.find(({ id }) => id === made.id)?.name).toBe('Frontend')
    expect(JSON.stringify(listed)).not.toMatch(new RegExp(`${made.secret}|sealed`))
  })

  test.each([{}, { name: '' }, { name: 'x', role: 'god' }, { name: 'x'.repeat(201) }, null])(
    'a secret is not made of %j',
    async (input) => {
      await expect(createSigningSecret(ctx, input)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    },
  )

  test('a secret of another tenant does not exist', async () => {
    const theirs = await createSigningSecret(await newTenant(database), { name: 'Theirs' })
    await expect(disableSigningSecret(ctx, theirs.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(disableSigningSecret(ctx, 'sec_unknown')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test.each(pairs)('%s makes a member who is %s', async (giver, given) => {
    const below = giver === 'owner' || (giver === 'admin' && !['admin', 'owner'].includes(given))
    const outcome = createMember(withRole(ctx, giver), { email: `${giver}-${given}@example.com`, role: given })
    if (below) expect(await outcome).toMatchObject({ role: given, password: expect.stringMatching(/^\w{16}$/) })
    else await expect(outcome).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('a member signs in with the password that was shown, and it is stored nowhere', async () => {
    const made = await createMember(ctx, { email: 'Ada@Example.com', name: 'Ada', role: 'editor' })
    expect(made.email).toBe('ada@example.com')
    const row = (await database.db.select().from(users)).find(({ id }) => id === made.userId)
    expect(JSON.stringify(row)).not.toContain(made.password)
    expect(await verifyPassword(made.password ?? '', row?.passwordHash ?? '')).toBe(true)
    expect(await verifyPassword(`${made.password}x`, row?.passwordHash ?? '')).toBe(false)
    expect((await listMembers(ctx)).find(({ userId }) => userId === made.userId)?.name).toBe('Ada')
  })

  test('a known person keeps their password when another tenant adds them', async () => {
    const first = await createMember(ctx, { email: 'bob@example.com', role: 'viewer', password: 'correct horse' })
    const elsewhere = await newTenant(database)
    const taken = { email: 'BOB@example.com', role: 'viewer', password: 'other horse' }
    await expect(createMember(elsewhere, taken)).rejects.toMatchObject({ code: 'CONFLICT' })
    const second = await createMember(elsewhere, { email: 'bob@example.com', role: 'admin' })
    expect(second).toMatchObject({ userId: first.userId, tenantId: elsewhere.tenantId, password: null })
    const row = (await database.db.select().from(users)).find(({ id }) => id === first.userId)
    expect(await verifyPassword('correct horse', row?.passwordHash ?? '')).toBe(true)
    await expect(createMember(elsewhere, { email: 'bob@example.com', role: 'admin' })).rejects.toMatchObject({
      code: 'CONFLICT',
    })
  })

  test('a password can be typed on any keyboard, and a broken hash lets nobody in', async () => {
    const hash = await hashPassword('cafe\u0301')
    expect(await verifyPassword('caf\u00e9', hash)).toBe(true)
    for (const broken of ['', 'x', 'scrypt$1', hash.replace('scrypt', 'plain'), hash.replace('32768', '1073741824')])
      expect(await verifyPassword('caf\u00e9', broken)).toBe(false)
  })
})
