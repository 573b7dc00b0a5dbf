import { type ServiceContext, type Sweep, systemContext } from '@/server/context'
import { sweepRuns } from '@/server/interpreter/repair/sweep'
import { timeOutRuns } from '@/server/interpreter/stop/time-out'
import { readShared } from '@/server/metrics/database'
import { readFailures } from '@/server/metrics/failures'
import { deleteOldRuns } from '@/server/runs/delete-old'
import { exportRuns as exportLines } from '@/server/runs/export'
import { readHistory } from '@/server/runs/history'
import { listRuns } from '@/server/runs/list'
import { writePosition } from '@/server/runs/position'
import { getRunStatus } from '@/server/runs/status'
import { countSubjectData } from '@/server/subjects/count'
import { readChecklist } from '@/server/views/home/checklist'
import { findAnything } from '@/server/views/home/find'
import { readPulse } from '@/server/views/home/pulse'
import { countAllDays } from '@/server/views/insights/days'
import { readInsights } from '@/server/views/insights/read'
import { readStepFigures } from '@/server/views/insights/steps'
import { browseRuns } from '@/server/views/runs/browse'
import { countBulk } from '@/server/views/runs/bulk'
import { countNewRuns } from '@/server/views/runs/count-new'
import { exportRuns as exportCsv } from '@/server/views/runs/export'
import { countTasks, countViews } from '@/server/views/tasks/count'
import { listTasks } from '@/server/views/tasks/list'
import { browseWorkflows } from '@/server/views/workflows/browse'
import { getChanges } from '@/server/views/workflows/changes'
import { openRunsByVersion } from '@/server/views/workflows/open-runs'
import type { Sample } from './sample'

/** A read by the product, as a caller, a screen or a sweep triggers it. */
export interface Verb {
  room: 'API' | 'run list' | 'screens' | 'inbox' | 'insights' | 'retention' | 'service'
  what: string
  /** For all workspaces together: measured once. */
  all?: true
  /** Changes the rows it finds, so it is called once. */
  once?: true
  call(ctx: ServiceContext, sample: Sample): Promise<unknown>
}

const DAY_MS = 86_400_000
const STATES = ['running', 'paused', 'completed', 'failed', 'cancelled', 'terminated', 'timed_out'] as const

const api = (what: string, input: (sample: Sample) => object): Verb => ({
  ...{ room: 'API', what: `list: ${what}` },
  call: (ctx, sample) => listRuns(ctx, input(sample)),
})
const list = (what: string, input: (sample: Sample) => object): Verb => ({
  ...{ room: 'run list', what },
  call: (ctx, sample) => browseRuns(ctx, input(sample)),
})
const tasks = (what: string, input: (sample: Sample) => object): Verb => ({
  ...{ room: 'inbox', what },
  call: (ctx, sample) => listTasks(ctx, input(sample)),
})
const insights = (what: string, input: (sample: Sample) => object): Verb => ({
  ...{ room: 'insights', what },
  call: (ctx, sample) => readInsights(ctx, input(sample)),
})
const screen = (what: string, call: Verb['call']): Verb => ({ room: 'screens', what, call })

const iso = (date: Date, plus = 0) => new Date(date.getTime() + plus).toISOString()
const position = ({ middle }: Sample) => writePosition(middle)
const sweepOf = ({ db, log, now }: ServiceContext) => ({ db, log, now }) as Sweep

export const VERBS: readonly Verb[] = [
  api('all', () => ({})),
  ...(['running', 'paused', 'completed', 'failed'] as const).map((status) =>
    api(`status=${status}`, () => ({ status })),
  ),
  ...(['succeeded', 'failed', 'cancelled', 'terminated', 'timed_out'] as const).map((outcome) =>
    api(`outcome=${outcome}`, () => ({ outcome })),
  ),
  api('busy workflow', ({ busy }) => ({ workflowId: busy })),
  api('rare workflow', ({ rare }) => ({ workflowId: rare })),
  api('rare workflow, status=failed', ({ rare }) => ({ workflowId: rare, status: 'failed' })),
  api('rare workflow, outcome=terminated', ({ rare }) => ({ workflowId: rare, outcome: 'terminated' })),
  api('businessKey', ({ businessKey }) => ({ businessKey })),
  api('200 from the middle', (sample) => ({ limit: '200', cursor: position(sample) })),
  { room: 'API', what: 'status, completed', call: (ctx, { completed }) => getRunStatus(ctx, { runId: completed }) },
  {
    room: 'API',
    what: 'status, paused',
    call: (ctx, { paused, completed }) => getRunStatus(ctx, { runId: paused ?? completed }),
  },
  { room: 'API', what: 'history', call: (ctx, { completed }) => readHistory(ctx, completed, {}) },
  { room: 'API', what: 'export: first lines', call: (ctx) => firstChunk(exportLines(ctx, {})) },
  {
    ...{ room: 'API', what: 'export: failed, from the middle' },
    call: (ctx, { middle }) => firstChunk(exportLines(ctx, { outcome: 'failed', from: iso(middle.startTime) })),
  },
  { room: 'API', what: 'data of a subject, counted', call: (ctx) => countSubjectData(ctx, { sub: 'user_7' }) },

  list('all', () => ({})),
  ...STATES.map((state) => list(state, () => ({ states: [state] }))),
  list('running or paused', () => ({ states: ['running', 'paused'] })),
  list('all that did not succeed', () => ({ states: ['failed', 'cancelled', 'terminated', 'timed_out'] })),
  list('busy workflow', ({ busy }) => ({ workflowIds: [busy] })),
  list('rare workflow', ({ rare }) => ({ workflowIds: [rare] })),
  list('rare workflow, failed', ({ rare }) => ({ workflowIds: [rare], states: ['failed'] })),
  list('version without runs', ({ busy }) => ({ workflowIds: [busy], version: 2 })),
  list('one day', ({ middle }) => ({ from: iso(middle.startTime), to: iso(middle.startTime, DAY_MS) })),
  list('one day, failed', ({ middle }) => ({
    from: iso(middle.startTime),
    to: iso(middle.startTime, DAY_MS),
    states: ['failed'],
  })),
  list('tests of drafts', () => ({ via: 'test' })),
  list('by tokens', () => ({ via: 'jwt' })),
  list('search: part of a name', () => ({ q: 'fund' })),
  list('search: start of a key', ({ businessKey }) => ({ q: businessKey.slice(0, -2) })),
  list('search: start of very many keys', () => ({ q: 'ORD-1' })),
  list('search: nothing like it', () => ({ q: 'nothing like it' })),
  list('search: start of an id', ({ completed }) => ({ q: completed.slice(0, 14) })),
  list('search: start of very many ids', () => ({ q: 'run_01' })),
  list('businessKey', ({ businessKey }) => ({ businessKey })),
  list('businessKey of none', () => ({ businessKey: 'ORD-none' })),
  list('failed at a step with a code', () => ({ failedAt: 'charge', code: 'AGENT_ERROR' })),
  list('failed with a code of none', () => ({ code: 'NO_SUCH_CODE' })),
  list('failed with a code of none, state failed', () => ({ code: 'NO_SUCH_CODE', states: ['failed'] })),
  list('older than the middle', (sample) => ({ after: position(sample) })),
  list('newer than the middle', (sample) => ({ before: position(sample) })),
  {
    room: 'run list',
    what: 'count of new ones',
    call: (ctx, sample) => countNewRuns(ctx, { since: position(sample) }),
  },
  {
    room: 'run list',
    what: 'count to cancel',
    call: (ctx) => countBulk(ctx, { verb: 'cancel', filter: {}, at: iso(ctx.now()) }),
  },
  {
    room: 'run list',
    what: 'count to retry',
    call: (ctx) => countBulk(ctx, { verb: 'retry', filter: {}, at: iso(ctx.now()) }),
  },
  { room: 'run list', what: 'CSV of 5,000', call: (ctx) => exportCsv(ctx, {}) },

  screen('home: runs of 24 hours', readPulse),
  screen('home: checklist', readChecklist),
  screen('palette: start of a key', (ctx, { businessKey }) => findAnything(ctx, { q: businessKey.slice(0, -2) })),
  screen('palette: start of very many keys', (ctx) => findAnything(ctx, { q: 'ORD-1' })),
  screen('palette: start of an id', (ctx, { completed }) => findAnything(ctx, { q: completed.slice(0, 20) })),
  screen('palette: start of very many ids', (ctx) => findAnything(ctx, { q: 'run_01' })),
  screen('workflows with their last runs', (ctx) => browseWorkflows(ctx, {})),
  screen('open runs by version', (ctx, { busy }) => openRunsByVersion(ctx, { id: busy })),
  screen('publish dialog', (ctx, { busy }) => getChanges(ctx, { id: busy })),

  tasks('oldest', () => ({})),
  tasks('newest', () => ({ sort: 'newest' })),
  tasks('mine', () => ({ view: 'mine' })),
  tasks('of my role', () => ({ view: 'roles' })),
  tasks('rare workflow', ({ rare }) => ({ workflowId: rare })),
  tasks('search: a title', () => ({ q: 'order 1234' })),
  tasks('search: nothing like it', () => ({ q: 'nothing like it' })),
  tasks('answered', () => ({ view: 'done' })),
  tasks('answered by me', () => ({ view: 'done', byMe: true })),
  tasks('answered, rare workflow', ({ rare }) => ({ view: 'done', workflowId: rare })),
  tasks('answered, search: nothing like it', () => ({ view: 'done', q: 'nothing like it' })),
  { room: 'inbox', what: 'count', call: (ctx) => countTasks(ctx, {}) },
  { room: 'inbox', what: 'counts of the views', call: (ctx) => countViews(ctx, {}) },

  {
    ...{ room: 'insights', what: '90 past days, counted once for ever', once: true },
    async call(ctx) {
      while (!(await countAllDays(ctx))) {}
    },
  },
  insights('7 days', () => ({ days: 7 })),
  insights('90 days', () => ({ days: 90 })),
  insights('90 days of a workflow', ({ busy }) => ({ days: 90, workflowId: busy })),
  { room: 'insights', what: 'steps of a workflow', call: (ctx, { busy }) => readStepFigures(ctx, { id: busy }) },

  { room: 'service', what: 'runs whose time is up', all: true, call: (ctx) => timeOutRuns(sweepOf(ctx), ctx.now()) },
  { room: 'service', what: 'repairs of the sweep', all: true, call: (ctx) => sweepRuns(sweepOf(ctx)) },
  { room: 'service', what: 'open runs, queue and sweeps', all: true, once: true, call: () => readShared() },
  { room: 'service', what: 'failures by class', all: true, once: true, call: () => readFailures() },
  {
    ...{ room: 'retention', what: 'one sweep: 180 days kept', once: true },
    async call(ctx) {
      const keep = (days: number | null) =>
        ctx.db.execute(`update tenants set keep_runs_days = ${days} where id = '${ctx.tenantId}'`)
      await keep(180)
      return deleteOldRuns(sweepOf(ctx), countAllDays).finally(() => keep(null))
    },
  },
]

/** The part a caller gets before waiting for more. */
async function firstChunk(stream: Promise<ReadableStream<Uint8Array>>): Promise<unknown> {
  const reader = (await stream).getReader()
  const chunk = await reader.read()
  await reader.cancel()
  return chunk
}

const SILENT: ServiceContext['log'] = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT }

/** An owner who is signed in. */
export function contextOf(
  db: ServiceContext['db'],
  { tenantId, userId }: Pick<Sample, 'tenantId' | 'userId'>,
): ServiceContext {
  const base = systemContext({ tenantId, db, log: SILENT, now: () => new Date() })
  return { ...base, actor: { kind: 'user', id: userId, name: 'Owner', sessionId: 'ses', role: 'owner' } }
}
