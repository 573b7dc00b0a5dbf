import type { Claim, EngineContext } from './context'
import type { StepResult } from './protocol'
import type { Slots } from './slots'

/** Executes one claim. If it returns a claim, that continues immediately in the same slot. */
export type Execute = (
  ctx: EngineContext,
  claim: Claim,
  signal: AbortSignal,
  stopping: () => boolean,
) => Promise<Claim | undefined>

interface Call {
  claim: Claim
  abort: AbortController
}

/** The calls in flight, each in a slot of its own. */
export class Calls {
  private readonly calls = new Map<string, Call>()
  private readonly running = new Set<Promise<void>>()

  constructor(
    private readonly ctx: EngineContext,
    private readonly slots: Slots,
    private readonly execute: Execute,
    private readonly on: {
      stopping(): boolean
      /** A slot of the lane is free again. */
      freed(lane: string | null): void
    },
  ) {}

  begin(claim: Claim): void {
    const abort = new AbortController()
    this.calls.set(claim.generation, { claim, abort })
    this.slots.begin(claim)
    const done = this.work(claim, abort).finally(() => this.running.delete(done))
    this.running.add(done)
  }

  /** The claims whose leases this process renews. */
  claims(): Claim[] {
    return [...this.calls.values()].map(({ claim }) => claim)
  }

  /** Ends calls whose lease another process may have taken over. */
  lose(claims: readonly Claim[]): void {
    for (const { generation } of claims) this.calls.get(generation)?.abort.abort(new Error('The lease is lost'))
  }

  /** Ends the calls of a run that has ended, except the one that reports it. */
  endRun(runId: string): void {
    for (const { claim, abort } of this.calls.values()) {
      if (claim.runId === runId && claim.kind !== 'end') abort.abort(new Error('The run has ended'))
    }
  }

  /** Whether a claim may store `count` more results. */
  mayKeep(generation: string, count: number, most: number): boolean {
    const call = this.calls.get(generation)
    return !call || call.claim.memo.size + count <= most
  }

  /** After a stored checkpoint, this claim's next call must get its results. */
  kept(generation: string, steps: readonly StepResult[]): void {
    const call = this.calls.get(generation)
    if (!call) return
    this.slots.clearSuspect(generation)
    call.claim.attempt = 0
    for (const { id, value } of steps) if (!call.claim.memo.has(id)) call.claim.memo.set(id, value)
  }

  /** Waits for all calls to end, for `graceMs` at most. */
  async drain(graceMs: number): Promise<void> {
    let over: NodeJS.Timeout | undefined
    const grace = new Promise<void>((resolve) => {
      over = setTimeout(resolve, graceMs)
    })
    await Promise.race([this.drained(), grace])
    clearTimeout(over)
  }

  abortAll(): void {
    for (const { abort } of this.calls.values()) abort.abort(new Error('The engine stops'))
  }

  private async drained(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running)
  }

  private async work(first: Claim, abort: AbortController): Promise<void> {
    let claim: Claim | undefined = first
    while (claim) {
      const current: Claim = claim
      claim = undefined
      try {
        claim = await this.execute(this.ctx, current, abort.signal, this.on.stopping)
      } catch (error) {
        // Nothing is lost: the job returns when its lease expires.
        this.ctx.log.error({ error, runId: current.runId, jobId: current.jobId }, 'a job waits for its lease to expire')
      }
      this.calls.delete(current.generation)
      this.slots.clearSuspect(current.generation)
      if (claim) this.calls.set(claim.generation, { claim, abort })
    }
    this.slots.end(first.lane)
    this.on.freed(first.lane)
  }
}
