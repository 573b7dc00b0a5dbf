import { Worker } from 'node:worker_threads'
import { FetchRelay, type ScriptFetch } from './fetch-relay'
import type { Ending, HostMessage, LogLine, WorkerMessage, WorkerRequest } from './protocol'

/** What the worker has after the script's own deadline to report it, before it is ended from outside. */
const GRACE_MS = 100
/** A script that runs longer than this is likely to keep its worker, or to cost it: a spare is started. */
const SPARE_AFTER_MS = 50

export interface PoolLimits {
  /** Scripts that run at the same time. One more worker may stand by. */
  maxRunning: number
  /** So many more may be there that only wait for an answer of the outside, and take no processor. */
  maxWaiting: number
  /** How long a script may wait for a worker. */
  maxQueueMs: number
  /** After this an idle worker ends, unless it is the only one. */
  idleMs: number
}

export interface PoolAnswer {
  ending: Ending
  logs: LogLine[]
}

interface Job {
  request: WorkerRequest
  /** Absent: the script has no way out. */
  relay: FetchRelay | undefined
  logs: LogLine[]
  timers: Set<NodeJS.Timeout>
  settle(ending: Ending): void
  refuse(error: Error): void
}

interface Slot {
  thread: Worker
  ready: boolean
  job: Job | undefined
  idleTimer: NodeJS.Timeout | undefined
}

/**
 * Warm worker threads, each running one script at a time. A worker's thread can be ended whatever it does,
 * native loops included, which is what makes a deadline hold; the main thread only passes messages.
 * A worker is `starting`, then `idle` and `busy` in turns, and is never used again once ended.
 */
export class ScriptPool {
  readonly #limits: PoolLimits
  readonly #slots = new Set<Slot>()
  readonly #queue: Job[] = []
  #engine: WebAssembly.Module | undefined

  constructor(limits: PoolLimits) {
    this.#limits = limits
  }

  /** Workers alive: starting, idle or busy. */
  get size(): number {
    return this.#slots.size
  }

  /** @throws Error when no worker can be started at all. */
  run(request: WorkerRequest, signal?: AbortSignal, fetch?: ScriptFetch): Promise<PoolAnswer> {
    return new Promise((resolve, reject) => {
      const done = () => {
        for (const timer of job.timers) clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
        job.relay?.close()
      }
      const job: Job = {
        request,
        relay: fetch && request.maxFetches > 0 ? new FetchRelay(fetch, request.maxFetches) : undefined,
        logs: [],
        timers: new Set(),
        settle(ending) {
          done()
          resolve({ ending, logs: job.logs })
        },
        refuse(error) {
          done()
          reject(error)
        },
      }
      const cancel = () => this.#drop(job, failure('EXECUTION_ERROR', 'The script was cancelled'))
      if (signal?.aborted) return cancel()
      signal?.addEventListener('abort', cancel, { once: true })
      const noWorker = failure('TIMEOUT', 'No script worker was free')
      job.timers.add(setTimeout(() => this.#drop(job, noWorker), this.#limits.maxQueueMs))
      this.#queue.push(job)
      this.#dispatch()
    })
  }

  /** Ends every worker; scripts still there fail. The pool starts anew if it is used again. */
  async stop(): Promise<void> {
    const stopped = failure('EXECUTION_ERROR', 'The script sandbox was shut down')
    for (const job of this.#queue.splice(0)) job.settle(stopped)
    await Promise.all([...this.#slots].map((slot) => this.#end(slot, stopped)))
  }

  /** Ends a script wherever it is: in the queue, or on a worker, which goes with it. */
  #drop(job: Job, ending: Ending): void {
    const place = this.#queue.indexOf(job)
    if (place >= 0) this.#queue.splice(place, 1)
    const slot = [...this.#slots].find((candidate) => candidate.job === job)
    if (slot) this.#replace(slot, ending)
    else job.settle(ending)
  }

  #dispatch(): void {
    while (this.#queue.length > 0 && this.#count(isBusy) - this.#waiting < this.#limits.maxRunning) {
      const slot = [...this.#slots].find(isIdle)
      const job = slot && this.#queue.shift()
      if (!slot || !job) break
      this.#assign(slot, job)
    }
    const waiting = Math.min(this.#queue.length, this.#limits.maxRunning)
    while (this.#count((slot) => !slot.ready) < waiting && this.size - this.#waiting < this.#limits.maxRunning)
      this.#start()
  }

  #assign(slot: Slot, job: Job): void {
    clearTimeout(slot.idleTimer)
    for (const timer of job.timers) clearTimeout(timer)
    slot.job = job
    const { timeoutMs } = job.request
    const late = failure('TIMEOUT', `The script ran longer than ${timeoutMs} ms`)
    job.timers.add(setTimeout(() => this.#drop(job, late), timeoutMs + GRACE_MS))
    job.timers.add(setTimeout(() => this.#keepSpare(), SPARE_AFTER_MS))
    post(slot, { type: 'run', request: job.request })
  }

  #start(): void {
    const thread = new Worker(new URL('./worker.mjs', import.meta.url), {
      name: 'script-sandbox',
      // nothing of the service: no variables, no loaders, no streams
      workerData: { engine: this.#engine },
      env: {},
      execArgv: [],
      argv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    })
    const slot: Slot = { thread, ready: false, job: undefined, idleTimer: undefined }
    this.#slots.add(slot)
    thread.on('message', (message: WorkerMessage) => this.#hear(slot, message))
    thread.on('error', (error) => this.#fail(slot, error))
    thread.on('exit', () => this.#fail(slot, new Error('the thread ended')))
    // A waiting script's timer keeps the process alive, a worker does not. Last, since a listener refs it again.
    thread.unref()
  }

  #hear(slot: Slot, message: WorkerMessage): void {
    if (!this.#slots.has(slot)) return
    if (message.type === 'log') {
      slot.job?.logs.push(message.line)
      return
    }
    if (message.type === 'fetch' || message.type === 'waits') {
      this.#relay(slot, message)
      return
    }
    if (message.type === 'ready') this.#engine = message.engine
    if (message.type === 'done') {
      if (message.spent) {
        this.#replace(slot, message.ending)
        return
      }
      slot.job?.settle(message.ending)
      slot.job = undefined
    }
    slot.ready = true
    slot.idleTimer = setTimeout(() => this.#retire(slot), this.#limits.idleMs).unref()
    this.#dispatch()
  }

  #relay(slot: Slot, message: WorkerMessage & { type: 'fetch' | 'waits' }): void {
    const { job } = slot
    if (message.type === 'waits') {
      job?.relay?.waits(message)
      this.#dispatch()
    } else {
      // The relay is silent once the script has ended, so no reply meets the next one.
      job?.relay?.call(message, (reply) => post(slot, { type: 'fetched', id: message.id, reply }))
    }
  }

  /** A thread that died by itself takes its script with it; one that never got ready, the script that waited for it. */
  #fail(slot: Slot, error: Error): void {
    if (!this.#slots.has(slot)) return
    if (slot.ready) {
      this.#replace(slot, failure('EXECUTION_ERROR', 'The script broke its worker'))
      return
    }
    void this.#end(slot)
    this.#queue.shift()?.refuse(new Error('The script sandbox could not start', { cause: error }))
    this.#dispatch()
  }

  #replace(slot: Slot, ending: Ending): void {
    void this.#end(slot, ending)
    this.#dispatch()
    this.#keepSpare()
  }

  /** One worker stays warm beside those that are busy, so that the next script need not wait for a start. */
  #keepSpare(): void {
    if (this.size - this.#waiting > this.#limits.maxRunning) return
    if (this.#count((slot) => !isBusy(slot)) === 0) this.#start()
  }

  #retire(slot: Slot): void {
    if (isIdle(slot) && this.#count(isIdle) > 1) void this.#end(slot)
  }

  async #end(slot: Slot, ending?: Ending): Promise<void> {
    this.#slots.delete(slot)
    clearTimeout(slot.idleTimer)
    if (ending) slot.job?.settle(ending)
    slot.job = undefined
    await slot.thread.terminate()
  }

  /** Workers that leave their place to another for now. */
  get #waiting(): number {
    const waiting = this.#count(({ job }) => job?.relay?.waiting === true)
    return Math.min(waiting, this.#limits.maxWaiting)
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
  slot.thread.postMessage(message)
}

function failure(code: 'EXECUTION_ERROR' | 'TIMEOUT', message: string): Ending {
  return { ok: false, code, message, details: [] }
}
