import { batchStatement, type ReadFields, rowColumns, sendBatched } from '@/db/index'
import { processWide } from '@/db/process-wide'
import { afterCommit, afterRollback, type ServiceContext } from './context'
import { newId } from './ids'

/** The product's events. They carry only ids, so no user data ends up in an engine's history. */
export interface Events {
  'workflow/walk.requested': { tenantId: string; runId: string; branch: string; epoch: number; segment: number }
  /** `walk` is the walk to wake, if it is a branch. */
  'workflow/run.woken': { tenantId: string; runId: string; walk?: string }
  'workflow/run.terminated': { tenantId: string; runId: string }
  'workflow/event.posted': { tenantId: string; seq: number }
  /**
   * A child run is to be started or stopped, or its parent answered: a step of the parent waits, or waited, for its
   * end.
   */
  'workflow/child.due': { tenantId: string; runId: string }
  /** An answer is held until then (ISO 8601). */
  'workflow/answer.held': { tenantId: string; runId: string; pauseId: string; person: string; until: string }
  /** Something may be due at an endpoint. Database triggers also write it. */
  'webhook/endpoint.due': { tenantId: string; endpointId: string }
  /** A mail is to be sent. A database trigger also writes it. */
  'mail/task.due': { tenantId: string; mailId: string }
}

/** A job of the engine to insert in place of an event. */
interface Queued {
  job: {
    id: string
    functionId: string
    lane: string | null
    event: string
    /** Set if this process runs the job as soon as it is committed. */
    owner: string | null
    leaseMs: number
  }
  /** @param generation the number drawn for a job with an owner */
  committed(generation: string | null): void
  notWritten(): void
}

/** Delivers events to the engine. */
export interface EventTransport {
  /** Something may have been committed to the outbox. */
  kick(): void
  /** A request was answered; after that, this process may be suspended. Only set on platforms that do so. */
  answered?(): void
  /** The job that the event starts, if the engine of this process stores its jobs in the same database. */
  queue?(event: { id: string; name: string; data: Record<string, unknown> }, slot?: Slot | null): Queued | undefined
  /** A slot for the job that the event starts, as soon as one is free; null if the job should be queued. */
  slotFor?(event: { name: string; data: Record<string, unknown> }, patience: Patience): Promise<Slot | null>
  room?(event: { name: string; data: Record<string, unknown> }): Room
  /** Whether starts wait for a slot in this process. */
  startsWait?(): boolean
  /**
   * Whether a process of an older release is running, which could not read new formats that this one writes; null if that
   * is not known.
   */
  older?(): boolean | null
}

/** A place that the engine of this process reserves for one run. */
export interface Slot {
  /** Releases it, unless a run was written with it. */
  release(): void
}

/** How long a caller waits for a slot. */
export interface Patience {
  ms: number
  signal: AbortSignal
  /** Called only if no slot is free. */
  mayWait(): Promise<boolean>
}

/**
 * A slot for the run that an event is about to start, as soon as one is free. Null if the run should be queued, as
 * always where another process, or Inngest, continues it.
 */
export async function slotFor<N extends keyof Events>(
  name: N,
  data: Events[N],
  patience: Patience,
): Promise<Slot | null> {
  return (await bound().transport?.slotFor?.({ name, data }, patience)) ?? null
}

/** Whether the engine's queue has room for one more: yes, not for this tenant, or for no tenant. */
export type Room = 'free' | 'lane full' | 'full'

/** Whether the engine's queue has room for the job that an event starts. Sends no statement. */
export function roomFor<N extends keyof Events>(name: N, data: Events[N]): Room {
  return bound().transport?.room?.({ name, data }) ?? 'free'
}

/** Whether starts wait for a slot in this process. */
export function startsWait(): boolean {
  return bound().transport?.startsWait?.() === true
}

/** Whether a process of an older release may be running. On Inngest, the newest deployment receives all calls. */
export function olderLives(): boolean {
  const { older } = bound().transport ?? {}
  return older !== undefined && older() !== false
}

/** Whether one is running as far as this process knows. */
export function olderSeen(): boolean {
  return bound().transport?.older?.() === true
}

/** Where an event goes: into the outbox, or to the engine as a job. */
export type EventPlace = 'outbox' | 'job'

/** An event on its way into a statement for rows (`sendBatched`). */
export interface Outgoing {
  id: string
  /** The engine run that this process begins as soon as it is committed. */
  engineRunId: string | null
  /** The engine run that waits for a free slot. */
  queuedAs: string | null
  /** The argument of `insertEvent`; the rows have these columns. */
  place: EventPlace
  row(): object
  /** @param generation the value that the statement returned */
  committed(generation: string | null): void
  /** Call if nothing was written. */
  notWritten(): void
}

export const EVENT =
  'event_id text, event_name text, event_data jsonb, job_function text, job_lane text, job_event text, job_owner text, job_lease int'

/**
 * Inserts the events of the rows of `i`, whose columns `read` reads. Returns `event_id`, and the `generation` for
 * `committed`.
 */
export function insertEvent(place: EventPlace, i: string, read: ReadFields): string {
  if (place === 'outbox') {
    return `
      insert into outbox (id, tenant_id, name, data, created_at)
      select x.event_id, i.tenant_id, x.event_name, x.event_data, i.at
      from ${i}, ${read('event_id, event_name, event_data')}
      returning id as event_id, null::text as generation`
  }
  return `
      insert into engine.jobs (id, run_id, function_id, kind, lane, event, owner, due_at, generation)
      select x.event_id, x.event_id, x.job_function, 'run', x.job_lane, x.job_event, x.job_owner,
        now() + x.job_lease * interval '1 millisecond',
        case when x.job_owner is null then 0 else nextval('engine.generation') end
      from ${i}, ${read('event_id, job_function, job_lane, job_event, job_owner, job_lease')}
      returning id as event_id, generation::text`
}

/**
 * Prepares an event for the statement that writes what it reports: it is sent if and only if that commits. An event
 * that only starts a job of this process's engine becomes that job, because the outbox would deliver it later.
 */
export function outgoing<N extends keyof Events>(
  ctx: ServiceContext,
  name: N,
  data: Events[N],
  slot: Slot | null = null,
): Outgoing {
  const id = newId('evt')
  const queued = bound().transport?.queue?.({ id, name, data }, slot)
  if (!queued) return asEvent({ id, name, data })
  afterRollback(ctx, queued.notWritten)
  return asJob(id, queued)
}

function asEvent({ id, name, data }: { id: string; name: string; data: object }): Outgoing {
  return {
    id,
    engineRunId: null,
    queuedAs: null,
    place: 'outbox',
    row: () => ({ event_id: id, event_name: name, event_data: data }),
    committed: () => bound().transport?.kick(),
    notWritten: () => {},
  }
}

function asJob(id: string, { job, committed, notWritten }: Queued): Outgoing {
  const isMine = job.owner !== null
  return {
    id,
    engineRunId: isMine ? job.id : null,
    queuedAs: isMine ? null : job.id,
    place: 'job',
    row: () => ({
      event_id: job.id,
      job_function: job.functionId,
      job_lane: job.lane,
      job_event: job.event,
      job_owner: job.owner,
      job_lease: job.leaseMs,
    }),
    committed: (generation) => committed(isMine ? generation : null),
    notWritten,
  }
}

const COLUMNS = rowColumns(`tenant_id text, at timestamptz, ${EVENT}`)

function emitting(place: EventPlace) {
  return batchStatement(
    COLUMNS,
    'tenant_id, at',
    (rows, read) => `
    with ${rows},
    sent as (${insertEvent(place, 'i', read)})
    select i.ord, generation from i cross join ${read('event_id')} left join sent on sent.event_id = x.event_id`,
  )
}

const EMITS = { outbox: emitting('outbox'), job: emitting('job') }

/**
 * Writes an event, in the caller's transaction if one is open.
 * @returns the event's id
 */
export async function emit<N extends keyof Events>(ctx: ServiceContext, name: N, data: Events[N]): Promise<string> {
  const event = outgoing(ctx, name, data)
  try {
    const row = await sendBatched<{ generation: string | null }>(ctx.db, EMITS[event.place], event.id, {
      tenant_id: ctx.tenantId,
      at: ctx.now(),
      ...event.row(),
    })
    afterCommit(ctx, () => event.committed(row?.generation ?? null))
  } catch (err) {
    event.notWritten()
    throw err
  }
  return event.id
}

/** Call when a request was answered. Forwards events that an earlier process left behind. */
export function requestAnswered(): void {
  bound().transport?.answered?.()
}

const bound = () => processWide<{ transport?: EventTransport | undefined }>('outbox', () => ({}))

/**
 * Sets the transport that forwards this process's events right after a commit. Without it, another process finds them
 * in the outbox when it polls.
 */
export function bindTransport(transport: EventTransport | undefined): void {
  bound().transport = transport
}
