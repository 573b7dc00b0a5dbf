import { AsyncLocalStorage } from 'node:async_hooks'

const current = new AsyncLocalStorage<Actor>()

/** Whoever's code is running. Undefined outside the simulation. */
export function currentActor(): Actor | undefined {
  return current.getStore()
}

/** An attempt at work that its process may be told to stop. */
export interface Stoppable {
  runId: string
  branch: string
  stepId: string
  visit: number
  attempt: number
  controller: AbortController
}

/**
 * Something that goes on in a process of its own: a call of the engine, a caller's request, a sweep. It stops at each gate
 * until it is told to go on, and only one actor goes at a time, so the order in which they go decides everything.
 */
export class Actor {
  done = false
  /** What its work threw. */
  failure: unknown = null
  /** What it does that could be told to stop. */
  readonly stoppable = new Set<Stoppable>()
  /** When it last asked the database what has become of a run. */
  asked = new Date(0)
  private begun = false
  private readonly parked: (() => void)[] = []
  private inFlight = 0
  private settled: (() => void) | undefined

  /** @param open whether gates let everybody pass */
  constructor(
    readonly name: string,
    private readonly work: () => Promise<unknown>,
    private readonly open: () => boolean,
  ) {}

  /** Whether it has stopped at a gate, or not begun. One that is neither there nor done will never go on by itself. */
  get waits(): boolean {
    return !this.begun || this.parked.length > 0
  }

  /** A place where it may stop. */
  async gate(): Promise<void> {
    if (this.open()) return
    await new Promise<void>((resolve) => this.parked.push(resolve))
  }

  /** Follows something that will end by itself, such as a statement. */
  async track<T>(under: PromiseLike<T>): Promise<T> {
    this.inFlight++
    try {
      return await under
    } finally {
      this.inFlight--
      if (this.inFlight === 0) this.settled?.()
    }
  }

  /** Lets it go on to its next gates, or to its end. */
  async go(): Promise<void> {
    if (this.begun) for (const pass of this.parked.splice(0)) pass()
    else this.begin()
    // It stands still once nothing is under way for a few turns of the loop: what starts a statement may take one.
    for (let still = 0; still < TURNS; ) {
      if (this.inFlight > 0) {
        await new Promise<void>((resolve) => {
          this.settled = resolve
        })
        this.settled = undefined
        still = 0
      }
      await new Promise((next) => setImmediate(next))
      still = this.inFlight > 0 ? 0 : still + 1
    }
  }

  /** Lets it go on until it is done, or waits for something that is not here. */
  async goOn(): Promise<void> {
    do await this.go()
    while (!this.done && this.waits)
  }

  private begin(): void {
    this.begun = true
    void current.run(this, async () => {
      try {
        await this.work()
      } catch (err) {
        this.failure = err
      } finally {
        this.done = true
      }
    })
  }
}

const TURNS = 4
