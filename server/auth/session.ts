import 'server-only'
import { and, asc, eq } from 'drizzle-orm'
import NextAuth, { type AuthOptions, type Profile } from 'next-auth'
import { decode, encode, type JWT } from 'next-auth/jwt'
import CredentialsProvider from 'next-auth/providers/credentials'
import GithubProvider from 'next-auth/providers/github'
import GoogleProvider from 'next-auth/providers/google'
import type { Db, Tx } from '@/db/index'
import { members } from '@/db/schema/members'
import { tenants } from '@/db/schema/tenants'
import { isSlug } from '@/lib/slug'
import { now } from '../clock'
import { database } from '../database'
import { env } from '../env'
import { AppError } from '../errors'
import { addressOf } from '../http/address'
import { reachedAt } from '../http/origin'
import { requestIdOf } from '../http/request-id'
import { respondError } from '../http/respond'
import { log } from '../log'
import { type Role, roleOf } from '../roles'
import { deviceCookie } from './device'
import { Email } from './new-user'
import { NodeAnswer, nodeCall, readCookies } from './node-call'
import { sessionSecrets } from './session-secret'
import { revokeSession, SESSION_SECONDS, type SessionUser, startSession, touchSession } from './sessions'
import { admitByAddress, checkPassword } from './sign-in'

export type { SessionUser }

/**
 * next-auth's options, made per request so that nothing is read before the service is set up.
 * @param known receives the address of the user who is signed in with the request or by it
 */
export function authOptions(headers: Headers = new Headers(), known: (email: string) => void = () => {}): AuthOptions {
  const { TRUST_PROXY } = env()
  const db = () => database().db
  return {
    secret: sessionSecrets()[0],
    useSecureCookies: isSecure(headers),
    session: { strategy: 'jwt', maxAge: SESSION_SECONDS, updateAge: 24 * 3600 },
    jwt: { maxAge: SESSION_SECONDS, encode, decode: ({ token }) => openToken(token) },
    pages: { signIn: '/sign-in', signOut: '/sign-in', error: '/sign-in', verifyRequest: '/sign-in' },
    providers: [
      CredentialsProvider({
        credentials: { email: { type: 'email' }, password: { type: 'password' } },
        async authorize(credentials) {
          const client = { address: addressOf(headers, TRUST_PROXY), headers }
          const user = await checkPassword(db(), credentials, client, now()).catch(hide)
          return user && { id: user.userId, email: user.email, name: user.name }
        },
      }),
      ...identityProviders(),
    ],
    callbacks: {
      async signIn({ user, account, profile }) {
        if (account?.provider === 'credentials') return true
        const email = verifiedAddress(profile)
        const admitted = email ? await admitByAddress(db(), { email, name: user.name ?? null }, now()) : null
        // From here on, use our own user id instead of the provider's.
        if (admitted) user.id = admitted.userId
        return admitted !== null
      },
      async jwt({ token, user, trigger }) {
        if (trigger === 'signIn' || trigger === 'signUp') {
          const sid = await startSession(db(), user.id, headers.get('user-agent'), now())
          known(Email.parse(user.email))
          return { sub: user.id, sid }
        }
        const signedIn = await userOf(token)
        if (!signedIn) throw new Error('The session has ended.')
        known(signedIn.email)
        return token
      },
      // Pages get the user from their own data; this only shows that a user is signed in.
      session: ({ session }) => ({ expires: session.expires }),
      redirect: ({ url, baseUrl }) => sameOrigin(url, baseUrl),
    },
    events: {
      async signOut({ token }) {
        if (typeof token?.sid === 'string') await revokeSession(db(), token.sid, now())
      },
    },
    logger: {
      error: (code) => log().info({ code }, 'sign-in failed'),
      warn: (code) => log().debug({ code }, 'sign-in'),
      debug: () => {},
    },
  }
}

const ACTIONS = ['callback', 'csrf', 'error', 'providers', 'session', 'signin', 'signout']

/**
 * Answers a request to `/api/auth/…`. Calls next-auth through its older Node interface, with a request and a response
 * of our own: that needs nothing from the framework, and lets us remove input that would make it answer 500.
 */
export async function handleAuth(request: Request): Promise<Response> {
  const requestId = requestIdOf(request)
  try {
    const url = new URL(request.url)
    const nextauth = url.pathname.split('/').slice(3)
    if (!ACTIONS.includes(nextauth[0] ?? '')) throw new AppError('NOT_FOUND')
    const call = await nodeCall(request, signInAt(request.headers), nextauth)
    const answer = new NodeAnswer()
    let email: string | null = null
    const options = authOptions(request.headers, (known) => {
      email = known
    })
    // Typed for Next's own request and response, but uses only the parts that these two have.
    await NextAuth(call as never, answer as never, options)
    const response = answer.toResponse(requestId)
    const cookie = email && (await deviceCookie(request.headers, email, isSecure(request.headers)))
    if (cookie) response.headers.append('set-cookie', cookie)
    return response
  } catch (err) {
    return respondError(err, requestId)
  }
}

/** The configured identity providers, for the sign-in page. */
export function identityProviderNames(): { id: string; name: string }[] {
  return identityProviders().map(({ id, name }) => ({ id, name }))
}

function identityProviders() {
  const { GITHUB_ID, GITHUB_SECRET, GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET } = env()
  const github = GITHUB_ID && GITHUB_SECRET ? { clientId: GITHUB_ID, clientSecret: GITHUB_SECRET } : null
  const google =
    GOOGLE_CLIENT_ID && GOOGLE_CLIENT_SECRET ? { clientId: GOOGLE_CLIENT_ID, clientSecret: GOOGLE_CLIENT_SECRET } : null
  return [
    ...(github ? [GithubProvider({ ...github, userinfo: { request: githubProfile } })] : []),
    ...(google ? [GoogleProvider(google)] : []),
  ]
}

/** The profile with the primary address and whether it is verified, which the profile itself does not include. */
async function githubProfile({ tokens }: { tokens: { access_token?: string | undefined } }): Promise<Profile> {
  const ask = async (path: string) => {
    const response = await fetch(`https://api.github.com${path}`, {
      headers: { authorization: `Bearer ${tokens.access_token}`, accept: 'application/vnd.github+json' },
      signal: AbortSignal.timeout(10_000),
    })
    if (!response.ok) throw new Error(`GitHub answered ${response.status}.`)
    return response.json()
  }
  const [profile, emails] = await Promise.all([ask('/user'), ask('/user/emails')])
  const addresses: { email: string; primary: boolean; verified: boolean }[] = emails
  const primary = addresses.find((it) => it.primary)
  return { ...profile, email: primary?.email, email_verified: primary?.verified === true }
}

/** Exported for its test. */
export function verifiedAddress(profile: Profile | undefined): string | null {
  if (!profile?.email || !('email_verified' in profile)) return null
  return profile.email_verified === true ? profile.email : null
}

/** Passes on only a reason that the person can act on, because next-auth puts the message into a URL. */
function hide(err: unknown): never {
  if (err instanceof AppError && err.code === 'RATE_LIMITED') throw new Error('RateLimited')
  log().error({ err }, 'sign-in failed')
  throw new Error('Unavailable')
}

function sameOrigin(url: string, baseUrl: string): string {
  if (!URL.canParse(url, baseUrl)) return baseUrl
  const target = new URL(url, baseUrl)
  return target.origin === new URL(baseUrl).origin ? target.href : baseUrl
}

/** The origin people sign in at. */
function signInAt(headers: Headers): { protocol: 'http' | 'https'; host: string } {
  const { NEXTAUTH_URL } = env()
  if (!NEXTAUTH_URL) return reachedAt(headers)
  return { protocol: NEXTAUTH_URL.startsWith('https://') ? 'https' : 'http', host: new URL(NEXTAUTH_URL).host }
}

function isSecure(headers: Headers): boolean {
  return signInAt(headers).protocol === 'https'
}

async function openToken(token: string | undefined): Promise<JWT | null> {
  if (!token) return null
  for (const secret of sessionSecrets()) {
    const opened = await decode({ token, secret }).catch(() => null)
    if (opened) return opened
  }
  return null
}

async function userOf(token: JWT | null): Promise<SessionUser | null> {
  if (typeof token?.sid !== 'string' || typeof token.sub !== 'string') return null
  return touchSession(database().db, token.sid, token.sub, now())
}

/** The user signed in with the request's cookie; null without one or if the session has ended. */
export async function readSession(headers: Headers): Promise<SessionUser | null> {
  const name = `${isSecure(headers) ? '__Secure-' : ''}next-auth.session-token`
  const value = readCookies(headers)[name]
  return value ? userOf(await openToken(value)) : null
}

interface Membership {
  tenantId: string
  slug: string
  tenantName: string
  role: Role
}

const MEMBERSHIP = { tenantId: tenants.id, slug: tenants.slug, tenantName: tenants.name, role: members.role }

/**
 * The person's membership in the tenant with this slug; null both for an unknown slug and for a tenant they do not
 * belong to.
 */
export async function findMembership(db: Db | Tx, userId: string, slug: string): Promise<Membership | null> {
  if (!isSlug(slug)) return null
  const [row] = await db
    .select(MEMBERSHIP)
    .from(members)
    .innerJoin(tenants, eq(tenants.id, members.tenantId))
    .where(and(eq(members.userId, userId), eq(tenants.slug, slug)))
  return row ? { ...row, role: roleOf(row.role) } : null
}

/** All memberships of the person, sorted by the tenant's name. */
export async function listMemberships(db: Db | Tx, userId: string): Promise<Membership[]> {
  const rows = await db
    .select(MEMBERSHIP)
    .from(members)
    .innerJoin(tenants, eq(tenants.id, members.tenantId))
    .where(eq(members.userId, userId))
    .orderBy(asc(tenants.name), asc(tenants.id))
  return rows.map((row) => ({ ...row, role: roleOf(row.role) }))
}
