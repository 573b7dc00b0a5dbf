import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Sql } from '@/db/index'
import { type Answer, type Caller, call } from '../support/api'
import type { EffectServer } from '../support/effects'
import { expectInvariants } from '../support/invariants/check'
import { checkEffects } from '../support/invariants/effects'

const quick = { initialDelayMs: 200, backoff: 'fixed', maxAttempts: 20 }
const effect = (effects: EffectServer, id: string) => ({
  id,
  type: 'test-effect',
  url: effects.url,
  body: { id },
  saveAs: id,
  retry: quick,
})
const chain = (ids: string[]) => ids.slice(1).map((id, i) => ({ from: ids[i], to: id }))

/** Different kinds of runs: straight, with one pause, with two kinds of pauses between effects, with branches,
 * with an event. */
export const KINDS = [
  (effects: EffectServer) => {
    const ids = ['a', 'b', 'c', 'd', 'e']
    return { steps: ids.map((id) => effect(effects, id)), edges: chain(ids) }
  },
  (effects: EffectServer) => ({
    steps: [
      effect(effects, 'a'),
      { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
      effect(effects, 'b'),
    ],
    edges: chain(['a', 'ask', 'b']),
  }),
  (effects: EffectServer) => ({
    steps: [
      { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
      effect(effects, 'a'),
      { id: 'choose', type: 'request-user-action', actions: [{ id: 'yes', label: 'Yes' }] },
      effect(effects, 'b'),
    ],
    edges: chain(['ask', 'a', 'choose', 'b']),
  }),
  (effects: EffectServer) => ({
    steps: [
      { id: 'both', type: 'parallel', branches: [{ id: 'left' }, { id: 'right' }] },
      effect(effects, 'a'),
      { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
      { id: 'each', type: 'for-each', items: [1, 2, 3], concurrency: 2, result: '${item}' },
      effect(effects, 'b'),
      effect(effects, 'c'),
    ],
    edges: [
      { from: 'both', to: 'a', on: 'left' },
      { from: 'both', to: 'ask', on: 'right' },
      { from: 'both', to: 'each', on: 'done' },
      { from: 'each', to: 'b', on: 'each' },
      { from: 'each', to: 'c', on: 'done' },
    ],
  }),
  (effects: EffectServer) => ({
    steps: [
      { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' }, ref: { type: 'string' } } },
      effect(effects, 'a'),
      { id: 'settled', type: 'wait-for-event', event: 'settled', key: '${ref}', when: '${event.data.n} == ${n}' },
      effect(effects, 'b'),
    ],
    edges: chain(['ask', 'a', 'settled', 'b']),
  }),
  (effects: EffectServer, child: string) => ({
    steps: [
      { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
      { id: 'sub', type: 'run-workflow', workflowId: child },
      effect(effects, 'b'),
    ],
    edges: chain(['ask', 'sub', 'b']),
  }),
]

/** Publishes a workflow of each kind, with the fields that a start may send. @returns their ids */
export async function publishKinds(caller: () => Caller, effects: EffectServer, payload = {}): Promise<string[]> {
  const child = await publish(caller, { name: 'Child', payload: {}, steps: [effect(effects, 'a')], edges: [] })
  const ids: string[] = []
  for (const kind of KINDS) ids.push(await publish(caller, { name: 'Recovery', payload, ...kind(effects, child) }))
  return ids
}

async function publish(caller: () => Caller, definition: object): Promise<string> {
  const { answer } = await insist(caller, 'POST', '/api/workflows', definition)
  expect(answer.status).toBe(201)
  expect((await insist(caller, 'POST', `/api/workflows/${answer.body.id}/publish`, {})).answer.status).toBe(200)
  return answer.body.id
}

/**
 * Repeats a call until it is answered, so that only acknowledged ones count. Marks calls that may already have been
 * received.
 */
export async function insist(
  caller: () => Caller,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ answer: Answer; lost: number }> {
  for (let lost = 0; ; lost++) {
    const answer = await call(caller(), method, path, body, { signal: AbortSignal.timeout(15_000) }).catch(() => null)
    if (answer && answer.status < 500) return { answer, lost }
    await sleep(50)
  }
}

/**
 * Answers every pause of a run until it has ended.
 * @param patienceMs how long the run may stand still
 * @returns the run, the answers that got a 200, by pause, and the longest time in which the run did not change
 */
export async function carry(
  caller: () => Caller,
  runId: string,
  patienceMs: number,
  heard: (stepId: string, n: number) => void = () => {},
) {
  const accepted = new Map<string, number>()
  const answered = new Set<string>()
  let before: HistoryItem[] = []
  let posted = false
  let [last, lastAt] = ['', performance.now()]
  let still = { ms: 0, until: new Date() }
  /** Posts the event that the run waits for, or will wait for. An acknowledged post must not be needed again. */
  const post = async (n: number) => {
    const event = { name: 'settled', key: runId, id: `${runId}:settled`, data: { n } }
    const { answer } = await insist(caller, 'POST', '/api/events', event)
    if (answer.status !== 200) throw new Error(`an event was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    posted = true
  }
  for (let n = 1; ; n++) {
    const { answer: status } = await insist(caller, 'GET', `/api/workflow/status/${runId}`)
    if (status.status !== 200) throw new Error(`${runId} was acknowledged and is gone: ${JSON.stringify(status.body)}`)
    const run = status.body
    const seen = JSON.stringify([run.status, run.currentStepId, run.pauseSignal?.id, run.stepExecutionHistory])
    if (performance.now() - lastAt > still.ms) still = { ms: performance.now() - lastAt, until: new Date() }
    if (seen !== last) [last, lastAt] = [seen, performance.now()]
    const changed = historyChanged(before, run.stepExecutionHistory)
    if (changed) throw new Error(`${runId}: between two reads, ${changed}`)
    before = run.stepExecutionHistory
    if (answered.has(run.pauseSignal?.id))
      throw new Error(`${runId} shows the pause that was answered: ${status.body.pauseSignal.id}`)
    if (run.status === 'completed' || run.status === 'failed') return { run, accepted, still }
    if (performance.now() - lastAt > patienceMs) throw new Error(`${runId} is stuck: ${JSON.stringify(run)}`)
    if (run.currentStepId === 'settled' && !posted) await post(accepted.get('ask') ?? run.data.n)
    const pause = run.pauseSignal
    if (pause) {
      const body =
        pause.type === 'collect_inputs'
          ? { type: pause.type, pauseId: pause.id, data: { n, ref: runId } }
          : { type: pause.type, pauseId: pause.id, actionId: 'yes' }
      const { answer } = await insist(caller, 'POST', `/api/workflow/resume/${runId}`, body)
      if (answer.status === 200) {
        accepted.set(pause.stepId, n)
        answered.add(pause.id)
        heard(pause.stepId, n)
        // Some events arrive before the run waits for them.
        if (run.stepExecutionHistory.length === 1 && 'ref' in (pause.fields ?? {}) && n % 2 === 0) await post(n)
      } else if (answer.status !== 409)
        throw new Error(`resume answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    }
    await sleep(30)
  }
}

interface HistoryItem {
  branch?: string
  stepId: string
  visit: number
  status: string
  startTime: string
  endTime?: string
}

/**
 * I19: a history only grows. Records of different branches commit in any order, so each branch is compared with itself.
 * @returns the violations
 */
export function historyChanged(before: readonly HistoryItem[], after: readonly HistoryItem[]): string | null {
  const branches = new Map<string, HistoryItem[]>()
  for (const item of after) branches.set(item.branch ?? '', [...(branches.get(item.branch ?? '') ?? []), item])
  const at = new Map<string, number>()
  for (const old of before) {
    const branch = old.branch ?? ''
    const index = at.get(branch) ?? 0
    at.set(branch, index + 1)
    const now = branches.get(branch)?.[index]
    const name = `${branch}:${old.stepId}#${old.visit}`
    if (!now) return `${name} is gone`
    if (now.stepId !== old.stepId || now.visit !== old.visit) return `${now.stepId}#${now.visit} came before ${name}`
    if (now.startTime !== old.startTime) return `${name} began at another time`
    if (old.endTime && JSON.stringify(now) !== JSON.stringify(old)) return `${name} changed after its end`
    if (now.endTime && now.endTime < now.startTime) return `${name} ended before it began`
  }
  return null
}

/** Assertions on a run that was completed, or that may have been stopped. */
export function verdict(run: Answer['body'], accepted: Map<string, number>, wasStopped = false): string[] {
  const problems: string[] = []
  const must = (ok: boolean, what: string) => {
    if (!ok) problems.push(`${run.runId}: ${what}`)
  }
  const history = run.stepExecutionHistory as { stepId: string; branch?: string; status: string; endTime?: string }[]
  const isStopped = wasStopped && ['cancelled', 'terminated'].includes(run.outcome)
  must(isStopped || run.status === 'completed', `ended ${run.status} ${JSON.stringify(run.error)}`)
  must(
    new Set(history.map((step) => `${step.branch}:${step.stepId}`)).size === history.length,
    'a step has two records',
  )
  must(isStopped || history.every((step) => step.status === 'completed' && step.endTime), 'a record is not completed')
  const data = run.data as unknown as Record<string, unknown>
  const answered = accepted.get('ask')
  if (answered !== undefined && !isStopped)
    must(data.n === answered, `the accepted answer was ${answered}, the data says ${String(data.n)}`)
  return problems
}

/** A step whose result is recorded never runs again: any step executed twice was running when a process died. */
export function repeats(effects: EffectServer): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { key } of effects.seen) counts.set(key, (counts.get(key) ?? 0) + 1)
  return new Map([...counts].filter(([, count]) => count > 1))
}

/** The database and the outside world at any moment: every invariant holds, and records and effects agree. */
export async function expectSound(sql: Sql, effects: EffectServer): Promise<void> {
  await expectInvariants(sql)
  expect(await checkEffects(sql, effects.seen)).toEqual([])
}
