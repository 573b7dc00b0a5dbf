import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { corsOrigins } from '@/db/schema/cors'
import { users } from '@/db/schema/members'
import { signingSecrets } from '@/db/schema/secrets'
import { secretPlace } from '@/server/auth/jwt'
import { verifyPassword } from '@/server/auth/password'
import { open, readKeyring } from '@/server/crypto'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

const run = promisify(execFile)
let database: FreshDatabase
let dataDir: string
let tenant: string

beforeAll(async () => {
  database = await freshDatabase()
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-admin-'))
  tenant = (await newTenant(database)).tenantId
})
afterAll(async () => {
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

const admin = (...args: string[]) => adminWith({}, ...args)

async function adminWith(settings: Record<string, string>, ...args: string[]): Promise<Outcome> {
  const command = ['--import', 'tsx', '--conditions=react-server', 'cli/admin.ts', ...args, '--json']
  const env = { ...process.env, DATABASE_URL: database.url, DATA_DIR: dataDir, JWT_AUDIENCE: 'app.example.com' }
  try {
    const { stdout, stderr } = await run(process.execPath, command, {
      env: { ...env, ENCRYPTION_KEY: '', ...settings },
    })
    return { code: 0, stdout, stderr }
  } catch (error) {
    return error as Outcome
  }
}

describe('the admin command', () => {
  test('does not run a deployment’s migrations, nor use production’s database for a preview', async () => {
    const preview = { VERCEL: '1', VERCEL_ENV: 'preview' }
    expect(await adminWith(preview, 'key', 'list', '--tenant', tenant)).toMatchObject({ code: 0 })
    await database.sql`update drizzle.__drizzle_migrations set created_at = -created_at`
    expect(await adminWith(preview, 'key', 'list', '--tenant', tenant)).toMatchObject({
      code: 1,
      stderr: 'The database is older than this version. Run: npm run db:migrate.\n',
    })
    await database.sql`update drizzle.__drizzle_migrations set created_at = -created_at`
    await database.sql`
      insert into installation (deployment) values ('production') on conflict (id) do update set deployment = 'production'`
    expect((await adminWith(preview, 'key', 'list', '--tenant', tenant)).stderr).toMatch(
      /^This is a preview, and DATABASE_URL names/,
    )
    expect(await adminWith({ VERCEL: '1', VERCEL_ENV: 'production' }, 'key', 'list', '--tenant', tenant)).toMatchObject(
      { code: 0 },
    )
  })

  test('creates secrets that the service can open, with a single key even if several processes create the first', async () => {
    const made = await Promise.all(
      ['a', 'b', 'c'].map((name) => admin('secret', 'create', '--tenant', tenant, '--name', name)),
    )
    const secrets = made.map(({ stdout }) => JSON.parse(stdout) as { id: string; secret: string; audience: string })
    const rows = await database.db.select().from(signingSecrets)
    const keys = readKeyring({ dataDir })
    for (const { id, secret, audience } of secrets) {
      const row = rows.find((one) => one.id === id)
      expect(open(row?.sealed ?? '', secretPlace(tenant, id), keys)).toBe(secret)
      expect([audience, row?.role]).toEqual(['app.example.com', 'operator'])
    }
    expect(readdirSync(dataDir)).toEqual(['encryption.key'])
    expect(statSync(join(dataDir, 'encryption.key')).mode & 0o777).toBe(0o600)
  })

  test('disables and enables a secret, and lists it without its value', async () => {
    const { id, secret } = JSON.parse(
      (await admin('secret', 'create', '--tenant', tenant, '--name', 'x', '--role', 'owner')).stdout,
    )
    expect(JSON.parse((await admin('secret', 'disable', '--id', id)).stdout)).toEqual({
      id,
      tenantId: tenant,
      disabled: true,
    })
    const { stdout } = await admin('secret', 'list', '--tenant', tenant)
    expect(JSON.parse(stdout).find((one: { id: string }) => one.id === id)).toMatchObject({
      role: 'owner',
      disabledAt: expect.any(String),
    })
    expect(stdout).not.toContain(secret)
    expect(JSON.parse((await admin('secret', 'enable', '--id', id)).stdout).disabled).toBe(false)
  })

  test('creates a member and shows a password that works', async () => {
    const { stdout } = await admin(
      'member',
      'create',
      '--tenant',
      tenant,
      '--email',
      'Ada@example.com',
      '--name',
      'Ada',
      '--role',
      'owner',
    )
    const made = JSON.parse(stdout)
    expect(made).toEqual({
      userId: expect.any(String),
      tenantId: tenant,
      email: 'ada@example.com',
      role: 'owner',
      password: expect.any(String),
      signInUrl: 'http://localhost:3000/sign-in',
    })
    const [row] = await database.db.select().from(users)
    expect(await verifyPassword(made.password, row?.passwordHash ?? '')).toBe(true)
  })

  test('sets the origins of a tenant', async () => {
    const set = (origins: string) => admin('cors', 'set', '--tenant', tenant, '--origins', origins)
    expect(JSON.parse((await set('https://b.example.com, https://a.example.com')).stdout)).toEqual({
      tenantId: tenant,
      origins: ['https://a.example.com', 'https://b.example.com'],
    })
    const refused = await set('https://*.example.com')
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain('origins[0]: must be an origin such as')
    expect((await database.db.select().from(corsOrigins)).length).toBe(2)
    expect(JSON.parse((await set('')).stdout).origins).toEqual([])
  })

  test.each([
    [['secret', 'create', '--name', 'x'], 2, '--tenant is missing.'],
    [['secret', 'create', '--tenant', 'ten_none', '--name', 'x'], 1, 'Tenant not found'],
    [['secret', 'create', '--tenant', 'ten_none', '--name', 'x', '--role', 'god'], 1, 'Tenant not found'],
    [['secret', 'disable', '--id', 'sec_none'], 1, 'Signing secret not found'],
    [['member', 'create', '--tenant', 'ten_none', '--email', 'x', '--role', 'owner'], 1, 'Tenant not found'],
    [['member', 'create', '--nonsense'], 2, "Unknown option '--nonsense'"],
    [['nonsense'], 2, 'millrace admin'],
  ])('explains what is wrong with %j', async (args, code, text) => {
    const outcome = await admin(...args)
    expect([outcome.code, outcome.stdout]).toEqual([code, ''])
    expect(outcome.stderr).toContain(text)
    expect(outcome.stderr).not.toMatch(/\n\s+at /)
  })
})
