import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { signingSecrets } from '@/db/schema/secrets'
import { readTokenPart, TokenRefused, verifyToken } from '../../auth/jwt'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { JsonObject } from '../../definition/json'
import { env } from '../../env'
import { parseInput } from '../../parse'

const DebugToken = z.object({ token: z.string().trim().min(1).max(20_000) })

/** In the order of the checks. */
const CHECKS = ['form', 'algorithm', 'kid', 'secret', 'signature', 'aud', 'exp', 'iat', 'sub', 'context'] as const
type Check = (typeof CHECKS)[number]

export interface TokenReport {
  accepted: boolean
  checks: { name: Check; state: 'passed' | 'failed' | 'unknown'; message: string | null }[]
  /** The token's content, verified or not; null if unreadable. */
  header: JsonObject | null
  payload: JsonObject | null
  audience: string
  /** The identity of a caller with this token: the end user, with the secret's role. Null for a rejected token. */
  caller: { sub: string; role: string; secretName: string; longLived: boolean } | null
}

/**
 * Reports which checks a token passes and which one it fails. The token is not stored or logged, and the check does not
 * count as a use.
 * @throws AppError INVALID_INPUT
 */
export async function debugToken(ctx: ServiceContext, input: unknown): Promise<TokenReport> {
  authorize(ctx, 'secret:manage')
  const { token } = parseInput(DebugToken, input)
  const { jwtAudience: audience } = env()
  const [header = null, payload = null] = token.split('.').slice(0, 2).map(readTokenPart)
  const said = { header, payload, audience }
  try {
    const { secret, sub, longLived } = await verifyToken(token, {
      audience,
      now: ctx.now(),
      find: (keyId) => findOwn(ctx, keyId),
    })
    return {
      ...said,
      accepted: true,
      checks: CHECKS.map((name) => ({ name, state: 'passed', message: null })),
      caller: { sub, role: secret.role, secretName: secret.name, longLived },
    }
  } catch (err) {
    if (!(err instanceof TokenRefused)) throw err
    return { ...said, accepted: false, checks: checksUpTo(err.message, audience), caller: null }
  }
}

/** Another tenant's secret counts as unknown. */
async function findOwn(ctx: ServiceContext, keyId: string) {
  const [row] = await ctx.db
    .select()
    .from(signingSecrets)
    .where(and(eq(signingSecrets.tenantId, ctx.tenantId), eq(signingSecrets.id, keyId)))
  return row
}

function checksUpTo(reason: string, audience: string): TokenReport['checks'] {
  const [failed, message] = explain(reason, audience)
  // Claims are checked in no fixed order, so after one fails the state of the others is unknown.
  const firstClaim = CHECKS.indexOf('aud')
  const before = Math.min(CHECKS.indexOf(failed), firstClaim)
  return CHECKS.map((name, at) => {
    if (name === failed) return { name, state: 'failed', message }
    return { name, state: at < before ? 'passed' : 'unknown', message: null }
  })
}

/** Converts the logged reason into a sentence that says what to change. */
function explain(reason: string, audience: string): [Check, string] {
  const claim = /^ERR_\w+ (\w+)$/.exec(reason)?.[1]
  const known = REASONS[claim && claim in REASONS ? claim : reason]
  if (known) return [known[0], known[1].replace('AUDIENCE', audience)]
  return reason.startsWith('ERR_') ? ['signature', 'It cannot be read as a signed token.'] : ['form', reason]
}

const REASONS: Record<string, [Check, string]> = {
  'too long': ['form', 'It is longer than 8 KB.'],
  'not three parts': ['form', 'A token is three parts with dots between them.'],
  'not canonical base64url': ['form', 'Its parts are not plain base64url.'],
  'not a JSON object': ['form', 'Its header and payload must be JSON objects.'],
  algorithm: ['algorithm', 'alg must be HS256.'],
  'header extension': ['algorithm', 'The header must not have crit or b64.'],
  'no key id': ['kid', 'The header needs kid: the id of the signing secret.'],
  'key ids disagree': ['kid', 'kid and keyid must be the same.'],
  'unknown secret': ['secret', 'No signing secret of this workspace has this id.'],
  'disabled secret': ['secret', 'The signing secret is disabled.'],
  'replaced secret': [
    'secret',
    'The signing secret was rotated. Sign with the one that replaced it, and its id as kid.',
  ],
  'short secret': ['secret', 'The stored secret is damaged. Create another one.'],
  'the secret does not open': [
    'secret',
    'The stored secret cannot be decrypted with ENCRYPTION_KEY. Create another one.',
  ],
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: ['signature', 'It was signed with another secret, or changed afterwards.'],
  aud: ['aud', 'aud must be AUDIENCE.'],
  exp: ['exp', 'exp is required, in seconds, and must not be in the past.'],
  nbf: ['iat', 'nbf is in the future.'],
  iat: ['iat', 'iat must be in seconds and not in the future.'],
  'lives too long': ['exp', 'A token may be valid for 24 hours at most; an hour is recommended.'],
  sub: ['sub', 'sub must be the end user’s id, at most 256 characters long.'],
  context: ['context', 'context must be an object of at most 16 KB.'],
  'context too deep': ['context', 'context may be nested eight levels deep.'],
}
