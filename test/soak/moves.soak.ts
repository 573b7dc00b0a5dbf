import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { openDatabase, type Sql } from '@/db/index'
import { type ServiceContext, systemContext } from '@/server/context'
import { AppError } from '@/server/errors'
import { log } from '@/server/log'
import { holdAnswer } from '@/server/runs/held/hold'
import { insist, repeats } from '../recovery/workload'
import type { Caller } from '../support/api'
import { freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { expectInvariants } from '../support/invariants/check'
import { checkEffects } from '../support/invariants/effects'
import { newVisitor } from '../trpc/support'
import { startMachines } from './killing'
import { answerAll, type Flow, type Moved, publishFlows, saidIn } from './moved-runs'
import { type Soak, scenario } from './rounds'

const CLIENTS = 8
const MOVERS = 2
const AT_ONCE = 100
const UNDO_MS = 2_000
const STUCK_MS = 180_000

scenario(
  'a kill -9 every 2 s while 10,000 open runs are moved in bulk and answered: each answer counts once, and each refusal has its reason',
  10_000,
  async (soak) => {
    const effects = await startEffects(({ body }) => ({ delayMs: 20, body: { id: body.id } }))
    soak.after(() => effects.stop())
    const database = await freshDatabase()
    soak.after(() => database.close())
    const undo = { ANSWER_UNDO_MS: String(UNDO_MS) }
    Object.assign(process.env, { DATABASE_URL: database.url, MILLRACE_TEST_STEPS: '1', LOG_LEVEL: 'fatal', ...undo })
    const machines = await startMachines(soak, database.url, undo)
    const caller = machines.newest
    const { sql, db, close } = openDatabase(database.url, { max: 8 })
    soak.after(close)
    const system = systemContext({ tenantId: caller().tenantId, db, log: log() })
    const person = await newVisitor(system, 'operator')
    const member: ServiceContext = {
      ...system,
      actor: { kind: 'user', id: person.userId, name: 'Tess', sessionId: 's', role: 'operator' },
    }

    const flows = await publishFlows(caller, effects.url)
    const all = await startAll(caller, flows, soak.rounds)
    await comeToRest(sql)
    soak.say(`${all.length} runs wait`)

    const load = new MovingLoad(soak, caller, flows, all, (runId, data) => held(member, runId, data))
    const { kills, downMs } = await machines.killUntil(() => load.done, load.working, load.said)
    await load.working
    await ended(sql, all)
    soak.say(`${kills} kills; no process was up for at most ${(downMs / 1_000).toFixed(1)} s`)
    soak.say(load.said())
    expect(await problemsOf(sql, all, load)).toEqual([])
    soak.say(`${effects.seen.length} effects, ${repeats(effects).size} of them of attempts that were cut short`)
    await expectInvariants(sql)
    expect(await checkEffects(sql, effects.seen)).toEqual([])
  },
)

async function inLanes(lanes: number, lane: (nth: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: lanes }, (_, nth) => lane(nth)))
}

async function startAll(caller: () => Caller, flows: Flow[], count: number): Promise<Moved[]> {
  const all: Moved[] = []
  let next = 0
  await inLanes(CLIENTS, async () => {
    for (let at = next++; at < count; at = next++) {
      const flow = flows[at % flows.length] as Flow
      const key = `key-${at}`
      const path = `/api/workflow/start-async/${flow.workflowId}?version=${flow.versions[at % 3]}`
      const { answer } = await insist(caller, 'POST', path, { key })
      if (answer.status !== 200) throw new Error(`a start was answered ${answer.status}`)
      all.push({ flow, runId: answer.body.runId, key, accepted: new Map() })
    }
  })
  return all
}

/** Until no run is under way: then none is `BUSY`. */
async function comeToRest(sql: Sql): Promise<void> {
  const moving = async () => {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from walks where status in ('requested', 'walking', 'queued')`
    return row?.n ?? 0
  }
  await until(async () => (await moving()) === 0, 'runs do not come to rest')
}

async function ended(sql: Sql, all: Moved[]): Promise<void> {
  const open = async () => {
    const [row] = await sql<{ n: number }[]>`select count(*)::int as n from runs where end_time is null`
    return row?.n ?? 0
  }
  await until(async () => (await open()) === 0, `some of ${all.length} runs do not end`)
}

async function until(holds: () => Promise<boolean>, otherwise: string): Promise<void> {
  for (const end = performance.now() + STUCK_MS * 3; !(await holds()); await sleep(200))
    if (performance.now() > end) throw new Error(otherwise)
}

/** @returns why the answer is not held; null if it is, or counts already */
async function held(member: ServiceContext, runId: string, data: object): Promise<string | null> {
  try {
    await holdAnswer(member, { runId, body: { type: 'collect_inputs', data } })
    return null
  } catch (err) {
    if (err instanceof AppError) return err.code
    throw err
  }
}

/** Callers who move all open runs again and again, and others who answer those that were moved once. */
class MovingLoad {
  readonly working: Promise<unknown>
  done = false
  /** The acknowledged moves. */
  readonly moved: { runId: string; to: number }[] = []
  readonly refusals = new Map<string, number>()
  readonly unexplained: string[] = []
  private readonly turns: Moved[] = []
  private readonly seen = new Set<string>()
  private sweeps = 0
  private answered = 0

  constructor(
    private readonly soak: Soak,
    private readonly caller: () => Caller,
    private readonly flows: Flow[],
    private readonly all: Moved[],
    private readonly hold: (runId: string, data: object) => Promise<string | null>,
  ) {
    this.working = Promise.all([inLanes(MOVERS, (nth) => this.moves(nth)), inLanes(CLIENTS, () => this.answers())])
    this.working.then(
      () => {
        this.done = true
      },
      () => {
        this.done = true
      },
    )
  }

  readonly said = (): string => {
    const refusals = [...this.refusals].map(([why, count]) => `${count} ${why}`).join(', ')
    return `${this.answered} of ${this.all.length} runs answered, ${this.moved.length} moves in ${this.sweeps} lists; refused: ${refusals}`
  }

  private note(why: string): void {
    this.refusals.set(why, (this.refusals.get(why) ?? 0) + 1)
  }

  /** Lists what can be moved to a version, page by page, and moves it. */
  private async moves(nth: number): Promise<void> {
    const byId = new Map(this.all.map((one) => [one.runId, one]))
    for (let turn = nth; this.answered < this.all.length; turn += MOVERS) {
      const flow = this.flows[turn % this.flows.length] as Flow
      const to = flow.versions[Math.floor(this.soak.random() * 3)] as number
      for (let after: string | null = ''; after !== null; ) {
        const query = after === '' ? '' : `&after=${encodeURIComponent(after)}`
        const path = `/api/workflows/${flow.workflowId}/open-runs?to=${to}${query}`
        const { answer } = await insist(this.caller, 'GET', path)
        if (answer.status !== 200)
          throw new Error(`a list was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
        const runIds = (answer.body.runs as { runId: string }[]).map(({ runId }) => runId)
        if (runIds.length > 0) await this.moveAll(flow, to, runIds)
        for (const id of runIds) {
          const run = byId.get(id)
          if (!run || this.seen.has(id) || this.soak.random() < 0.4) continue
          this.seen.add(id)
          this.turns.push(run)
        }
        after = answer.body.next
      }
      this.sweeps++
      // Those that have the version are on no list.
      const left = this.all.filter((run) => run.flow === flow && !this.seen.has(run.runId) && this.soak.random() < 0.2)
      for (const run of left) {
        this.seen.add(run.runId)
        this.turns.push(run)
      }
    }
  }

  private async moveAll(flow: Flow, toVersion: number, runIds: string[]): Promise<void> {
    const body = { workflowId: flow.workflowId, toVersion, runIds: runIds.slice(0, AT_ONCE), asksAgain: true }
    const { answer } = await insist(this.caller, 'POST', '/api/workflow/management/move', body)
    if (answer.status !== 200) throw new Error(`a move was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    for (const { runId } of answer.body.moved) this.moved.push({ runId, to: toVersion })
    for (const { runId, code, reasons } of answer.body.refused as {
      runId: string
      code: string
      reasons: { code: string; advice: string }[]
    }[]) {
      if (code === 'MOVE_REFUSED' && !reasons.some(({ advice }) => advice !== ''))
        this.unexplained.push(`${runId}: ${code}`)
      this.note(code === 'MOVE_REFUSED' ? [...new Set(reasons.map((one) => one.code))].join(' ') : code)
    }
  }

  private async answers(): Promise<void> {
    let n = 0
    while (this.answered < this.all.length) {
      const run = this.turns.shift()
      if (!run) {
        await sleep(20)
        continue
      }
      const refused = await answerAll(this.caller, run, ++n, this.hold)
      for (const why of refused) this.note(`answer ${why}`)
      if (refused.length > 0) this.turns.push(run)
      else this.answered++
    }
  }
}

/** Acknowledged answers and moves that are not so in the end. */
async function problemsOf(sql: Sql, all: Moved[], load: MovingLoad): Promise<string[]> {
  const rows = await sql<
    { id: string; outcome: string; version: number; result: Record<string, unknown>; had: number[] }[]
  >`
    select r.id, r.outcome, r.workflow_version as version, r.result,
      coalesce((select json_agg(m.from_version) from run_moves m where m.tenant_id = r.tenant_id and m.run_id = r.id), '[]') as had
    from runs r`
  const runs = new Map(rows.map((row) => [row.id, row]))
  const problems = [...load.unexplained]
  for (const { runId, to } of load.moved) {
    const run = runs.get(runId)
    if (!run || ![run.version, ...run.had].includes(to)) problems.push(`${runId} was moved to ${to}, and never had it`)
  }
  for (const { flow, runId, accepted } of all) {
    const run = runs.get(runId)
    const must = (holds: boolean, what: string) => {
      if (!holds) problems.push(`${runId} (${flow.wait}): ${what}: ${JSON.stringify(run)}`)
    }
    must(run?.outcome === 'succeeded', 'it did not succeed')
    if (!run) continue
    must(run.result.said === saidIn(flow, run.version), 'it did not end as its version says')
    const event = run.result.event as { data?: { n?: number } } | undefined
    const found = {
      ask: flow.wait === 'event' ? event?.data?.n : run.result.n,
      left: run.result.n,
      right: run.result.m,
    }
    for (const [step, n] of accepted)
      if (step in found) must(found[step as keyof typeof found] === n, `the answer ${n} to ${step} was lost`)
  }
  return problems
}
