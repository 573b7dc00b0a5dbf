import { sql } from 'drizzle-orm'
import type { ServiceContext, Sweep } from '@/server/context'
import { AppError } from '@/server/errors'
import { RunStopped, TakenOver } from '@/server/interpreter/flow/failure'
import { sweepRuns } from '@/server/interpreter/repair/sweep'
import { failWalk } from '@/server/interpreter/stop/abandon'
import { answerDue } from '@/server/interpreter/wait/due'
import { bindTransport } from '@/server/outbox'
import { cancelRun } from '@/server/runs/cancel'
import { resumeRun } from '@/server/runs/resume'
import { retryRun } from '@/server/runs/retry'
import { startRun } from '@/server/runs/start'
import { terminateRun } from '@/server/runs/terminate'
import { Dice, randomGraph } from '../graphs/generate'
import { type Graph, resumeBody } from '../graphs/reference'
import { Actor } from './actor'
import { type Outside, setOutside } from './effects'
import { type EngineRun, type Mode, SimulatedEngine } from './engine'
import type { Outcome, Told } from './outcome'
import { INPUT, isWorthIt, waitsIn } from './plot'
import { type Asked, allRows, look, type Open } from './sight'
import { idInGraph, moveOne, publishVersions, type Version } from './versions'
import { now, pass } from './virtual-clock'

const MAX_FAULTY = 120
const MAX_CALM = 600
const STUCK_MS = 11 * 60_000

/**
 * Runs one small workflow, with the disturbances of the seed, until it ends or waits for a person who never answers.
 */
export async function simulate(
  seed: number,
  ctx: ServiceContext,
  wrote: () => boolean,
  { moves = true } = {},
): Promise<Outcome> {
  const world = new World(seed, ctx, { wrote, moves })
  const random = Math.random
  // A generator of its own, because the number of its calls depends on more than the seed.
  const jitter = new Dice(seed)
  Math.random = () => jitter.below(2 ** 20) / 2 ** 20
  bindTransport(world.engine.transport)
  setOutside(world.outside)
  try {
    await world.begin()
    await world.trouble()
    await world.calmDown()
    return world.outcome()
  } finally {
    Math.random = random
    bindTransport(undefined)
    setOutside(null)
  }
}

class World {
  readonly dice: Dice
  readonly engine: SimulatedEngine
  readonly outside: Outside
  private readonly mode: Mode
  private graph: Graph = { start: '', nodes: [], edges: [] }
  private readonly runIds: string[] = []
  private readonly told: Told[] = []
  private readonly recorded = new Map<string, Date>()
  private readonly problems: string[] = []
  /** Active actors: calls, requests and sweeps. */
  private actors: Actor[] = []
  /** Calls whose process was taken for dead. */
  private zombies: Actor[] = []
  private calm = false
  private calmSince = 0
  private readonly stops: boolean
  private readonly answers: boolean
  private gaveUp = false
  private restarts = 0
  private open: Open[] = []
  private asked: Asked[] = []
  /** When the next pause is due. */
  private due = Number.POSITIVE_INFINITY
  private readonly wrote: () => boolean
  /** Decides about moves; null if nobody moves runs. The other dice fall as without moves. */
  private readonly moving: Dice | null
  private workflowId = ''
  private versions: Version[] = []

  /** @param wrote whether anything was written since the last call */
  constructor(
    private readonly seed: number,
    private readonly ctx: ServiceContext,
    { wrote, moves }: { wrote: () => boolean; moves: boolean },
  ) {
    this.wrote = wrote
    const moving = new Dice(seed + MOVING)
    this.moving = moves && moving.chance(60) ? moving : null
    this.dice = new Dice(seed)
    this.mode = this.dice.pick(['own', 'own', 'sdk', 'inngest'])
    this.stops = this.dice.chance(35)
    this.answers = this.dice.chance(90)
    const open = () => this.calm
    this.engine = new SimulatedEngine(this.mode, `sim_${seed}_${now().getTime()}`, this.dice, ctx, open)
    this.outside = { seen: [], fails: (nth) => !this.calm && nth <= 2 && this.dice.chance(12) }
  }

  outcome(): Outcome {
    const { seed, mode, graph, runIds, told, recorded } = this
    const disturbs = ({ what, to, refused }: Told) => refused === null && what !== 'resume' && !to?.same
    const disturbed = this.gaveUp || told.some(disturbs)
    const problems = [...this.problems, ...this.engine.problems]
    return { seed, mode, graph, disturbed, runIds, seen: this.outside.seen, recorded, told, problems }
  }

  async begin(): Promise<void> {
    for (;;) {
      this.graph = randomGraph(this.dice)
      if (!isWorthIt(this.graph) || (this.moving && !waitsIn(this.graph))) continue
      try {
        const cleanup = this.stops && this.dice.chance(50)
        const made = await publishVersions(this.ctx, { graph: this.graph, cleanup, dice: this.moving })
        Object.assign(this, made)
        const version = made.versions[0] ? { version: String(made.versions[0].version) } : {}
        await this.finish('start', async () => {
          const { runId } = await startRun(this.ctx, { workflowId: made.workflowId, body: INPUT, ...version })
          this.runIds.push(runId)
        })
        return
      } catch (err) {
        // An endless loop: use another graph.
        if (!(err instanceof AppError) || err.code !== 'VALIDATION_FAILED') throw err
      }
    }
  }

  /** The seed repeatedly chooses which actor continues. */
  async trouble(): Promise<void> {
    for (let turn = 0; turn < MAX_FAULTY; turn++) {
      pass(1)
      const choices = this.choices()
      let at = this.dice.below(choices.reduce((sum, [weight]) => sum + weight, 0))
      const [, act] = choices.find(([weight]) => {
        at -= weight
        return at < 0
      }) ?? [0, () => Promise.resolve()]
      await act()
      await this.look()
      if (this.actors.length === 0 && this.open.length === 0) return
    }
  }

  private choices(): [weight: number, act: () => Promise<void>][] {
    const { dice, engine, actors, zombies } = this
    const ready = engine.ready()
    const calling = engine.runs.filter(({ state }) => state === 'calling')
    const all: [number, boolean, () => Promise<void>][] = [
      [50, actors.length > 0, () => this.step(dice.pick(actors))],
      [20, ready.length > 0, () => this.callOf(dice.pick(ready))],
      [15, engine.events.length > 0, async () => this.deliver(dice.below(engine.events.length), dice.chance(15))],
      [6, true, () => this.someone()],
      [6, this.moving !== null, async () => void this.add('move', () => this.move(dice.pick(this.runIds)))],
      [5, true, () => this.wait()],
      [5, calling.some(({ lost }) => lost < 2), async () => this.loseOne(calling.filter(({ lost }) => lost < 2))],
      [6, zombies.length > 0, () => this.step(dice.pick(zombies))],
      [3, calling.length > 0, () => this.hears(dice.pick([...calling.flatMap(({ call }) => call ?? []), ...zombies]))],
      [2, calling.length > 0, async () => void Object.assign(dice.pick(calling), { stopping: true })],
      [2, !actors.some(({ name }) => name === SWEEP), async () => this.add(SWEEP, () => sweepRuns(this.sweep()))],
      [1, engine.runs.length > 0 && this.restarts < 2, () => this.forget(dice.pick(engine.runs))],
    ]
    return all.flatMap(([weight, can, act]) => (can ? [[weight, act]] : []))
  }

  /** Without further disturbances, every run must end, or wait for a person. */
  async calmDown(): Promise<void> {
    this.calm = true
    this.calmSince = now().getTime()
    // A process that stopped long ago may return at any time, even after the end.
    for (const run of this.engine.runs) if (run.state === 'calling' && this.dice.chance(30)) this.loseOne([run])
    for (let turn = 0; ; turn++) {
      pass(1)
      for (const actor of [...this.actors]) await this.step(actor, true)
      await this.look()
      if (this.engine.events.length > 0) this.deliver(0, false)
      else if (this.engine.ready().length > 0) for (const run of this.engine.ready()) await this.callOf(run)
      else if (this.actors.length === 0) {
        if (await this.settled()) break
        const due = Math.min(this.engine.nextDue(), this.due)
        // A sweep runs every minute.
        pass(Math.min(due - now().getTime(), 60_000) + 1)
        this.engine.expire()
        const repair = due > now().getTime() ? sweepRuns : answerDue
        await this.finish(SWEEP, () => repair(this.sweep()))
      }
      if (turn < MAX_CALM) continue
      this.problems.push('I17: the run neither ends nor rests, though nothing goes wrong any more')
      break
    }
    const before = this.zombies.length > 0 ? await allRows(this.ctx.db) : null
    for (const zombie of this.zombies) await zombie.goOn()
    if (before === null) return this.clear()
    const changed = (await allRows(this.ctx.db)).filter((row) => !before.includes(row))
    if (changed.length > 0) this.problems.push(`I16: a process that woke after the end wrote ${changed.join(', ')}`)
    await this.clear()
  }

  /** Closes everything that would disturb the next seed. */
  private async clear(): Promise<void> {
    for (const { id } of this.open) await this.finish('terminate', () => this.tell('terminate', id, terminateRun))
  }

  /** Whether only a person could continue the run, and none will. */
  private async settled(): Promise<boolean> {
    const { open, asked } = this
    if (open.length === 0) return true
    if (asked.length === 0) return false
    // Work that the engine forgot continues beside a pause, but only a sweep finds it.
    const found = this.restarts === 0 || now().getTime() > this.calmSince + 2 * STUCK_MS
    // No branch beside it may be due for a retry either.
    const rests = found && !this.engine.runs.some(({ state }) => state === 'ready')
    if (!this.answers) return rests && open.every(({ status }) => status === 'paused')
    for (const pause of asked) {
      if (this.moving?.chance(30)) await this.finish('move', () => this.move(pause.runId))
      await this.finish('resume', () => this.answer(pause))
    }
    return false
  }

  /** A caller's request: an answer, an outdated one, a wrong one, or to stop or repeat the run. */
  private async someone(): Promise<void> {
    const { dice } = this
    const runId = dice.pick(this.runIds)
    if (this.stops && dice.chance(12)) return this.add('cancel', () => this.tell('cancel', runId, cancelRun))
    if (this.stops && dice.chance(10)) return this.add('terminate', () => this.tell('terminate', runId, terminateRun))
    if (this.stops && dice.chance(10) && this.runIds.length < 3) {
      return this.add('retry', () =>
        this.tell('retry', runId, async (ctx, input) => {
          this.runIds.push((await retryRun(ctx, input)).runId)
        }),
      )
    }
    const { asked } = this
    if (asked.length > 0 && dice.chance(80)) {
      const pause = dice.pick(asked)
      for (const _ of dice.chance(25) ? [1, 2] : [1]) this.add('resume', () => this.answer(pause))
      return
    }
    const [old] = this.told.filter(({ pauseId }) => pauseId !== undefined).slice(-1)
    if (old?.pauseId && dice.chance(50)) {
      const { pauseId } = old
      this.add('resume', () => this.answer({ runId: old.runId, pauseId, stepId: stepOf(pauseId) }))
    }
  }

  private async move(runId: string): Promise<void> {
    const to = this.moving?.pick(this.versions)
    if (!to) return
    const refused = await moveOne(this.ctx, { workflowId: this.workflowId, toVersion: to.version, runId })
    this.told.push({ what: 'move', runId, to, refused, at: now() })
  }

  private async answer({ runId, pauseId, stepId }: Asked): Promise<void> {
    const node = this.graph.nodes.find(({ id }) => id === idInGraph(stepId))
    if (!node) throw new Error(`nobody knows ${pauseId}`)
    const body = { ...resumeBody(node, pauseId), pauseId }
    await this.tell('resume', runId, (ctx) => resumeRun(ctx, { runId, body }), pauseId)
  }

  private async tell(
    what: Told['what'],
    runId: string,
    ask: (ctx: ServiceContext, input: { runId: string; workflowId?: never }) => Promise<unknown>,
    pauseId?: string,
  ): Promise<void> {
    const about = { what, runId, ...(pauseId === undefined ? {} : { pauseId }) }
    try {
      await ask(this.ctx, { runId })
      this.told.push({ ...about, refused: null, at: now() })
    } catch (err) {
      if (!(err instanceof AppError)) throw err
      this.told.push({ ...about, refused: err.code, at: now() })
    }
  }

  private add(name: string, work: () => Promise<unknown>): void {
    this.actors.push(new Actor(name, work, () => this.calm))
  }

  private async finish(name: string, work: () => Promise<unknown>): Promise<void> {
    const actor = new Actor(name, work, () => true)
    await actor.goOn()
    if (actor.failure) throw actor.failure
    if (!actor.done) this.problems.push(`${name} hangs`)
  }

  private async step(actor: Actor, on = false): Promise<void> {
    await (on ? actor.goOn() : actor.go())
    this.engine.stoodStill(actor)
    if (actor.waits) return
    if (actor.failure) this.problems.push(`${actor.name}: ${(actor.failure as Error).stack}`)
    this.actors = this.actors.filter((other) => other !== actor)
    this.zombies = this.zombies.filter((other) => other !== actor)
  }

  private async callOf(run: EngineRun): Promise<void> {
    const actor = this.engine.call(run)
    this.actors.push(actor)
    await this.step(actor)
  }

  private deliver(at: number, again: boolean): void {
    const event = this.engine.events[at]
    if (!event) return
    this.engine.deliver(event)
    if (!again) this.engine.events.splice(at, 1)
  }

  private loseOne(from: readonly EngineRun[]): void {
    const run = this.dice.pick(from)
    if (run.call) {
      this.zombies.push(run.call)
      this.actors = this.actors.filter((actor) => actor !== run.call)
    }
    this.engine.lose(run)
  }

  /** The engine loses a run for good, or gives it up. */
  private async forget(run: EngineRun): Promise<void> {
    if (run.state === 'over') return
    this.restarts++
    if (run.call && run.state === 'calling') this.loseOne([run])
    this.engine.end(run)
    if (!this.stops) return
    this.gaveUp = true
    this.add('giving up', () => failWalk(this.ctx, { ...run.ref, engineRunId: run.id }, new Error('gave up')))
  }

  /** A process learns the fate of the work it is doing. */
  private async hears(actor: Actor): Promise<void> {
    for (const { runId, branch, stepId, visit, attempt, controller } of actor.stoppable) {
      const [row] = await this.ctx.db.execute<{ ended: boolean; open: boolean }>(sql`
        select r.end_time is not null as ended, exists (
          select from step_records s where s.tenant_id = r.tenant_id and s.run_id = r.id and s.branch = ${branch}
            and s.step_id = ${stepId} and s.visit = ${visit} and s.attempt = ${attempt} and s.end_time is null) as open
        from runs r where r.tenant_id = ${this.ctx.tenantId} and r.id = ${runId}`)
      if (row?.ended) controller.abort(new RunStopped('The run has ended.'))
      else if (!row?.open) controller.abort(new TakenOver())
    }
    if (actor.waits) await this.step(actor)
  }

  private async wait(): Promise<void> {
    const due = this.engine.nextDue()
    const isLong = this.restarts > 0 && this.dice.chance(20) && this.restarts++ < 3
    pass(
      isLong ? STUCK_MS : Number.isFinite(due) && this.dice.chance(60) ? due - now().getTime() : this.dice.below(8_000),
    )
    this.engine.expire()
  }

  private sweep(): Sweep {
    const { db, log } = this.ctx
    return { db: db as Sweep['db'], log, now }
  }

  /** Reads the committed state, if anything was written. */
  private async look(): Promise<void> {
    if (!this.wrote()) return
    const { sent, jobs, open, asked, due, recorded } = await look(this.ctx.db, this.runIds)
    // That was a write as well.
    this.wrote()
    for (const key of recorded) if (!this.recorded.has(key)) this.recorded.set(key, now())
    this.engine.take({ sent, jobs })
    Object.assign(this, { open, asked, due: due ?? Number.POSITIVE_INFINITY })
  }
}

const SWEEP = 'sweep'
/** Moves are decided by other numbers than the rest of a seed. */
const MOVING = 2 ** 29

function stepOf(pauseId: string): string {
  return pauseId.slice(pauseId.lastIndexOf(':') + 1, pauseId.lastIndexOf('#'))
}
