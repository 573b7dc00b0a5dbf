import 'server-only'
import type { Db, Tx } from '@/db/index'
import type { JsonObject } from './definition/json'
import type { Log } from './log'
import type { Role } from './roles'

/** Who acts. `id` is what history shows. */
export type Actor =
  | { kind: 'apiKey'; id: string; role: Role }
  /** `id` is the token's `sub`: a user of the customer's, whom the customer's backend vouches for. */
  | { kind: 'jwt'; id: string; secretId: string; role: Role }
  /** Somebody who signed in to the dashboard; the role is the membership's in this tenant. */
  | { kind: 'user'; id: string; name: string; sessionId: string; role: Role }
  | { kind: 'system'; id: string; role: 'owner' }

/** What the tokens of a limited signing secret may touch; whatever is outside does not exist for them. */
export interface Reach {
  /** Null for all. */
  readonly workflowIds: readonly string[] | null
  readonly agentIds: readonly string[] | null
  /** Only runs that the token's own subject started. */
  readonly ownRuns: boolean
}

/** What every verb is given first: whose data, on whose behalf, with which database, clock and log. */
export interface ServiceContext {
  readonly tenantId: string
  readonly actor: Actor
  readonly db: Db | Tx
  readonly log: Log
  readonly now: () => Date
  readonly requestId: string
  /** Verified, read-only facts about the end user, from a signed token. */
  readonly trusted: JsonObject | null
  /** Set for the tokens of a limited secret. `server/auth/reach.ts` reads it. */
  readonly reach?: Reach | undefined
  /** Set when the request came with an `Idempotency-Key`. */
  readonly keyed?: KeyedRequest
}

/** What the transactions of a request returned, kept with each of them, so that its repetition does not do them again. */
export interface KeyedRequest {
  /** What the next transaction of this request returned when it was committed before; null when it was not. */
  recall<T>(): { result: T } | null
  /** Keeps the result in the transaction itself. @throws when another request has taken the key over */
  remember(tx: Tx, result: unknown): Promise<void>
  /** The transaction in which `remember` was called has committed. */
  committed(): void
}

/** A context inside a transaction. */
export interface TransactionContext extends ServiceContext {
  readonly db: Tx
  /** Runs once the transaction has committed; for hints only, since the process may die in between. */
  afterCommit(hint: () => void): void
}

/**
 * Runs `work` in one transaction; a nested call joins the outer one. No network call inside:
 * events leave through the outbox.
 */
export async function withTransaction<T>(
  ctx: ServiceContext,
  work: (tx: TransactionContext) => Promise<T>,
): Promise<T> {
  if (isInTransaction(ctx)) return work(ctx)
  const known = ctx.keyed?.recall<T>()
  if (known) return known.result
  const hints = new Set<() => void>()
  const result = await ctx.db.transaction(async (tx) => {
    hints.clear()
    const done = await work({ ...ctx, db: tx, afterCommit: (hint) => hints.add(hint) })
    await ctx.keyed?.remember(tx, done)
    return done
  })
  ctx.keyed?.committed()
  for (const hint of hints) hint()
  return result
}

function isInTransaction(ctx: ServiceContext): ctx is TransactionContext {
  return 'afterCommit' in ctx
}

/** Acts for the product itself: interpreter, sweeps, first boot. */
export function systemContext(
  base: Pick<ServiceContext, 'tenantId' | 'db' | 'log'> & Partial<ServiceContext>,
  actorId = 'system',
): ServiceContext {
  return {
    now: () => new Date(),
    requestId: '',
    trusted: null,
    ...base,
    // Runs go beyond what whoever started them may touch: their steps call any tool and agent of the workflow.
    reach: undefined,
    actor: { kind: 'system', id: actorId, role: 'owner' },
  }
}
