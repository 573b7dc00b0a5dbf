import type { BrowserContext } from '@playwright/test'
import { eq } from 'drizzle-orm'
import { encode } from 'next-auth/jwt'
import { openDatabase } from '@/db/index'
import { members, users } from '@/db/schema/members'
import { tenants } from '@/db/schema/tenants'
import { hashPassword } from '@/server/auth/password'
import { sessionSecrets } from '@/server/auth/session-secret'
import { SESSION_SECONDS, startSession } from '@/server/auth/sessions'
import { type ServiceContext, systemContext, withTransaction } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { newId } from '@/server/ids'
import type { Log } from '@/server/log'
import type { Role } from '@/server/roles'
import { createTenant } from '@/server/tenants/create'

export interface Person {
  userId: string
  name: string
  email: string
  role: Role
}

/** One test's own tenant. */
export interface Workspace {
  tenantId: string
  slug: string
  /** For the product's own verbs, as an owner. */
  ctx: ServiceContext
  owner: Person
  /** A key with the role owner. */
  apiKey: string
}

/** Everyone's password. */
export const PASSWORD = 'a-password-of-tests'

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }
let opened: ReturnType<typeof openDatabase> | undefined
let passwordHash: Promise<string> | undefined

/** The service's database, opened in this process. */
export function database() {
  opened ??= openDatabase(process.env.DATABASE_URL ?? '', { max: 3, applicationName: 'millrace-e2e' })
  return opened
}

export async function newWorkspace(name = 'Northwind Supply', tenantId = newId('ten')): Promise<Workspace> {
  const system = systemContext({ tenantId, db: database().db, log: silent })
  const { slug } = await withTransaction(system, (tx) => createTenant(tx, { name }))
  const owner = await newPerson(system, 'owner', 'Ada Lovelace')
  const actor = { kind: 'user' as const, id: owner.userId, name: owner.name, sessionId: '', role: owner.role }
  const ctx = { ...system, actor }
  const { key } = await createApiKey(ctx, { name: 'Provisioning', role: 'owner' })
  return { tenantId, slug, ctx, owner, apiKey: key }
}

/** A member who can sign in with `PASSWORD`. */
export async function newPerson(ctx: ServiceContext, role: Role, name: string = role): Promise<Person> {
  passwordHash ??= hashPassword(PASSWORD)
  const userId = newId('usr')
  const now = ctx.now()
  const shared = { id: userId, name, passwordHash: await passwordHash, addressProvenAt: now, createdAt: now }
  for await (const email of addresses(ctx, name)) {
    const made = await ctx.db
      .insert(users)
      .values({ ...shared, email })
      .onConflictDoNothing({ target: users.email })
      .returning({ id: users.id })
    if (made.length === 0) continue
    await ctx.db.insert(members).values({ tenantId: ctx.tenantId, userId, role, createdAt: now })
    return { userId, name, email, role }
  }
  throw new Error('the addresses never end')
}

/** Addresses to try in order until one is free. Each workspace of a service has a domain of its own. */
async function* addresses({ db, tenantId }: ServiceContext, name: string): AsyncGenerator<string> {
  const [tenant] = await db.select({ slug: tenants.slug }).from(tenants).where(eq(tenants.id, tenantId))
  const domain = `${tenant?.slug.replace('-supply', '')}.example`
  // Two words: an address ends before the text that follows them in a hostile name.
  const person =
    name
      .toLowerCase()
      .match(/[a-z]+/g)
      ?.slice(0, 2)
      .join('.') ?? 'member'
  yield `${person}@${domain}`
  for (let n = 2; ; n++) yield `${person}.${n}@${domain}`
}

/** Chromium's User-Agent. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'

/** The same cookie that signing in sets. The sign-in form has its own spec. */
export async function sessionCookie(person: Person): Promise<{ name: string; value: string }> {
  const sid = await startSession(database().db, person.userId, BROWSER, new Date())
  const value = await encode({
    token: { sub: person.userId, sid },
    secret: sessionSecrets()[0],
    maxAge: SESSION_SECONDS,
  })
  return { name: 'next-auth.session-token', value }
}

export async function signIn(context: BrowserContext, person: Person): Promise<void> {
  await context.addCookies([{ ...(await sessionCookie(person)), url: process.env.BASE_URL ?? '', httpOnly: true }])
}
