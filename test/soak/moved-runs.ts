import { setTimeout as sleep } from 'node:timers/promises'
import { insist } from '../recovery/workload'
import type { Caller } from '../support/api'

/** How a run waits, and what answers it. */
export const WAITS = ['form', 'branches', 'event', 'vote', 'held'] as const
export type Wait = (typeof WAITS)[number]

/** A workflow with versions that ask the same, ask something else, and store the answer elsewhere. */
export interface Flow {
  wait: Wait
  workflowId: string
  versions: number[]
}

/** A run, and the answers to it that were acknowledged. */
export interface Moved {
  flow: Flow
  runId: string
  /** Of the event that it waits for. */
  key: string
  /** What the callers sent and got a 200 for, by step. */
  accepted: Map<string, number>
}

const SAID = ['one', 'two', 'three']
const form = (id: string, field: string) => ({ id, type: 'collect-inputs', output: { [field]: { type: 'number' } } })
const decision = {
  ...{ id: 'ask', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }], needs: { ok: 2 } },
}
const fork = { id: 'both', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] }

/** The steps that wait, in a version. The second one asks something else, but for the body of a fork, which must stay. */
function waiting(wait: Wait, nth: number): { steps: object[]; edges: object[]; last: string } {
  const title = nth === 1 ? { title: 'Asked again' } : {}
  switch (wait) {
    case 'form':
    case 'held':
      return { steps: [{ ...form('ask', 'n'), ...title }], edges: [], last: 'ask' }
    case 'vote':
      return { steps: [{ ...decision, ...title }], edges: [], last: 'ask' }
    case 'event': {
      const time = nth === 1 ? { expiresIn: 'P2D' } : { expiresIn: 'P1D' }
      const ask = { id: 'ask', type: 'wait-for-event', event: 'settled', key: '${key}', saveAs: 'event', ...time }
      return { steps: [ask], edges: [], last: 'ask' }
    }
    case 'branches':
      return {
        steps: [fork, form('left', 'n'), form('right', 'm')],
        edges: [
          { from: 'both', to: 'left', on: 'a' },
          { from: 'both', to: 'right', on: 'b' },
        ],
        last: 'both',
      }
  }
}

function drawn(wait: Wait, nth: number, url: string) {
  const effect = (id: string) => {
    const retry = { initialDelayMs: 500, backoff: 'fixed', maxAttempts: 20 }
    return { id, type: 'test-effect', url, body: { id }, saveAs: id, retry }
  }
  const { steps, edges, last } = waiting(wait, nth)
  const first = (steps[0] as { id: string }).id
  return {
    payload: { key: { type: 'string' } },
    initialStep: 'before',
    steps: [effect('before'), ...steps, effect('after'), { id: 'say', type: 'set-data', values: { said: SAID[nth] } }],
    edges: [
      { from: 'before', to: first },
      ...edges,
      { from: last, to: 'after', ...(wait === 'branches' ? { on: 'done' } : {}) },
      { from: 'after', to: 'say' },
    ],
  }
}

/** What a run says at its end, by version. */
export const saidIn = ({ versions }: Flow, version: number) => SAID[versions.indexOf(version)]

/** Creates a workflow of each kind, with three published versions. */
export async function publishFlows(caller: () => Caller, url: string): Promise<Flow[]> {
  const flows: Flow[] = []
  for (const wait of WAITS) {
    const name = `Waits ${wait}`
    const { answer } = await insist(caller, 'POST', '/api/workflows', { name, ...drawn(wait, 0, url) })
    const workflowId: string = answer.body.id
    const versions: number[] = []
    for (const nth of SAID.keys()) {
      if (nth > 0) {
        const saved = await insist(caller, 'PUT', `/api/workflows/${workflowId}`, { name, ...drawn(wait, nth, url) })
        if (saved.answer.status !== 200) throw new Error(JSON.stringify(saved.answer.body))
      }
      const published = await insist(caller, 'POST', `/api/workflows/${workflowId}/publish`, {})
      if (published.answer.status !== 200) throw new Error(JSON.stringify(published.answer.body))
      versions.push(published.answer.body.version)
    }
    flows.push({ wait, workflowId, versions })
  }
  return flows
}

/** Answers everything that a run waits for, until it waits for nothing. @returns the refusals, by code */
export async function answerAll(
  caller: () => Caller,
  { flow, runId, key: eventKey, accepted }: Moved,
  n: number,
  hold: (runId: string, data: object) => Promise<string | null>,
): Promise<string[]> {
  const refused: string[] = []
  const path = `/api/workflow/resume/${runId}`
  const send = async (stepId: string, body: object, key = stepId) => {
    if (accepted.has(key)) return
    const { answer, lost } = await insist(caller, 'POST', path, { stepId, ...body })
    if (answer.status === 200) accepted.set(key, n)
    // A call whose answer was lost may have been the one that counts.
    else if (lost > 0 && answer.body.error?.code === 'RUN_NOT_PAUSED') accepted.set(key, n)
    else refused.push(String(answer.body.error?.code ?? answer.status))
  }
  const fill = (stepId: string, name: string) => send(stepId, { type: 'collect_inputs', data: { [name]: n } })
  if (flow.wait === 'form') await fill('ask', 'n')
  else if (flow.wait === 'branches') await Promise.all([fill('left', 'n'), fill('right', 'm')])
  else if (flow.wait === 'vote')
    for (const answeredBy of ['ada', 'bob'])
      await send('ask', { type: 'request_user_action', actionId: 'ok', answeredBy }, answeredBy)
  else if (flow.wait === 'event') {
    const event = { name: 'settled', key: eventKey, id: `${runId}:settled`, data: { n } }
    const { answer } = await insist(caller, 'POST', '/api/events', event)
    if (answer.status !== 200) throw new Error(`an event was answered ${answer.status}`)
    accepted.set('ask', n)
  } else if (!accepted.has('ask')) {
    const code = await hold(runId, { n })
    if (code === null) accepted.set('ask', n)
    else refused.push(code)
  }
  if (refused.length > 0) await sleep(100)
  return refused
}
