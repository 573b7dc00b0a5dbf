import { Stopping } from '../../errors'
import { failure, outOfMemory, tooSlow } from './endings.mjs'
import { FetchRelay, type ScriptFetch } from './fetch-relay'
import type { Ending, HostMessage, LogLine, WorkerMessage, WorkerRequest } from './protocol'
import { countSlots, type SlotUsage } from './share'
import { startThread, type Thread } from './thread'
import { type QueueLimits, Turns } from './turns'

/** Extra time for a worker to report the script's own timeout before the host ends it. */
const GRACE_MS = 100
/** A script that runs longer than this probably takes its worker down, so start a spare. */
const SPARE_AFTER_MS = 50
/** A ready worker that has not started its script by then never will. */
const BEGIN_MS = 10_000

export interface PoolLimits {
  /** How many scripts run concurrently; at least 2, so that no tenant can use every slot. */
  maxRunning: number
  /** How many more may be open that only wait for a reply and use no CPU. */
  maxWaiting: number
  /** How long a script may wait for a worker. */
  maxQueueMs: number
  queue: QueueLimits
  /** An idle worker ends after this time, unless it is the only one. */
  idleMs: number
}

export interface PoolAnswer {
  /** `busy`: the script never ran, because no worker came free in time or too many scripts were waiting. */
  ending: Ending | 'busy'
  logs: LogLine[]
  /** How long it waited for a slot. */
  waitedMs: number
}

export interface PoolCall {
  /** The script's tenant: tenants take turns, and none can use every worker. */
  tenantId: string
  request: WorkerRequest
  signal?: AbortSignal | undefined
  /** Without it the script has no `fetch`. */
  fetch?: ScriptFetch | undefined
  /** Receives each line immediately. */
  log?: ((line: LogLine) => void) | undefined
}

interface Job {
  tenantId: string
  request: WorkerRequest
  chars: number
  relay: FetchRelay | undefined
  logs: LogLine[]
  log: PoolCall['log']
  timers: Set<NodeJS.Timeout>
  began: boolean
  /** Its worker died before the script started. */
  wasLost: boolean
  begin(): void
  settle(ending: Ending | 'busy'): void
  refuse(error: Error): void
}

interface Slot {
  thread: Thread
  ready: boolean
  job: Job | undefined
  idleTimer: NodeJS.Timeout | undefined
}

/**
 * Warm worker threads that each run one script at a time. Time limits are enforced by ending the thread, which works
 * even in a loop inside a built-in; the main thread only passes messages. A worker starts, is then idle or busy, and is
 * never reused once ended.
 */
export class ScriptPool {
  readonly #limits: PoolLimits
  readonly #slots = new Set<Slot>()
  readonly #turns: Turns<Job>
  #engine: WebAssembly.Module | undefined

  constructor(limits: PoolLimits) {
    this.#limits = limits
    this.#turns = new Turns(limits.queue)
  }

  /** Live workers: starting, idle or busy. */
  get size(): number {
    return this.#slots.size
  }

  /** Scripts that wait for a worker. */
  get waiting(): number {
    return [...this.#turns.counts()].reduce((sum, [, scripts]) => sum + scripts, 0)
  }

  /** @throws Error if no worker can start at all */
  run({ tenantId, request, signal, fetch, log }: PoolCall): Promise<PoolAnswer> {
    return new Promise((resolve, reject) => {
      const queued = performance.now()
      let waitedMs = 0
      const done = () => {
        for (const timer of job.timers) clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
        job.relay?.close()
      }
      const job: Job = {
        tenantId,
        request,
        chars: request.code.length + request.input.length,
        relay: fetch && request.maxFetches > 0 ? new FetchRelay(fetch, request.maxFetches) : undefined,
        logs: [],
        log,
        timers: new Set(),
        began: false,
        wasLost: false,
        begin() {
          job.began = true
          waitedMs = performance.now() - queued
        },
        settle(ending) {
          done()
          resolve({ ending, logs: job.logs, waitedMs })
        },
        refuse(error) {
          done()
          reject(error)
        },
      }
      const cancel = () => this.#drop(job, failure('EXECUTION_ERROR', 'The script was cancelled'))
      if (signal?.aborted) return cancel()
      signal?.addEventListener('abort', cancel, { once: true })
      this.#setTimer(job, this.#limits.maxQueueMs, () => this.#drop(job, 'busy'))
      for (const crowdedOut of this.#turns.add(job)) crowdedOut.settle('busy')
      this.#dispatch()
    })
  }

  /** Ends every worker; open scripts end with `Stopping`. The next call starts the pool again. */
  async stop(): Promise<void> {
    for (const job of this.#turns.removeAll()) job.refuse(new Stopping())
    const ending = [...this.#slots].map((slot) => {
      slot.job?.refuse(new Stopping())
      return this.#end(slot)
    })
    await Promise.all(ending)
  }

  /** Ends a script wherever it is: in the queue, or on a worker, which ends with it. */
  #drop(job: Job, ending: Ending | 'busy'): void {
    this.#turns.remove(job)
    const slot = [...this.#slots].find((candidate) => candidate.job === job)
    if (slot) this.#replace(slot, ending)
    else job.settle(ending)
  }

  #dispatch(): void {
    for (;;) {
      const slot = [...this.#slots].find(isIdle)
      const usage = slot && this.#usage()
      const job = usage && this.#turns.take((tenantId) => usage.freeFor(tenantId) > 0)
      if (!slot || !job) break
      this.#assign(slot, job)
    }
    const wanted = this.#usage().wanted(this.#turns.counts())
    for (let coming = this.#count((slot) => !isBusy(slot)); coming < wanted; coming++) this.#start()
  }

  #assign(slot: Slot, job: Job): void {
    clearTimeout(slot.idleTimer)
    this.#clearTimers(job)
    slot.job = job
    this.#setTimer(job, BEGIN_MS, () => this.#lose(slot, job))
    post(slot, { type: 'run', request: job.request })
  }

  /** The script's time starts here, so neither the queue nor a busy machine counts against it. */
  #begin(job: Job): void {
    job.begin()
    this.#clearTimers(job)
    this.#setTimer(job, job.request.timeoutMs + GRACE_MS, () => this.#drop(job, tooSlow(job.request)))
    this.#setTimer(job, SPARE_AFTER_MS, () => this.#keepSpare())
  }

  #start(): void {
    const thread = startThread(this.#engine, {
      hear: (message) => this.#hear(slot, message),
      ended: (error) => this.#fail(slot, error),
    })
    const slot: Slot = { thread, ready: false, job: undefined, idleTimer: undefined }
    this.#slots.add(slot)
  }

  #hear(slot: Slot, message: WorkerMessage): void {
    if (!this.#slots.has(slot)) return
    const { job } = slot
    switch (message.type) {
      case 'began':
        if (job) this.#begin(job)
        return
      case 'log':
        job?.logs.push(message.line)
        job?.log?.(message.line)
        return
      case 'fetch':
        // The relay is silent once the script has ended, so no reply reaches the next script.
        job?.relay?.call(message, (reply) => post(slot, { type: 'fetched', id: message.id, reply }))
        return
      case 'waits':
        job?.relay?.waits(message)
        this.#dispatch()
        return
      case 'done':
        if (message.spent) {
          this.#replace(slot, message.ending)
          return
        }
        job?.settle(message.ending)
        slot.job = undefined
        break
      case 'ready':
        this.#engine = message.engine
    }
    slot.ready = true
    slot.idleTimer = setTimeout(() => this.#retire(slot), this.#limits.idleMs).unref()
    this.#dispatch()
  }

  /** A thread that died fails its script; a thread that never became ready fails a script that waited for it. */
  #fail(slot: Slot, error: NodeJS.ErrnoException): void {
    if (!this.#slots.has(slot)) return
    const { job } = slot
    if (!slot.ready) {
      void this.#end(slot)
      const cause = new Error('The script sandbox could not start', { cause: error })
      this.#turns.take(() => true)?.refuse(cause)
      this.#dispatch()
    } else if (job && !job.began) this.#lose(slot, job)
    else if (job && error.code === 'ERR_WORKER_OUT_OF_MEMORY') this.#replace(slot, outOfMemory(job.request))
    else this.#replace(slot, failure('EXECUTION_ERROR', 'The script crashed its worker'))
  }

  /** The worker died before the script started: the script gets another worker, once. */
  #lose(slot: Slot, job: Job): void {
    if (!job.wasLost) {
      job.wasLost = true
      slot.job = undefined
      this.#clearTimers(job)
      this.#setTimer(job, this.#limits.maxQueueMs, () => this.#drop(job, 'busy'))
      this.#turns.putBack(job)
    }
    this.#replace(slot, 'busy')
  }

  #replace(slot: Slot, ending: Ending | 'busy'): void {
    void this.#end(slot, ending)
    this.#dispatch()
    this.#keepSpare()
  }

  /** Holds one idle worker besides the busy ones, so the next script need not wait for a start. */
  #keepSpare(): void {
    if (this.#usage().held > this.#limits.maxRunning) return
    if (this.#count((slot) => !isBusy(slot)) === 0) this.#start()
  }

  #retire(slot: Slot): void {
    if (isIdle(slot) && this.#count(isIdle) > 1) void this.#end(slot)
  }

  async #end(slot: Slot, ending?: Ending | 'busy'): Promise<void> {
    this.#slots.delete(slot)
    clearTimeout(slot.idleTimer)
    if (ending) slot.job?.settle(ending)
    slot.job = undefined
    await slot.thread.terminate()
  }

  #usage(): SlotUsage {
    const busy = [...this.#slots].flatMap(({ job }) => (job ? [job] : []))
    const atWork = busy.map(({ tenantId, relay }) => ({ tenantId, waiting: relay?.waiting === true }))
    return countSlots(atWork, this.#limits)
  }

  #setTimer(job: Job, ms: number, then: () => void): void {
    job.timers.add(setTimeout(then, ms))
  }

  #clearTimers(job: Job): void {
    for (const timer of job.timers) clearTimeout(timer)
    job.timers.clear()
  }

  #count(predicate: (slot: Slot) => boolean): number {
    return [...this.#slots].filter(predicate).length
  }
}

function isBusy(slot: Slot): boolean {
  return slot.job !== undefined
}

function isIdle(slot: Slot): boolean {
  return slot.ready && slot.job === undefined
}

function post(slot: Slot, message: HostMessage): void {
  slot.thread.post(message)
}
