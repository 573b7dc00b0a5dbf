import { sql } from 'drizzle-orm'
import { jobs } from '@/db/schema/engine'
import { outbox } from '@/db/schema/outbox'
import { type ServiceContext, type TransactionContext, withTransaction } from './context'
import { newId } from './ids'
import { processWide } from './process'

/** The product's events. They carry only ids, so no user data ends up in an engine's history. */
export interface Events {
  'workflow/walk.requested': { tenantId: string; runId: string; branch: string; epoch: number; segment: number }
  'workflow/run.woken': { tenantId: string; runId: string }
  'workflow/run.terminated': { tenantId: string; runId: string }
}

/** A job of the engine to insert in place of an event. */
interface Queued {
  job: {
    id: string
    runId: string
    functionId: string
    lane: string | null
    event: string
    /** Set if this process does the job as soon as it is committed. */
    owner: string | null
    leaseMs: number
  }
  /** @param generation the number drawn for a job with an owner */
  committed(generation: string | null): void
  undone(): void
}

/** What carries events on. */
export interface Carrier {
  /** Something may have been committed to the outbox. */
  kick(): void
  /** The job that the event starts, if the engine of this process keeps its jobs in the same database. */
  queue?(event: { id: string; name: string; data: Record<string, unknown> }): Queued | undefined
}

/**
 * Writes an event in the same transaction as the change it reports. It is sent if and only if that commits. An event that
 * only starts a job of this process's engine is written as that job: the outbox would bring it there later.
 * @returns the event's id
 */
export async function emit<N extends keyof Events>(ctx: ServiceContext, name: N, data: Events[N]): Promise<string> {
  return withTransaction(ctx, async (tx) => {
    const id = newId('evt')
    const queued = bound().carrier?.queue?.({ id, name, data })
    if (queued) {
      await insertJob(tx, queued)
      return id
    }
    await tx.db.insert(outbox).values({ id, tenantId: ctx.tenantId, name, data: data, createdAt: ctx.now() })
    tx.afterCommit(() => bound().carrier?.kick())
    return id
  })
}

async function insertJob(tx: TransactionContext, { job, committed, undone }: Queued): Promise<void> {
  tx.afterRollback(undone)
  const { leaseMs, ...row } = job
  const [drawn] = await tx.db
    .insert(jobs)
    .values({
      ...row,
      kind: 'run',
      dueAt: sql`now() + ${leaseMs} * interval '1 millisecond'`,
      ...(job.owner === null ? {} : { generation: sql`nextval('engine.generation')` }),
    })
    .returning({ generation: sql<string>`${jobs.generation}::text` })
  tx.afterCommit(() => committed(job.owner === null ? null : (drawn?.generation ?? null)))
}

const bound = () => processWide<{ carrier?: Carrier | undefined }>('outbox', () => ({}))

/**
 * Sets what carries this process's events on right after a commit. Without it, another process finds them in the outbox
 * when it polls.
 */
export function bindCarrier(carrier: Carrier | undefined): void {
  bound().carrier = carrier
}
