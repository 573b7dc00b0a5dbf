import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { AppError } from '@/server/errors'
import { postEvent } from '@/server/events/post'
import { type MovesMade, moveRuns } from '@/server/runs/moves/move'
import type { PresentedRun } from '@/server/runs/present'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startInngestRuntime } from '../support/inngest-runtime'
import { checkEffects } from '../support/invariants/effects'
import { rounds } from '../support/rounds'
import type { TestRuntime } from '../support/runtime'
import { ask, type Drawn, decide, hasBegun, isPaused, path, say } from './moving'

/*
 * Needs a real Inngest server, such as `inngest dev --no-discovery --no-poll --retry-interval 1 --tick 10`, with its
 * address in INNGEST_BASE_URL.
 */
const baseUrl = process.env.INNGEST_BASE_URL

const RUNS = rounds(40, 240)
const AT_ONCE = 8
/** The server takes many runs in one call, one after the other. */
const END = 300_000

describe.skipIf(!baseUrl)(
  `moves on a real Inngest server (${baseUrl ?? 'skipped: INNGEST_BASE_URL is not set'})`,
  () => {
    let database: FreshDatabase
    let runtime: TestRuntime
    let effects: EffectServer
    let ctx: ServiceContext
    beforeAll(async () => {
      database = await freshDatabase({ max: 20 })
      effects = await startEffects()
      runtime = await startInngestRuntime(database.url)
      ctx = runtime.ctx
    })
    // Checks the invariants, among them those of moves.
    afterAll(async () => {
      await runtime?.stop()
      await effects?.stop()
      await database?.close()
    })

    test(`${RUNS} runs are moved while some are answered: each answer counts, each ends as its version says, and no effect happens twice`, async () => {
      const effect = { id: 'call', type: 'test-effect', url: effects.url, body: { id: 'call' }, saveAs: 'called' }
      const flows = await Promise.all(KINDS.map((kind) => publishBoth(ctx, kind, effect)))
      const runs = await inLanes(
        Array.from({ length: RUNS }, (_, at) => at),
        async (at) => {
          const { kind, workflowId, from, to } = pick(flows, at)
          const { runId } = await startRun(ctx, { workflowId, body: { key: `key-${at}` }, version: String(from) })
          await runtime.wait(runId, kind.waits ?? isPaused, END)
          return { kind, workflowId, from, to, runId, at }
        },
      )
      // Some are answered before the moves, some at the same time, and the others after them.
      const answer = (...turns: number[]) =>
        inLanes(
          runs.filter(({ at }) => turns.includes(Math.floor(at / KINDS.length) % 10)),
          ({ kind, runId, at }) => kind.answer(ctx, runId, at),
        )
      await answer(0)
      const [made] = await Promise.all([
        Promise.all(flows.map(({ workflowId, to }) => moveAll(workflowId, to))),
        answer(1, 2),
      ])
      await answer(3, 4, 5, 6, 7, 8, 9)
      const moved = new Set(made.flatMap((one) => one.moved.map(({ runId }) => runId)))
      const refused = made.flatMap((one) => one.refused)
      const ended = await inLanes(runs, async (run) => ({
        ...run,
        ended: await runtime.wait(run.runId, undefined, END),
      }))
      for (const { kind, runId, at, from, to, ended: run } of ended) {
        const wasMoved = moved.has(runId)
        expect(run, kind.name).toMatchObject({ outcome: 'succeeded', workflowVersion: wasMoved ? to : from })
        expect(run.result, kind.name).toMatchObject({ said: wasMoved ? 'two' : 'one', ...kind.gives(at) })
      }
      expect(moved.size + refused.length).toBe(RUNS)
      expect(moved.size).toBeGreaterThan(RUNS / 2)
      expect(refused.filter((one) => one.code === 'MOVE_REFUSED' && one.reasons.length === 0)).toEqual([])
      expect(effects.seen.length).toBe(RUNS)
      expect(await checkEffects(database.sql, effects.seen)).toEqual([])
      process.stderr.write(`${moved.size} moved, ${refused.map(whyOf).toSorted().join(' ')}\n`)

      async function moveAll(workflowId: string, toVersion: number): Promise<MovesMade> {
        const runIds = runs.filter((run) => run.workflowId === workflowId).map(({ runId }) => runId)
        return moveRuns(ctx, { workflowId, toVersion, runIds, asksAgain: true })
      }
    })
  },
  1_200_000,
)

type Refused = MovesMade['refused'][number]
const whyOf = (one: Refused) => (one.code === 'MOVE_REFUSED' ? one.reasons.map(({ code }) => code).join() : one.code)

interface Kind {
  name: string
  waiting: (nth: number) => Drawn
  /** Whether the run waits, where that is no pause for a person. */
  waits?: (run: PresentedRun) => boolean
  answer: (ctx: ServiceContext, runId: string, at: number) => Promise<unknown>
  gives: (at: number) => object
}

const fill = (ctx: ServiceContext, runId: string, data: object, stepId = 'ask') =>
  resumeRun(ctx, { runId, body: { type: 'collect_inputs', stepId, data } })
const title = (nth: number) => (nth === 1 ? { title: 'Asked again' } : {})

const KINDS: Kind[] = [
  {
    name: 'a form that is asked again',
    waiting: (nth) => path(ask(title(nth))),
    answer: (ctx, runId, n) => fill(ctx, runId, { n }),
    gives: (n) => ({ n }),
  },
  {
    name: 'branches',
    waiting: () => ({
      steps: [
        { id: 'both', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] },
        ask(),
        { id: 'other', type: 'collect-inputs', output: { m: { type: 'number' } } },
      ],
      initialStep: 'both',
      edges: [
        { from: 'both', to: 'ask', on: 'a' },
        { from: 'both', to: 'other', on: 'b' },
      ],
    }),
    waits: ({ pauseSignals }) => pauseSignals.length === 2,
    answer: async (ctx, runId, n) => {
      await fill(ctx, runId, { n })
      await fill(ctx, runId, { m: n }, 'other')
    },
    gives: (n) => ({ n, m: n }),
  },
  {
    name: 'votes',
    waiting: () => path(decide({ needs: { ok: 2 } })),
    answer: async (ctx, runId) => {
      for (const answeredBy of ['ada', 'bob'])
        await resumeRun(ctx, { runId, body: { type: 'request_user_action', actionId: 'ok', answeredBy } })
    },
    gives: () => ({}),
  },
  {
    name: 'an event',
    waiting: (nth) =>
      path({
        ...{ id: 'ask', type: 'wait-for-event', event: 'paid', key: '${key}', saveAs: 'event' },
        expiresIn: nth === 1 ? 'P2D' : 'P1D',
      }),
    waits: hasBegun,
    answer: (ctx, _runId, at) => postEvent(ctx, { name: 'paid', key: `key-${at}`, data: { at } }),
    gives: (at) => ({ event: { data: { at } } }),
  },
]

/** Two versions: the second may ask something else, and says so at its end. */
async function publishBoth(ctx: ServiceContext, kind: Kind, effect: { id: string; type: string }) {
  const drawn = (nth: number) => {
    const { steps, edges, initialStep } = kind.waiting(nth)
    const [first] = steps
    const leaves = first?.type === 'parallel' ? { on: 'done' } : {}
    return {
      payload: { key: { type: 'string' } },
      initialStep,
      steps: [...steps, effect, say(nth === 0 ? 'one' : 'two')],
      edges: [...edges, { from: first?.id ?? '', to: effect.id, ...leaves }, { from: effect.id, to: 'say' }],
    }
  }
  const { id: workflowId } = await createWorkflow(ctx, { name: kind.name, ...drawn(0) } as never)
  const { version: from } = await publishWorkflow(ctx, { id: workflowId })
  await updateWorkflow(ctx, { id: workflowId, body: drawn(1) as never })
  const { version: to } = await publishWorkflow(ctx, { id: workflowId })
  return { kind, workflowId, from, to }
}

function pick<T>(list: readonly T[], at: number): T {
  const one = list[at % list.length]
  if (one === undefined) throw new AppError('CONFLICT')
  return one
}

async function inLanes<T, R>(list: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const left = [...list.entries()]
  const lane = async () => {
    for (let next = left.shift(); next; next = left.shift()) results[next[0]] = await work(next[1])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return results
}
