import { AsyncLocalStorage } from 'node:async_hooks'

const current = new AsyncLocalStorage<Actor>()

/** The actor whose code is running. Undefined outside the simulation. */
export function currentActor(): Actor | undefined {
  return current.getStore()
}

/** An attempt at work that its process may be asked to stop. */
export interface Stoppable {
  runId: string
  branch: string
  stepId: string
  visit: number
  attempt: number
  controller: AbortController
}

/**
 * Work in a process of its own: a call of the engine, a caller's request, a sweep. It stops at each gate until
 * released, and only one actor runs at a time, so the order of releases decides everything.
 */
export class Actor {
  done = false
  /** The error that its work threw. */
  failure: unknown = null
  /** Its attempt that could be asked to stop. */
  readonly stoppable = new Set<Stoppable>()
  /** When it last read the state of a run. */
  asked = new Date(0)
  private begun = false
  private readonly parked: (() => void)[] = []
  private inFlight = 0
  private settled: (() => void) | undefined

  /** @param open whether gates let all actors pass */
  constructor(
    readonly name: string,
    private readonly work: () => Promise<unknown>,
    private readonly open: () => boolean,
  ) {}

  /**
   * Whether it has stopped at a gate, or not begun. An actor that is neither stopped nor done will never continue by
   * itself.
   */
  get waits(): boolean {
    return !this.begun || this.parked.length > 0
  }

  /** A place where it may stop. */
  async gate(): Promise<void> {
    if (this.open()) return
    await new Promise<void>((resolve) => this.parked.push(resolve))
  }

  /** Tracks work that will end by itself, such as a statement. */
  async track<T>(under: PromiseLike<T>): Promise<T> {
    this.inFlight++
    try {
      return await under
    } finally {
      this.inFlight--
      if (this.inFlight === 0) this.settled?.()
    }
  }

  /** Lets it run to its next gates, or to its end. */
  async go(): Promise<void> {
    if (this.begun) for (const pass of this.parked.splice(0)) pass()
    else this.begin()
    // It is idle once nothing has been in flight for a few turns of the loop: code that starts a statement may take
    // one.
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

  /** Lets it run until it is done, or waits for work of another actor. */
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
