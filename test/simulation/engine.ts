import { parseRetryAfter } from '@/inngest/engine/backoff'
import type { ServiceContext } from '@/server/context'
import { popQueued } from '@/server/interpreter/recall/queued'
import { type StepTools, walk } from '@/server/interpreter/walk/walk'
import { takeClaimed } from '@/server/interpreter/write/claimed-start'
import type { EventTransport } from '@/server/outbox'
import type { WalkRef } from '@/server/run-store/names'
import type { Dice } from '../graphs/generate'
import { Actor } from './actor'
import { now } from './virtual-clock'

/** The driver of walks: the embedded engine by itself, the embedded engine through the SDK, or an Inngest server. */
export type Mode = 'own' | 'sdk' | 'inngest'

export interface Message {
  id: string
  name: string
  data: Record<string, unknown>
}

/** An engine run: the engine's own record of a segment of a walk. */
export interface EngineRun {
  id: string
  ref: WalkRef
  state: 'ready' | 'calling' | 'waiting' | 'over'
  /** The embedded engine's own call; it falls back on the SDK where a walk waits. */
  own: boolean
  /** The results of steps that the engine stores. */
  memo: Map<string, unknown>
  /** The event and time limit of each wait. */
  waits: Map<string, { condition: string; until: number }>
  attempt: number
  dueAt: number
  /** Only the newest call counts. */
  generation: number
  call: Actor | null
  /** How often a call was lost since a step last ended. */
  lost: number
  stopping: boolean
}

const MAX_ATTEMPTS = 20

/** An engine in memory, with the guarantees of the real ones and no more: each event at least once, in any order. */
export class SimulatedEngine {
  readonly runs: EngineRun[] = []
  readonly events: Message[] = []
  /** Failures that no engine should receive. */
  readonly problems: string[] = []
  private made = 0

  constructor(
    private readonly mode: Mode,
    private readonly name: string,
    private readonly dice: Dice,
    private readonly ctx: ServiceContext,
    private readonly open: () => boolean,
  ) {}

  /** The transport of the product's events: the engine's own jobs, if it has any. */
  get transport(): EventTransport {
    const queue: EventTransport['queue'] = ({ name, data }) => {
      if (this.mode !== 'own' || name !== 'workflow/walk.requested') return undefined
      const owner = this.dice.chance(60) ? 'sim' : null
      const job = { id: this.newId(), functionId: 'run-workflow', lane: null, event: JSON.stringify({ name, data }) }
      return { job: { ...job, owner, leaseMs: 15_000 }, committed() {}, notWritten() {} }
    }
    return { kick() {}, queue }
  }

  /** Accepts everything committed since the last time: events, and jobs of its own. */
  take({ sent, jobs }: { sent: Message[]; jobs: { id: string; event: string }[] }): void {
    this.events.push(...sent)
    for (const { id, event } of jobs) this.add(id, (JSON.parse(event) as Message).data as unknown as WalkRef)
  }

  /** An event arrives. */
  deliver({ name, data }: Message): void {
    const { runId, walk: only } = data as { runId: string; walk?: string }
    if (name === 'workflow/walk.requested') this.add(this.newId(), data as unknown as WalkRef)
    else if (name === 'workflow/run.terminated') {
      for (const run of this.runs) if (run.ref.runId === runId) this.end(run)
    } else if (name === 'workflow/run.woken') {
      const wanted = [`async.data.walk == '${only}'`, `async.data.runId == '${runId}'`]
      for (const run of this.runs)
        for (const [id, { condition }] of run.waits) if (wanted.includes(condition)) this.resolve(run, id)
    }
  }

  /** Ends the waits whose time is up. */
  expire(): void {
    for (const run of this.runs)
      for (const [id, { until }] of run.waits) if (until <= now().getTime()) this.resolve(run, id)
  }

  /** When the next work is due. */
  nextDue(): number {
    const times = this.runs.flatMap(({ state, dueAt, waits }) => [
      ...(state === 'ready' ? [dueAt] : []),
      ...(state === 'over' ? [] : [...waits.values()].map(({ until }) => until)),
    ])
    return Math.min(...times, Number.POSITIVE_INFINITY)
  }

  ready(): EngineRun[] {
    return this.runs.filter(({ state, dueAt }) => state === 'ready' && dueAt <= now().getTime())
  }

  /** The engine forgets it, while its call continues. */
  end(run: EngineRun): void {
    run.state = 'over'
    run.generation++
    run.waits.clear()
  }

  /** The call's lease has ended: another process takes over, unknown to the first. */
  lose(run: EngineRun): void {
    run.generation++
    run.lost++
    run.state = 'ready'
    run.dueAt = now().getTime()
  }

  /** Calls the function, as some process's engine would. */
  call(run: EngineRun): Actor {
    const mine = ++run.generation
    const counts = () => run.generation === mine
    const { own, attempt } = run
    const memo = new Map(run.memo)
    const seen = new Map<string, number>()
    let over = false
    /** Returns its results; the next call continues from there. */
    const leave = (state: EngineRun['state']): Promise<never> => {
      over = true
      if (counts()) Object.assign(run, { state, memo, attempt: 0, dueAt: now().getTime() })
      return new Promise<never>(() => {})
    }
    run.stopping = false
    let guaranteed = true
    const step = {
      run: async (id: string, work: () => Promise<unknown>) => {
        const nth = (seen.get(id) ?? 0) + 1
        seen.set(id, nth)
        const key = `${id}:${nth}`
        if (memo.has(key)) return memo.get(key)
        if (over) return new Promise<never>(() => {})
        if (own && run.stopping && !guaranteed && counts()) return leave('ready')
        await actor.gate()
        guaranteed = false
        const value = JSON.parse(JSON.stringify((await work()) ?? null)) as unknown
        memo.set(key, value)
        if (counts()) run.lost = 0
        if (!own && counts()) run.memo.set(key, value)
        await actor.gate()
        // A process that was replaced may discover that here, or continue.
        if (!counts() && this.dice.chance(50)) return new Promise<never>(() => {})
        if (this.mode === 'inngest' && this.dice.chance(40) && counts() && run.waits.size === 0) return leave('ready')
        return value
      },
      waitForEvent: (id: string, { if: condition, timeout }: { if: string; timeout: string | Date }) => {
        if (memo.has(id)) return Promise.resolve(memo.get(id))
        if (own) {
          // Only the SDK can wait.
          if (counts()) run.own = false
          return leave('ready')
        }
        const until = timeout instanceof Date ? timeout.getTime() : Number.POSITIVE_INFINITY
        if (counts()) run.waits.set(id, { condition, until })
        return new Promise<never>(() => {})
      },
    }
    const actor = new Actor(
      `call ${mine} of ${run.id}`,
      async () => {
        try {
          await walk(this.ctx, run.ref, {
            ...{ engineRunId: run.id, attempt, step: step as unknown as StepTools, rests: own },
            sameProcess: this.mode !== 'inngest',
            stopping: () => run.stopping && counts(),
            guaranteeNextStep: () => {
              guaranteed = true
            },
          })
          if (counts()) this.end(run)
        } catch (err) {
          if (!counts()) return
          const after = parseRetryAfter(String((err as { retryAfter?: unknown }).retryAfter), now().getTime())
          if (after === undefined) this.problems.push(`${run.id} failed: ${String(err)}`)
          if (run.attempt + 1 >= MAX_ATTEMPTS) this.problems.push(`${run.id} gets nowhere: ${String(err)}`)
          const attempts = run.attempt + 1
          Object.assign(run, { state: 'ready', memo, attempt: attempts, dueAt: now().getTime() + (after ?? 1_000) })
        }
      },
      this.open,
    )
    Object.assign(run, { state: 'calling', call: actor })
    return actor
  }

  /** Call when an actor is idle: its call may have reached a point where the engine must wait. */
  stoodStill(actor: Actor): void {
    if (actor.waits || actor.done) return
    const run = this.runs.find(({ call, state }) => call === actor && state === 'calling')
    if (run) Object.assign(run, { state: run.waits.size > 0 ? 'waiting' : 'ready', dueAt: now().getTime() })
  }

  private add(id: string, ref: WalkRef): void {
    // The process that began it may have died since.
    if (this.dice.chance(30)) {
      takeClaimed(id)
      popQueued(id)
    }
    const own = this.mode === 'own'
    const made = { memo: new Map(), waits: new Map(), attempt: 0, dueAt: 0, generation: 0, lost: 0 }
    this.runs.push({ ...made, id, ref, own, state: 'ready', call: null, stopping: false })
  }

  private resolve(run: EngineRun, waitId: string): void {
    run.waits.delete(waitId)
    run.memo.set(waitId, null)
    if (run.state === 'waiting' && run.waits.size === 0) Object.assign(run, { state: 'ready', dueAt: now().getTime() })
  }

  private newId(): string {
    this.made++
    return `${this.name}_${this.made}`
  }
}
