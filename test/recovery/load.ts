import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase, type Sql } from '@/db/index'
import { readPidFile } from '@/db/postgres/postmaster'
import { socketUrl } from '@/db/url'
import { type Caller, call } from '../support/api'
import type { EffectServer } from '../support/effects'
import { installFinality } from '../support/invariants/finality'
import { carry, expectSound, insist, publishKinds, verdict } from './workload'

/** The service's promises to its client: recorded when the 200 arrives, and never changed. */
type Acknowledged =
  | { runId: string; sent: number }
  | { runId: string; stepId: string; answered: number }
  | { runId: string; stopped: Stop['how'] }

/** That a caller stops a run, and how long after its start. */
export interface Stop {
  how: 'cancel' | 'terminate'
  afterMs: number
}

export interface LoadOptions {
  /** 6 by default. */
  clients?: number
  /** Decides whether a caller stops the next run. By default none is stopped. */
  stop?: () => Stop | null
}

export interface Load {
  readonly acknowledged: readonly Acknowledged[]
  /** The longest time that a run did not change, although it waited for nobody; which run that was, and until when. */
  longestStill(): { ms: number; runId: string; until: Date }
  /** Runs completed. */
  ended(): number
  /** Resolves when this many more promises were made. */
  more(count: number): Promise<void>
  /** Rejects as soon as a client finds a violation. */
  working: Promise<unknown>
  /** Starts no more runs, completes running ones, and compares. @returns the violations */
  finish(): Promise<string[]>
}

/** A step takes less than a second on an idle machine; on a busy one a restart alone takes half a minute. */
const STUCK_MS = 120_000

/** Clients that start runs of every kind and complete each, nonstop until `finish`. */
export async function startLoad(
  caller: () => Caller,
  effects: EffectServer,
  { clients = 6, stop = () => null }: LoadOptions = {},
): Promise<Load> {
  const workflows = await publishKinds(caller, effects, { sent: { type: 'number' } })
  const acknowledged: Acknowledged[] = []
  const problems: string[] = []
  let finishing = false
  let next = 0
  let ended = 0
  let longestStill = { ms: 0, runId: '', until: new Date() }
  const stopLater = async (runId: string, { how, afterMs }: Stop) => {
    await sleep(afterMs)
    const { answer, lost } = await insist(caller, 'POST', `/api/workflow/management/${how}`, { runId })
    if (answer.status === 200) acknowledged.push({ runId, stopped: how })
    // It had ended by then, perhaps by a call whose response was lost.
    else if (answer.status !== 409) throw new Error(`${how} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.status === 200 || lost > 0
  }
  const client = async () => {
    while (!finishing) {
      const sent = next++
      const path = `/api/workflow/start-async/${workflows[sent % workflows.length]}`
      const { answer } = await insist(caller, 'POST', path, { sent })
      if (answer.status !== 200) throw new Error(`start answered ${answer.status}: ${JSON.stringify(answer.body)}`)
      const { runId } = answer.body
      acknowledged.push({ runId, sent })
      const stopping = stop()
      const [{ run, accepted, still }, wasStopped] = await Promise.all([
        carry(caller, runId, STUCK_MS, (stepId, answered) => acknowledged.push({ runId, stepId, answered })),
        stopping ? stopLater(runId, stopping) : false,
      ])
      if (still.ms > longestStill.ms) longestStill = { ...still, runId }
      ended += 1
      problems.push(...verdict(run, accepted, wasStopped))
    }
  }
  const working = Promise.all(Array.from({ length: clients }, client))
  working.catch(() => {}) // reported by `finish`
  return {
    acknowledged,
    working,
    ended: () => ended,
    longestStill: () => longestStill,
    async more(count) {
      const until = acknowledged.length + count
      const enough = async () => {
        while (acknowledged.length < until) await new Promise((done) => setTimeout(done, 20))
      }
      await Promise.race([enough(), working])
    },
    async finish() {
      finishing = true
      await working
      const stopped = new Set(acknowledged.flatMap((promise) => ('stopped' in promise ? [promise.runId] : [])))
      for (const promise of acknowledged) problems.push(...(await broken(caller(), promise, stopped)))
      return problems
    },
  }
}

/** How a promise was broken, according to the API in the end. */
async function broken(caller: Caller, promise: Acknowledged, stopped: ReadonlySet<string>): Promise<string[]> {
  const { status, body } = await call(caller, 'GET', `/api/workflow/status/${promise.runId}`)
  if (status !== 200) return [`${promise.runId} is gone (${status})`]
  if ('sent' in promise) {
    return body.data.sent === promise.sent ? [] : [`${promise.runId} has lost its data: ${JSON.stringify(body.data)}`]
  }
  if ('stopped' in promise) {
    const ends = promise.stopped === 'cancel' ? ['cancelled', 'terminated'] : ['terminated']
    return ends.includes(body.outcome) ? [] : [`${promise.runId} was stopped (${promise.stopped}): ${body.outcome}`]
  }
  // The stop may have arrived before the run continued with the answer.
  if (stopped.has(promise.runId)) return []
  const done = (body.stepExecutionHistory as { stepId: string; status: string }[]).some(
    ({ stepId, status }) => stepId === promise.stepId && status === 'completed',
  )
  const kept = promise.stepId !== 'ask' || body.data.n === promise.answered
  return done && kept ? [] : [`${promise.runId} has lost its answer to ${promise.stepId}`]
}

/** Makes a service's embedded database refuse changes to ended runs. */
export function guardIn(dataDir: string): Promise<void> {
  return inDatabaseOf(dataDir, installFinality)
}

/** Checks a service's embedded database directly. */
export function expectSoundIn(dataDir: string, effects: EffectServer): Promise<void> {
  return inDatabaseOf(dataDir, (sql) => expectSound(sql, effects))
}

async function inDatabaseOf(dataDir: string, work: (sql: Sql) => Promise<void>): Promise<void> {
  const { socketDir = '' } = readPidFile(`${dataDir}/postgres`) ?? {}
  const database = openDatabase(socketUrl('millrace', 'millrace', socketDir), { max: 2 })
  try {
    await work(database.sql)
  } finally {
    await database.close()
  }
}
