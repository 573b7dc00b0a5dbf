import type { Db } from '@/db/index'
import { sameName } from '../definition/people'
import { type Env, env } from '../env'
import { AppError } from '../errors'
import { addressOf } from '../http/address'
import { spend, spendOfTenant } from '../http/rate-limit'
import { authenticate, hasCredential, type Identity } from './authenticate'

type Settings = Pick<Env, 'limits' | 'tenantLimits' | 'limitsShared' | 'TRUST_PROXY'>

/**
 * Like `authenticate`, but counts refusals by their source address. Only refusals are limited, so a valid key still
 * works behind the same address as an attacker who guesses. A request without a credential is not a guess.
 * @throws AppError UNAUTHORIZED, RATE_LIMITED
 */
export async function authenticateOrCount(
  headers: Headers,
  db: Db,
  now: Date,
  refusal: string,
  requestId: string,
  settings: Settings = env(),
): Promise<Identity> {
  try {
    return await authenticate(headers, db, now, refusal, requestId)
  } catch (err) {
    if (err instanceof AppError && err.code === 'UNAUTHORIZED' && hasCredential(headers)) {
      await countRefusal('*', headers, db, now, settings)
    }
    throw err
  }
}

/**
 * Counts a refused request by its source address.
 * @param what the kind of credential; each is counted separately
 * @throws AppError RATE_LIMITED
 */
export async function countRefusal(
  what: '*' | 'hooks' | 'metrics' | 'links',
  headers: Headers,
  db: Db,
  now: Date,
  settings: Settings = env(),
): Promise<void> {
  await spend('failures', `${what}:${addressOf(headers, settings.TRUST_PROXY)}`, db, now, settings)
}

/**
 * Counts an accepted request against its credential (the API key, or the subject of the token), then against its
 * tenant. The credential comes first: a request its own limit rejects does not count towards the tenant's. Members have
 * only their own limit: a person who has to stop a flood of calls must be able to sign in and disable the key.
 * @returns headers for the response, for the limit that is closest to being reached; empty without a limit
 * @throws AppError RATE_LIMITED
 */
export async function countRequest(
  identity: Identity,
  kind: 'starts' | 'invokes' | undefined,
  db: Db,
  now: Date,
  settings: Settings = env(),
): Promise<Record<string, string>> {
  const requests = await count(identity, 'requests', db, now, settings)
  return kind ? { ...requests, ...(await count(identity, kind, db, now, settings)) } : requests
}

/**
 * Counts a call whose kind shows only in the body of a request that is already counted.
 * @throws AppError RATE_LIMITED
 */
export async function countCall(
  identity: Pick<Identity, 'tenantId' | 'actor'>,
  kind: 'starts' | 'invokes',
  db: Db,
  now: Date,
): Promise<void> {
  await count(identity, kind, db, now, env())
}

async function count(
  { tenantId, actor }: Pick<Identity, 'tenantId' | 'actor'>,
  kind: 'requests' | 'starts' | 'invokes',
  db: Db,
  now: Date,
  settings: Settings,
): Promise<Record<string, string>> {
  const who = `${tenantId}:${actor.kind === 'jwt' ? `${actor.secretId}:${sameName(actor.id)}` : actor.id}`
  const own = await spend(kind, who, db, now, settings)
  const shared = actor.kind === 'user' ? {} : await spendOfTenant(kind, tenantId, db, now, settings)
  return remaining(shared) < remaining(own) ? shared : own
}

function remaining(headers: Record<string, string>): number {
  return Number(headers['ratelimit-remaining'] ?? Number.POSITIVE_INFINITY)
}
