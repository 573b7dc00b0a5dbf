import { type Statement, send, sql } from '@/db/index'
import { afterCommit, afterRollback, type ServiceContext } from './context'
import { newId } from './ids'
import { processWide } from './process'

/** The product's events. They carry only ids, so no user data ends up in an engine's history. */
export interface Events {
  'workflow/walk.requested': { tenantId: string; runId: string; branch: string; epoch: number; segment: number }
  'workflow/run.woken': { tenantId: string; runId: string }
  'workflow/run.terminated': { tenantId: string; runId: string }
  /** Something may be due at an endpoint. Triggers in the database write it too. */
  'webhook/endpoint.due': { tenantId: string; endpointId: string }
}

/** A job of the engine to insert in place of an event. */
interface Queued {
  job: {
    id: string
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
  /** A request has been answered, after which this process may sleep. Only where it does. */
  answered?(): void
  /** The job that the event starts, if the engine of this process keeps its jobs in the same database. */
  queue?(event: { id: string; name: string; data: Record<string, unknown> }): Queued | undefined
}

/** An event on its way into a statement. */
export interface Outgoing {
  id: string
  /** The engine run that this process begins as soon as it is committed. */
  engineRunId: string | null
  /** Inserts it, once if `source` has a row. Returns `generation`, which `committed` takes. */
  insert(source: Statement): Statement
  committed(generation: string | null): void
  /** Call if nothing was written. */
  undone(): void
}

/**
 * Prepares an event for the statement that writes what it reports: it is sent if and only if that commits. An event that
 * only starts a job of this process's engine becomes that job, where the outbox would bring it later.
 */
export function outgoing<N extends keyof Events>(ctx: ServiceContext, name: N, data: Events[N]): Outgoing {
  const id = newId('evt')
  const { carrier } = bound()
  const queued = carrier?.queue?.({ id, name, data })
  if (!queued) {
    const now = ctx.now().toISOString()
    return {
      id,
      engineRunId: null,
      insert: (source) => sql`
        insert into outbox (id, tenant_id, name, data, created_at)
        select ${id}, ${ctx.tenantId}, ${name}, ${JSON.stringify(data)}::jsonb, ${now} from ${source}
        returning null::text as generation`,
      committed: () => carrier?.kick(),
      undone: () => {},
    }
  }
  const { job, committed, undone } = queued
  afterRollback(ctx, undone)
  return {
    id,
    engineRunId: job.owner === null ? null : job.id,
    insert: (source) => sql`
      insert into engine.jobs (id, run_id, function_id, kind, lane, event, owner, due_at, generation)
      select ${job.id}, ${job.id}, ${job.functionId}, 'run', ${job.lane}, ${job.event}, ${job.owner},
        now() + ${job.leaseMs}::float8 * interval '1 millisecond',
        ${job.owner === null ? sql`0` : sql`nextval('engine.generation')`}
      from ${source}
      returning generation::text`,
    committed: (generation) => committed(job.owner === null ? null : generation),
    undone,
  }
}

/**
 * Writes an event, in the caller's transaction if there is one.
 * @returns the event's id
 */
export async function emit<N extends keyof Events>(ctx: ServiceContext, name: N, data: Events[N]): Promise<string> {
  const event = outgoing(ctx, name, data)
  try {
    const insert = event.insert(sql`(select 1) one`)
    const [row] = await send<{ generation: string | null }>(ctx.db, sql`with sent as (${insert}) select * from sent`)
    afterCommit(ctx, () => event.committed(row?.generation ?? null))
  } catch (err) {
    event.undone()
    throw err
  }
  return event.id
}

/** Call when a request has been answered. Events that an earlier process left behind are then forwarded. */
export function requestAnswered(): void {
  bound().carrier?.answered?.()
}

const bound = () => processWide<{ carrier?: Carrier | undefined }>('outbox', () => ({}))

/**
 * Sets what carries this process's events on right after a commit. Without it, another process finds them in the outbox
 * when it polls.
 */
export function bindCarrier(carrier: Carrier | undefined): void {
  bound().carrier = carrier
}
