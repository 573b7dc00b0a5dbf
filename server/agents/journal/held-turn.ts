import { randomUUID } from 'node:crypto'
import { and, eq, isNull, ne } from 'drizzle-orm'
import { agentTurns } from '@/db/schema/turns'
import type { ServiceContext } from '../../context'
import type { TurnAsked } from '../../definition/agent'
import { AppError } from '../../errors'
import { olderSeen } from '../../outbox'
import type { LoadedAgent } from '../find'
import { subjectOf } from '../thread'
import type { TurnLease } from '../turn-lease'
import type { Fenced, TurnHold } from './attempt'
import type { KnownTurn } from './read'
import { newTurn, recordState, type TurnRow } from './record'

const LEASE_MS = 15_000
const PROLONG_MS = 4_000
const NOTHING: ReadonlySet<string> = new Set()

/** A repeat of the request, or a run, continues the turn. */
export class TurnTakenOver extends AppError {
  override name = 'TurnTakenOver'
  constructor() {
    super('CONFLICT', { message: 'The turn was taken over: a repeat of the request, or a run, continues it' })
  }
}

/** What of an agent a turn needs to know before it begins. */
type Answering = Pick<LoadedAgent, 'id' | 'version'>

/**
 * This process's hold on a turn of invoke or chat. It is a lease, as on a place in a thread: once it has ended, a repeat of
 * the request or a run may take the turn over, and this process records nothing more.
 */
export class HeldTurn implements TurnHold {
  readonly owner = randomUUID()
  readonly hides = NOTHING
  readonly requestKey: string | null
  readonly subject: string | null
  /** Whether people can be asked. */
  mayAsk: boolean
  isRecorded: boolean
  /** Until when others leave the turn to this process. */
  private until: number
  private readonly timer: NodeJS.Timeout

  private constructor(
    private readonly ctx: ServiceContext,
    readonly turn: TurnRow,
    readonly asked: TurnAsked,
    readonly ticket: number | null,
    isKnown: boolean,
  ) {
    this.requestKey = ctx.keyed?.outgoingKey ?? null
    this.subject = subjectOf(ctx)
    this.isRecorded = isKnown
    // An older process knows no runs of turns.
    this.mayAsk = !olderSeen()
    this.until = this.leasedUntil().getTime()
    this.timer = setInterval(() => this.prolong(), PROLONG_MS)
  }

  /** A new turn. Nothing is recorded until its first call has ended, unless `begin` is called. */
  static open(ctx: ServiceContext, agent: Answering, asked: TurnAsked, lease: TurnLease | null): HeldTurn {
    const turn = newTurn(ctx, agent, lease?.threadId ?? null)
    return new HeldTurn(ctx, turn, asked, lease?.ticket ?? null, false)
  }

  /**
   * The turn of an earlier request with the same key, whose process no longer answers.
   * @throws AppError CONFLICT if a run has taken it over in the meantime
   */
  static async takeOver(
    ctx: ServiceContext,
    agent: Answering,
    known: KnownTurn & { asked: TurnAsked },
    lease: TurnLease | null,
  ): Promise<HeldTurn> {
    const ticket = lease?.ticket ?? null
    // A stream has made a thread for a turn that had none.
    const threadId = known.turn.threadId ?? lease?.threadId ?? null
    const turn: TurnRow = { ...known.turn, threadId, version: agent.version, state: 'working', errorCode: null }
    const held = new HeldTurn(ctx, turn, known.asked, ticket, true)
    const { owner } = held
    const working = { state: 'working' as const, errorCode: null, endedAt: null }
    const set = { ...working, owner, leasedUntil: held.leasedUntil(), ticket, threadId, request: known.asked }
    try {
      const taken = await ctx.db
        .update(agentTurns)
        .set(set)
        .where(and(held.isTurn(), isNull(agentTurns.runId), ne(agentTurns.state, 'done')))
        .returning({ id: agentTurns.id })
      if (taken.length === 0) throw new TurnTakenOver()
      return held
    } catch (err) {
      held.release()
      throw err
    }
  }

  get key(): string {
    return this.requestKey ?? this.turn.id
  }

  leasedUntil(): Date {
    return new Date(this.ctx.now().getTime() + LEASE_MS)
  }

  /** The request ends with its process. */
  endsSoon(): boolean {
    return false
  }

  async mayBegin(): Promise<void> {
    // A process that was suspended may have lost the turn.
    if (!this.isRecorded || this.ctx.now().getTime() < this.until) return
    const [found] = await this.ctx.db.select({ id: agentTurns.id }).from(agentTurns).where(this.isMine())
    if (!found) throw new TurnTakenOver()
  }

  async fenced(statement: () => Promise<Fenced>): Promise<void> {
    const until = this.leasedUntil().getTime()
    if ((await statement()) === 'refused') throw new TurnTakenOver()
    this.until = until
    this.isRecorded = true
  }

  /** Records the turn before its first call, so that others can continue it if this process dies. */
  begin(): Promise<void> {
    // The versions of its tools are those of its first call.
    return this.fenced(() => recordState(this.ctx, this, { ...this.turn, tools: null }))
  }

  /**
   * Notes that the turn failed, unless its end is recorded.
   * @returns false if it could not, or others have the turn: then they may continue it
   */
  async fail(errorCode: string): Promise<boolean> {
    if (!this.isRecorded || this.turn.state === 'failed') return true
    const { ctx } = this
    try {
      const failed = await ctx.db
        .update(agentTurns)
        .set({ state: 'failed', errorCode, owner: null, leasedUntil: null, endedAt: ctx.now() })
        .where(this.isMine())
        .returning({ id: agentTurns.id })
      return failed.length > 0
    } catch (err) {
      ctx.log.warn({ err }, 'could not record that a turn failed; its lease ends soon')
      return false
    }
  }

  /** Stops prolonging the lease. */
  release(): void {
    clearInterval(this.timer)
  }

  private prolong(): void {
    if (!this.isRecorded) return
    const leasedUntil = this.leasedUntil()
    this.ctx.db
      .update(agentTurns)
      .set({ leasedUntil })
      .where(this.isMine())
      .returning({ id: agentTurns.id })
      .then(([mine]) => {
        this.until = mine ? leasedUntil.getTime() : 0
      })
      .catch((err: unknown) => this.ctx.log.warn({ err }, 'could not extend the lease of a turn'))
  }

  private isTurn() {
    return and(eq(agentTurns.tenantId, this.ctx.tenantId), eq(agentTurns.id, this.turn.id))
  }

  private isMine() {
    return and(this.isTurn(), eq(agentTurns.owner, this.owner), isNull(agentTurns.runId))
  }
}
