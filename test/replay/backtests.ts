import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import type { Judged } from '@/server/definition/verdict-groups'
import { backtestRuns, backtestSample } from '@/server/runs/backtest/run'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import type { TestRuntime } from '../support/runtime'

const never = new AbortController().signal

/** A person who is signed in, and sees no sensitive field. */
export function signedIn(ctx: ServiceContext, role: 'editor' | 'admin'): ServiceContext {
  return { ...ctx, actor: { kind: 'user', id: `usr_${role}`, name: 'Ada', sessionId: 'ses_1', role } }
}

/** Steps in a row, and the edges between them. */
export function inARow(...steps: { id: string; [setting: string]: unknown }[]) {
  return { steps, edges: steps.slice(1).map(({ id }, at) => ({ from: steps[at]?.id ?? '', to: id })) }
}

/** Makes runs of published workflows, changes their drafts, and tries the runs on them. */
export function backtests(runtime: () => TestRuntime) {
  const all: string[] = []
  async function published(definition: object): Promise<string> {
    const { id } = await createWorkflow(runtime().ctx, { name: 'Tried', ...definition })
    all.push(id)
    await publishWorkflow(runtime().ctx, { id })
    return id
  }

  /** @param answer of the question that the run asks, if it asks one */
  async function ran(workflowId: string, data: JsonObject = {}, answer?: object): Promise<string> {
    const { runId } = await startRun(runtime().ctx, { workflowId, body: data as never })
    if (answer) {
      await runtime().wait(runId, ({ status }) => status === 'paused', 10_000)
      await resumeRun(runtime().ctx, { runId, body: answer })
    }
    await runtime().wait(runId, undefined, 10_000)
    return runId
  }

  async function changed(id: string, body: object): Promise<void> {
    await updateWorkflow(runtime().ctx, { id, body: body as never })
  }

  /** Tries all past runs on the draft, newest first. */
  async function tried(
    id: string,
    options: { of?: 'ended' | 'failed'; assume?: JsonObject; reveal?: boolean; scripts?: boolean } = {},
    ctx: ServiceContext = signedIn(runtime().ctx, 'editor'),
  ): Promise<Judged[]> {
    const { of } = options
    const { runs, version } = await backtestSample(ctx, { id, body: { ...(of ? { of } : {}) } })
    const judged: Judged[] = []
    for (let left = runs.map(({ id }) => id); left.length > 0; ) {
      const some = await backtestRuns(ctx, { id, body: { version, runIds: left.slice(0, 50), ...options } }, never)
      judged.push(...some.runs)
      left = [...some.left, ...left.slice(50)]
    }
    return judged
  }

  /** The verdict on the only run, without what it assumes. */
  async function verdict(id: string, options: Parameters<typeof tried>[1] = {}) {
    const [{ verdict } = { verdict: null }] = await tried(id, options)
    if (!verdict) return null
    const { assumed, calls, ...rest } = verdict
    return { ...rest, ...(assumed.length > 0 ? { assumed: assumed.map(({ why }) => why) } : {}), ...lists(calls) }
  }
  return { all, published, ran, changed, tried, verdict }
}

const lists = (calls: object) => Object.fromEntries(Object.entries(calls).filter(([, ids]) => ids.length > 0))
