import 'server-only'
import type { Db, Tx } from '@/db/index'
import type { runs } from '@/db/schema/runs'
import { now } from './clock'
import type { JsonObject } from './definition/json'
import type { Log } from './log'
import type { Role } from './roles'

type StartedVia = (typeof runs.$inferSelect)['startedVia']

/** The caller. History shows its `id`. */
export type Actor =
  | {
      kind: 'apiKey'
      id: string
      role: Role
      /** The only operation that the key may do, in place of those of its role. */
      only?: 'definitions:check'
    }
  /** `id` is the token's `sub`: one of the customer's own users, vouched for by the customer's backend. */
  | { kind: 'jwt'; id: string; secretId: string; role: Role }
  /** A person signed in to the dashboard; `role` comes from their membership in this tenant. */
  | { kind: 'user'; id: string; name: string; sessionId: string; role: Role }
  /** `startedVia` is set for the work of a run: what started it, whose id this is. */
  | { kind: 'system'; id: string; role: 'owner'; startedVia?: StartedVia }

/** The resources that the tokens of a limited signing secret may use; all others do not exist for them. */
export interface Reach {
  /** Null for all. */
  readonly workflowIds: readonly string[] | null
  readonly agentIds: readonly string[] | null
  /** Only runs that the token's own subject started. */
  readonly ownRuns: boolean
}

/** The first argument of every verb: the tenant, the caller, the database, the clock and the log. */
export interface ServiceContext {
  readonly tenantId: string
  readonly actor: Actor
  readonly db: Db | Tx
  readonly log: Log
  readonly now: () => Date
  readonly requestId: string
  /** Where the request came from. Absent for work of the product and its command line. */
  readonly address?: () => string | null
  /** Read-only facts about the end user, verified from a signed token. */
  readonly trusted: JsonObject | null
  /** Set for the tokens of a limited secret. `server/auth/reach.ts` reads it. */
  readonly reach?: Reach | undefined
  /** The caller's limits for files, which apply even where `reach` does not. */
  readonly fileReach?: Reach | undefined
  /**
   * The thread of the turn that a run continues. Its files may be read, although the run acts for who retried it, whom
   * the thread need not belong to.
   */
  readonly turnThread?: string | undefined
  /** Set for a verb whose own statement checks the key. */
  readonly cachedCaller?: CachedCaller | undefined
  /** Set when the request came with an `Idempotency-Key`, or is a form that starts at most one run. */
  readonly keyed?: KeyedRequest
}

/** A caller whose key was not read for this request. See `server/auth/cached-caller.ts`. */
export interface CachedCaller {
  readonly keyHash: string
  /** The role of the key when it was read. */
  readonly role: Role
  /** The statement was sent: only its response can now confirm that nothing was written. */
  sent: boolean
  /** Set by the statement that finds the key valid. */
  verified: boolean
}

/** The context of work for all tenants together. */
export interface Sweep extends Pick<ServiceContext, 'log' | 'now'> {
  readonly db: Db
}

/** Saves the result of each of a request's transactions with it, so that a repeated request does not run them again. */
export interface KeyedRequest {
  /** Identifies the calls that this request makes: the same for a repeat, and different for any other request. */
  readonly outgoingKey: string
  /** The result of the request's next transaction if an earlier attempt committed it, else null. */
  recall<T>(): { result: T } | null
  /** Notes that an earlier attempt has done the work, as a record of its own shows. */
  doneBefore?(): void
  /**
   * Saves the result inside the transaction.
   * @throws when another request has taken over the key
   */
  remember(tx: Tx, result: unknown): Promise<void>
  /** Call after the transaction that called `remember` has committed. */
  committed(): void
  /** The key stays taken until this has settled: the work continues after its response has begun. */
  heldBy(work: Promise<unknown>): void
}

export interface TransactionContext extends ServiceContext {
  readonly db: Tx
  /** Runs after the commit. For hints only: the process may die in between. */
  afterCommit(hint: () => void): void
  /** Runs if the transaction is not committed, as far as this process knows. */
  afterRollback(undo: () => void): void
}

/**
 * Runs `work` in one transaction; a nested call joins the outer one. Make no network calls inside: events leave through
 * the outbox.
 */
export async function withTransaction<T>(
  ctx: ServiceContext,
  work: (tx: TransactionContext) => Promise<T>,
): Promise<T> {
  if (isInTransaction(ctx)) return work(ctx)
  const known = ctx.keyed?.recall<T>()
  if (known) return known.result
  const hints = new Set<() => void>()
  const undos: (() => void)[] = []
  let failed = false
  const undoAll = () => {
    for (const undo of undos.splice(0)) undo()
  }
  const afterRollback = (undo: () => void) => {
    // The transaction may time out while its work still continues.
    if (failed) undo()
    else undos.push(undo)
  }
  const transaction = ctx.db.transaction(async (tx) => {
    hints.clear()
    undoAll()
    const afterCommit = (hint: () => void) => hints.add(hint)
    const done = await work({ ...ctx, db: tx, afterCommit, afterRollback })
    await ctx.keyed?.remember(tx, done)
    return done
  })
  const result = await transaction.catch((err: unknown) => {
    failed = true
    undoAll()
    throw err
  })
  ctx.keyed?.committed()
  for (const hint of hints) hint()
  return result
}

/** Runs a hint after the commit: immediately without a transaction, where each statement is its own. */
export function afterCommit(ctx: ServiceContext, hint: () => void): void {
  if (isInTransaction(ctx)) ctx.afterCommit(hint)
  else hint()
}

/** Undoes something in memory if the transaction fails. Without one, the caller undoes it itself. */
export function afterRollback(ctx: ServiceContext, undo: () => void): void {
  if (isInTransaction(ctx)) ctx.afterRollback(undo)
}

export function isInTransaction(ctx: ServiceContext): ctx is TransactionContext {
  return 'afterCommit' in ctx
}

/** A context for the product itself: interpreter, sweeps, first boot. */
export function systemContext(
  base: Pick<ServiceContext, 'tenantId' | 'db' | 'log'> & Partial<ServiceContext>,
  actorId = 'system',
  startedVia?: StartedVia,
): ServiceContext {
  return {
    now,
    requestId: '',
    trusted: null,
    ...base,
    // Runs may use more than their starters: their steps call any tool and agent of the workflow.
    reach: undefined,
    fileReach: undefined,
    actor: { kind: 'system', id: actorId, role: 'owner', ...(startedVia ? { startedVia } : {}) },
  }
}
