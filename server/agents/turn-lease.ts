import { setTimeout as sleep } from 'node:timers/promises'
import { and, eq, lt, sql } from 'drizzle-orm'
import { runs, stepRecords } from '@/db/schema/runs'
import { threads, threadTurns } from '@/db/schema/threads'
import { agentTurns } from '@/db/schema/turns'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'

const LEASE_MS = 15_000
const PROLONG_MS = 4_000
const PATIENCE_MS = 30_000
const FIRST_POLL_MS = 20
const LONGEST_POLL_MS = 250

/**
 * A turn in a thread. Turns run one by one, in the order of their requests. A turn is a row with a lease rather than a
 * lock, because no transaction may stay open while a model works.
 */
export class TurnLease {
  private timer: NodeJS.Timeout | undefined
  private isOver = false

  private constructor(
    private readonly ctx: ServiceContext,
    readonly threadId: string,
    readonly ticket: number,
    private readonly turnId: string | undefined,
  ) {}

  /**
   * Draws a ticket and waits until all earlier turns have ended or their processes have died.
   * @param options.turnId the turn, if it is recorded already
   * @throws AppError THREAD_BUSY after 30 s; THREAD_WAITING if a turn waits for people; THREAD_NOT_FOUND; the signal's
   * reason
   */
  static async take(
    ctx: ServiceContext,
    threadId: string,
    signal: AbortSignal,
    { patienceMs = PATIENCE_MS, turnId }: { patienceMs?: number; turnId?: string | undefined } = {},
  ): Promise<TurnLease> {
    const lease = new TurnLease(ctx, threadId, await drawTicket(ctx, threadId), turnId)
    lease.timer = setInterval(() => lease.prolong(), PROLONG_MS)
    const until = performance.now() + patienceMs
    try {
      for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 1.5, LONGEST_POLL_MS)) {
        signal.throwIfAborted()
        if (await lease.isFirst()) return lease
        if (performance.now() >= until) throw new AppError('THREAD_BUSY', { headers: { 'retry-after': '5' } })
        await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted())
      }
    } catch (err) {
      await lease.release()
      throw err
    }
  }

  /**
   * Makes sure, inside the transaction that saves the turn, that no other process has taken over the turn, or can
   * before the transaction ends.
   * @throws AppError THREAD_BUSY if this process was presumed dead
   */
  async confirm(tx: ServiceContext): Promise<void> {
    const held = await tx.db.select({ ticket: threadTurns.ticket }).from(threadTurns).where(this.isMine()).for('update')
    if (held.length === 0) {
      throw new AppError('THREAD_BUSY', { message: 'The thread is busy: another message has overtaken this one' })
    }
  }

  /** The statement that saved the turn has released it. */
  ended(): void {
    clearInterval(this.timer)
    this.isOver = true
  }

  /** Lets the next turn start. */
  async release(): Promise<void> {
    clearInterval(this.timer)
    if (this.isOver) return
    await this.ctx.db
      .delete(threadTurns)
      .where(this.isMine())
      .catch((err: unknown) => this.ctx.log.warn({ err }, 'could not release a turn; it stays until its lease ends'))
  }

  /**
   * Removes the turns of dead processes, and looks whether others are before this one.
   * @throws AppError THREAD_WAITING if a turn of the thread waits for people: nobody overtakes it
   */
  private async isFirst(): Promise<boolean> {
    const now = sql`${this.ctx.now().toISOString()}::timestamptz`
    const before = and(this.isThread(), lt(threadTurns.ticket, this.ticket))
    const [seen] = await this.ctx.db.execute<{ busy: boolean; waiting: string | null }>(sql`
      with dead as (delete from ${threadTurns} where ${before} and ${threadTurns.leasedUntil} <= ${now} returning ticket)
      select exists (select from ${threadTurns} where ${before} and ticket not in (select ticket from dead)) as busy, (
        select t.run_id from ${agentTurns} t join ${runs} r on r.tenant_id = t.tenant_id and r.id = t.run_id
          left join ${stepRecords} s on s.tenant_id = t.tenant_id and s.run_id = t.run_id
          and s.branch = t.branch and s.step_id = t.step_id and s.visit = t.visit
        where t.tenant_id = ${this.ctx.tenantId} and t.thread_id = ${this.threadId} and t.state = 'waiting'
          and t.id is distinct from ${this.turnId ?? null} and r.end_time is null and s.end_time is null
        limit 1) as waiting`)
    if (seen?.waiting != null) throw waitingIn(seen.waiting)
    return seen?.busy === false
  }

  private prolong(): void {
    this.ctx.db
      .update(threadTurns)
      .set({ leasedUntil: new Date(this.ctx.now().getTime() + LEASE_MS) })
      .where(this.isMine())
      .catch((err: unknown) => this.ctx.log.warn({ err }, 'could not extend the lease of a turn'))
  }

  private isThread() {
    return and(eq(threadTurns.tenantId, this.ctx.tenantId), eq(threadTurns.threadId, this.threadId))
  }

  private isMine() {
    return and(this.isThread(), eq(threadTurns.ticket, this.ticket))
  }
}

function waitingIn(runId: string): AppError {
  const message = 'A call of the agent waits for a decision. Answer the task of the run, or cancel the run.'
  return new AppError('THREAD_WAITING', { details: [{ message, runId }] })
}

/** One statement, so the thread's row orders the tickets: a lower ticket never becomes visible after a higher one. */
async function drawTicket(ctx: ServiceContext, threadId: string): Promise<number> {
  const now = ctx.now()
  const leasedUntil = new Date(now.getTime() + LEASE_MS).toISOString()
  const [row] = await ctx.db.execute<{ ticket: number }>(sql`
    with drawn as (
      update ${threads} set tickets = tickets + 1, drawn_at = ${now.toISOString()}::timestamptz
      where tenant_id = ${ctx.tenantId} and id = ${threadId}
      returning tenant_id, id, tickets
    )
    insert into ${threadTurns} (tenant_id, thread_id, ticket, leased_until)
    select tenant_id, id, tickets, ${leasedUntil}::timestamptz from drawn
    returning ticket`)
  if (!row) throw new AppError('THREAD_NOT_FOUND')
  return row.ticket
}

/** Whether a turn is still running, as far as its lease shows. */
export async function isAtWork(ctx: ServiceContext, threadId: string, ticket: number): Promise<boolean> {
  const [row] = await ctx.db
    .select({ leasedUntil: threadTurns.leasedUntil })
    .from(threadTurns)
    .where(
      and(eq(threadTurns.tenantId, ctx.tenantId), eq(threadTurns.threadId, threadId), eq(threadTurns.ticket, ticket)),
    )
  return row !== undefined && row.leasedUntil > ctx.now()
}
