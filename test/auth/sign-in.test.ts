import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { handleAuth } from '@/server/auth/session'
import { checkPassword } from '@/server/auth/sign-in'
import { createMember } from '@/server/members/create'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { Browser } from './browser'

vi.hoisted(() => {
  Object.assign(process.env, {
    LOG_LEVEL: 'silent',
    AUTH_TRUST_HOST: '1',
    NEXTAUTH_SECRET: 'a secret of these tests',
    RATE_LIMIT_FAILURES: '5',
  })
})

const PASSWORD = 'correct-horse-battery'
let database: FreshDatabase
let email: string
let people = 0
let addresses = 0
// One fixed time for all attempts of a test, because limits refill over time.
let now = new Date()

beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
})
afterAll(() => database.close())
beforeEach(async () => {
  now = new Date()
  email = await newPerson()
})

async function newPerson(): Promise<string> {
  people += 1
  const address = `ada${people}@example.com`
  await createMember(await newTenant(database), { email: address, name: 'Ada', role: 'editor', password: PASSWORD })
  return address
}

function newAddress(): string {
  addresses += 1
  return `10.3.0.${addresses}`
}
const attempt = (password: string, from = newAddress(), of = email) =>
  checkPassword(database.db, { email: of, password }, { address: from, headers: new Headers() }, now)

test('an address in any case, with its password, identifies a person', async () => {
  const ada = { userId: expect.stringMatching(/^usr_/), email, name: 'Ada' }
  expect(await attempt(PASSWORD)).toEqual(ada)
  expect(await attempt(PASSWORD, newAddress(), email.toUpperCase())).toEqual(ada)
  expect(await attempt(PASSWORD.toUpperCase())).toBeNull()
})

test('an unknown address costs as much work as a wrong password', async () => {
  // Measure work, not time, which is unreliable on a busy machine.
  const work = async (of: string) => {
    const before = process.cpuUsage()
    for (let i = 0; i < 3; i++) expect(await attempt('wrong-horse-battery', newAddress(), of)).toBeNull()
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  await work('first@example.com')
  const known = await work(email)
  const unknown = await work('nobody@example.com')
  expect(unknown / known).toBeGreaterThan(0.5)
  expect(unknown / known).toBeLessThan(2)
})

describe('attempts are limited', () => {
  const limited = { code: 'RATE_LIMITED', status: 429 }

  test('per account, from every browser that never signed in to it, and even with the right password', async () => {
    for (let i = 0; i < 5; i++) expect(await attempt('wrong-horse-battery')).toBeNull()
    await expect(attempt(PASSWORD)).rejects.toMatchObject(limited)
    now = new Date(now.getTime() + 60_000)
    expect(await attempt(PASSWORD)).toMatchObject({ email })
  })

  test('for accounts that do not exist too', async () => {
    const of = `nobody${people}@example.com`
    for (let i = 0; i < 5; i++) expect(await attempt(PASSWORD, newAddress(), of)).toBeNull()
    await expect(attempt(PASSWORD, newAddress(), of)).rejects.toMatchObject(limited)
  })

  test('per address they come from, for any account they name', async () => {
    const from = newAddress()
    for (let i = 0; i < 5; i++) expect(await attempt('x', from, `not an address ${i}`)).toBeNull()
    await expect(attempt(PASSWORD, from)).rejects.toMatchObject(limited)
    expect(await attempt(PASSWORD)).toMatchObject({ email })
  })

  test('and the form says so', async () => {
    const browser = new Browser(handleAuth, 'http://localhost:4321', newAddress())
    await browser.get('/api/auth/csrf')
    const answers = await Promise.all(Array.from({ length: 12 }, () => browser.signIn('not an address', 'x')))
    const errors = answers.map(({ error }) => error)
    expect(new Set(errors)).toEqual(new Set(['CredentialsSignin', 'RateLimited']))
  })

  test('but nobody else’s guesses keep a browser out that has signed in to the account', async () => {
    const ada = await signedOut(email)
    const other = await signedOut(await newPerson())
    // The limit is per minute, and this machine may be slow.
    now = new Date(Date.now() + 50_000)
    for (let i = 0; i < 80; i++) await attempt('wrong-horse-battery').catch(() => {})
    // Neither another account's cookie nor an invented one counts for this account.
    const [[name = '', value = ''] = []] = devicesOf(ada)
    const [[, foreign = ''] = []] = devicesOf(other)
    other.cookies.set(name, foreign)
    expect((await other.signIn(email, PASSWORD)).error).toBe('RateLimited')
    other.cookies.set(name, `${value.slice(0, -4)}AAAA`)
    expect((await other.signIn(email, PASSWORD)).error).toBe('RateLimited')
    expect(await ada.signIn(email, PASSWORD)).toMatchObject({ status: 200, error: null })
  })

  test('nor those from the address that it shares with them', async () => {
    const from = newAddress()
    const ada = await signedOut(email, from)
    now = new Date(Date.now() + 50_000)
    for (let i = 0; i < 12; i++) await attempt('x', from, `nobody${i}@example.com`).catch(() => {})
    await expect(attempt(PASSWORD, from)).rejects.toMatchObject(limited)
    expect((await ada.signIn(email, PASSWORD)).error).toBeNull()
  })

  test('per browser that has signed in, whose guesses do not count against others', async () => {
    const ada = await signedOut(email)
    const errors: unknown[] = []
    for (let i = 0; i < 12; i++) errors.push((await ada.signIn(email, 'wrong-horse-battery')).error)
    expect(new Set(errors)).toEqual(new Set(['CredentialsSignin', 'RateLimited']))
    expect(await attempt(PASSWORD)).toMatchObject({ email })
  })

  test('and a browser that was signed in before browsers were known is known from its next visit on', async () => {
    const ada = new Browser(handleAuth, 'http://localhost:4321', newAddress())
    await ada.signIn(email, PASSWORD)
    for (const [name] of devicesOf(ada)) ada.cookies.delete(name)
    await ada.get('/api/auth/session')
    expect(devicesOf(ada)).toHaveLength(1)
    ada.setCookies = []
    await ada.get('/api/auth/session')
    expect(ada.setCookies.filter((cookie) => cookie.includes('device'))).toEqual([])
  })
})

const devicesOf = ({ cookies }: Browser) => [...cookies].filter(([name]) => name.includes('millrace.device'))

/** A browser in which a person has signed in, and out again. */
async function signedOut(of: string, from = newAddress()): Promise<Browser> {
  const browser = new Browser(handleAuth, 'http://localhost:4321', from)
  expect((await browser.signIn(of, PASSWORD)).error).toBeNull()
  await browser.post('/api/auth/signout')
  return browser
}
