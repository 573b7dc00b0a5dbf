import type { ServiceContext } from '../../context'
import { checkFields } from '../../definition/fields'
import { schemaOfFields } from '../../definition/fields-schema'
import { isFileList } from '../../definition/file-fields'
import { fieldsInStoredOrder, type JsonObject, own } from '../../definition/json'
import type { Definition } from '../../definition/schema'
import type { Sliced } from '../../definition/sliced'
import { inSlices } from '../../give-way'
import type { Position } from '../../interpreter/flow/index'
import { CLEANUP_BRANCH, MAIN_BRANCH } from '../../run-store/names'
import type { KnownOutput } from '../check/flow'
import { Cut, type Ended, type Walk, Walker } from '../replay/walk'
import { Generated, LENGTHS } from './generated'
import { Coverage, type Failed, type Goals, Path } from './path'
import { candidatesOf, usesOf, Values } from './values'
import { lookAt, type World } from './world'

/** The maximum cost of a simulation. */
export interface Budget {
  paths: number
  visits: number
  ms: number
}

/** An id that no run has. */
const SIMULATED_RUN = 'run_simulated'
/** After this many paths without anything new, values alone find nothing more. */
const DRY_PATHS = 12
/** The error of a run, if only its failure path is walked. */
const ERROR = { code: 'SIMULATED', message: 'The simulation made the run fail.', stepId: '' }
/** The minimum number of paths, even if the first ones reach everything, to try more values. */
const FEW_PATHS = 6

export interface SimulatedPath {
  outcome: 'completed' | 'failed' | 'cut'
  error: { code: string; message: string; stepId: string | null } | null
  /** How many steps it visited, and the first of them. */
  steps: number
  visits: string[]
  /** Whether it continued past a decision that depends on unknown values, or at an exit that no values led to. */
  assumed: boolean
  input: JsonObject
}

export interface Simulation {
  /** Whether the budget ended before everything was tried. */
  truncated: boolean
  coverage: { steps: Share; exits: Share }
  /** Steps that no path reached, although an edge leads there. */
  unreached: string[]
  /** Steps without a path to them. */
  unreachable: string[]
  exits: { stepId: string; exit: string; reached: boolean; assumed: boolean }[]
  failures: (Failed & { input: JsonObject })[]
  /** Steps whose result depends on unknown values. */
  unknown: string[]
  longestPath: { steps: number; visits: string[] }
  pathsTried: number
  paths: SimulatedPath[]
}

/** What the paths of a simulation show, and for its judges how many of them completed from START, shown or not. */
export interface Explored extends Simulation {
  /** The steps that some path reached where people can be asked. */
  asking: ReadonlySet<string>
  completed: { all: number; withoutAssuming: number }
}

interface Share {
  total: number
  reached: number
}

const MAX_PATHS_SHOWN = 20
const MAX_FAILURES = 100

/**
 * Follows many paths through a definition: with values that fit START, forms and results, each possible answer, each
 * exit, and each loop twice. Executes nothing, and reads only its arguments.
 * @param definition without errors, in the form that runs read
 */
export async function explore(
  ctx: ServiceContext,
  definition: Definition,
  given: { outputs: ReadonlyMap<string, KnownOutput>; data: JsonObject; answers: JsonObject },
  budget: Budget,
): Promise<Explored> {
  const world = await inSlices(ctx.tenantId, lookAt(definition, given.outputs, given.answers))
  return inSlices(ctx.tenantId, new Exploration(ctx, world, given.data, budget).run())
}

class Exploration {
  private readonly coverage = new Coverage()
  private readonly candidates
  private readonly uses
  private readonly few: number
  private readonly paths: SimulatedPath[] = []
  private readonly failures = new Map<string, Failed & { input: JsonObject }>()
  private readonly unknown = new Set<string>()
  private longest: SimulatedPath | null = null
  private readonly completed = { all: 0, withoutAssuming: 0 }
  private visits = 0
  private truncated = false
  private readonly now: Date
  private readonly ref

  constructor(
    { tenantId, now }: ServiceContext,
    private readonly world: World,
    private readonly data: JsonObject,
    private readonly budget: Budget,
  ) {
    this.now = now()
    this.ref = { tenantId, runId: SIMULATED_RUN, epoch: 1, segment: 1 }
    this.candidates = candidatesOf(world.definition)
    this.uses = usesOf(world.definition)
    this.few = Math.max(FEW_PATHS, this.candidates.numbers.length, this.candidates.texts.length)
  }

  *run(): Sliced<Explored> {
    const { initialStep, onCancel, onFailure } = this.world.definition
    const ended = yield* this.path(MAIN_BRANCH, initialStep, null, false)
    const data = ended?.state.data ?? {}
    if (onCancel !== undefined) yield* this.path(CLEANUP_BRANCH, onCancel, data, false)
    if (onFailure !== undefined) yield* this.path(MAIN_BRANCH, onFailure, { ...data, error: ERROR }, false)
    for (const insists of [false, true]) {
      const isDone = () => this.truncated || (this.paths.length >= this.few && this.isComplete(!insists))
      for (let dry = 0; dry < (insists ? 2 : DRY_PATHS) && !isDone(); ) {
        yield* this.path(MAIN_BRANCH, initialStep, null, insists)
        dry = this.coverage.grew ? 0 : dry + 1
      }
    }
    return this.report()
  }

  private isComplete(really: boolean): boolean {
    const { exits, reachable } = this.world
    if ([...reachable].some((id) => !this.coverage.steps.has(id))) return false
    const lists = this.world.lists.filter((id) => reachable.has(id))
    if (lists.some((id) => LENGTHS.some((way) => this.coverage.times(id, way) === 0))) return false
    return [...exits].every(
      ([id, ways]) =>
        !reachable.has(id) ||
        ways.every((exit) => (really ? this.coverage.really(id, exit) : this.coverage.times(id, exit) > 0)),
    )
  }

  /** The remaining goals: exits that no path has taken, and the steps that lead to them. */
  private goals(): Goals {
    const { exits, reachable, definition, target } = this.world
    const left = [...exits].filter(
      ([id, ways]) => reachable.has(id) && ways.some((exit) => this.coverage.times(id, exit) === 0),
    )
    const from = new Map<string, string[]>()
    for (const edge of definition.edges) {
      const known = from.get(edge.to)
      if (known) known.push(edge.from)
      else from.set(edge.to, [edge.from])
    }
    const leading = new Set(left.map(([id]) => id))
    for (const id of leading) for (const before of from.get(id) ?? []) leading.add(before)
    return {
      leads: (stepId, exit) => leading.has(target(stepId, exit) ?? target(stepId, 'next') ?? ''),
    }
  }

  /** @param data null for a start's data */
  private *path(branch: string, start: string | null, data: JsonObject | null, insists: boolean): Sliced<Ended | null> {
    if (this.paths.length >= this.budget.paths) {
      this.truncated = true
      return null
    }
    this.coverage.grew = false
    const path = new Path(this.paths.length, this.coverage, insists ? this.goals() : null)
    const values = new Values(this.candidates, this.uses, (about, options) => path.pick(about, options))
    const input = data ?? (yield* this.input(path, values))
    const state: Position = {
      run: {
        failing: data && branch === MAIN_BRANCH ? { ...ERROR, outcome: 'failed' } : null,
        cancelRequestedAt: null,
      },
      ref: { ...this.ref, branch },
      definition: this.world.definition,
      data: fieldsInStoredOrder(input),
      refs: {},
      own: null,
    }
    const source = new Generated(this.world, path, values, this.now)
    const ended = yield* this.drive(new Walker(this.world.definition, source, this.now, source).walk(state, start))
    const shown: SimulatedPath = {
      ...outcomeOf(ended),
      steps: path.length,
      visits: path.visits,
      assumed: path.assumed,
      input: data === null ? input : {},
    }
    this.paths.push(shown)
    if (data === null && shown.outcome === 'completed') this.count(shown)
    if (!this.longest || shown.steps > this.longest.steps) this.longest = shown
    for (const id of path.doubts) this.unknown.add(id)
    for (const failure of path.failures) {
      const key = `${failure.stepId} ${failure.code} ${failure.message}`
      if (!this.failures.has(key) && this.failures.size < MAX_FAILURES) this.failures.set(key, { ...failure, input })
    }
    return ended
  }

  private count({ assumed }: SimulatedPath): void {
    this.completed.all += 1
    if (!assumed) this.completed.withoutAssuming += 1
  }

  private *drive(walk: Walk): Sliced<Ended | null> {
    try {
      for (;;) {
        const { done, value } = walk.next()
        if (done) return value
        if (++this.visits <= this.budget.visits && (yield) <= this.budget.ms) continue
        this.truncated = true
        return null
      }
    } catch (err) {
      if (err instanceof Cut) return null
      throw err
    }
  }

  private *input(path: Path, values: Values): Sliced<JsonObject> {
    const { payload } = this.world.definition
    const filled: JsonObject = {}
    for (const [name, field] of Object.entries(payload)) {
      if ((yield) > this.budget.ms) this.truncated = true
      const given = own(this.data, name)
      const isLeftOut = given === undefined && (field.required === false || field.default !== undefined)
      if (isLeftOut && !path.pick(`START ${name} given`, [field.default === undefined, false, true])) continue
      const { properties } = schemaOfFields({ [name]: field })
      const schema = (properties as JsonObject)[name]
      const file = '00000000-0000-4000-8000-000000000000'
      const made = field.type === 'file' ? file : isFileList(field) ? [file] : values.of(schema, `START ${name}`, name)
      filled[name] = given ?? made
    }
    return checkFields(payload, filled).data
  }

  private report(): Explored {
    const { definition, exits, reachable } = this.world
    const steps = definition.steps.filter(({ id }) => reachable.has(id))
    const ways = steps.flatMap(({ id }) =>
      (exits.get(id) ?? []).map((exit) => ({
        stepId: id,
        exit,
        reached: this.coverage.times(id, exit) > 0,
        assumed: this.coverage.times(id, exit) > 0 && !this.coverage.really(id, exit),
      })),
    )
    const unreached = steps.filter(({ id }) => !this.coverage.steps.has(id)).map(({ id }) => id)
    return {
      truncated: this.truncated,
      coverage: {
        steps: { total: steps.length, reached: steps.length - unreached.length },
        exits: { total: ways.length, reached: ways.filter(({ reached }) => reached).length },
      },
      unreached,
      unreachable: definition.steps.filter(({ id }) => !reachable.has(id)).map(({ id }) => id),
      exits: ways,
      failures: [...this.failures.values()],
      unknown: [...this.unknown],
      longestPath: { steps: this.longest?.steps ?? 0, visits: this.longest?.visits ?? [] },
      pathsTried: this.paths.length,
      paths: this.paths.slice(0, MAX_PATHS_SHOWN),
      asking: this.coverage.asking,
      completed: this.completed,
    }
  }
}

function outcomeOf(ended: Ended | null): Pick<SimulatedPath, 'outcome' | 'error'> {
  if (!ended) return { outcome: 'cut', error: null }
  const { arrival, state } = ended
  if (state.run.failing) {
    const { outcome: _outcome, ...error } = state.run.failing
    return { outcome: 'failed', error }
  }
  if (arrival && 'failed' in arrival) return { outcome: 'failed', error: arrival.failed }
  if (arrival && 'ends' in arrival && arrival.ends.status === 'failed')
    return { outcome: 'failed', error: arrival.ends.error }
  return { outcome: 'completed', error: null }
}
