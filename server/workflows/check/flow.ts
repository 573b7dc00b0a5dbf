import { FAILURE_EXITS } from '../../definition/exits'
import { isRequired } from '../../definition/fields'
import type { JsonObject } from '../../definition/json'
import { asideSteps, reachable, stepsAside } from '../../definition/paths'
import type { Definition, Step } from '../../definition/schema'
import { atOnce, type Sliced } from '../../definition/sliced'
import { flowOfTypes, readingAt, type TypeFlow } from '../../definition/types/flow'
import type { ReadName } from '../../definition/types/read'
import { ANY, joinAll, type ValueType } from '../../definition/types/type'
import type { DefinedField } from '../../steps/form'
import { findStepType } from '../../steps/registry'
import { type Defined, forksOf } from './flow-forks'
import { inOrder, predecessors } from './flow-order'
import { ofOutput, type ReadStep, transferFunctionsOf, typesAtStart } from './types'

/** The known facts at the start of a step. Each bit of a set is the name or step with that index. */
interface Known {
  /** Names that have a value on some path, and ... */
  some: bigint
  /** ... on every path. */
  every: bigint
  /** Steps on a path to here. */
  before: bigint
}

/** The names that may have a value at some place. */
export interface Names {
  has(name: string): boolean
  /** Whether the name has a value on every path, even without optional fields. */
  hasAlways(name: string): boolean
  /** An earlier step may add fields of any name. */
  open: boolean
  names(): string[]
  /** The steps that may set the name, nearest last; none for a START field. */
  producers(name: string): Step[]
  definedBy(step: Step, name: string): DefinedField
}

/** The known facts about a step's output before it runs. */
export interface KnownOutput {
  field: DefinedField
  /** Null if another version of the tool or agent may run. */
  type: ValueType | null
  /** The JSON Schema, if it comes from one. */
  schema?: JsonObject
}

export interface Flow {
  /** The known names that a step writes into run data; `open` if it may write others. */
  writtenBy(stepId: string): { names: string[]; open: boolean }
  /** The names that may have a value when the step starts. */
  at(stepId: string): Names
  /** The same at the end of a branch of the step; null if no branch ever ends. */
  afterBranch(stepId: string): Names | null
  /** The values of names when the step starts, when its branches end, and when the step is left. */
  reads(stepId: string): ReadName
  readsAfterBranch(stepId: string): ReadName
  readsAfter(stepId: string, exit: string): ReadName
  /** The cost of inferring the types: see `MAX_WORK`. */
  typeWork(): number
}

/** Drawn definitions take two or three. */
const MAX_PASSES = 30

const NOTHING: Known = { some: 0n, every: 0n, before: 0n }

/** `flowing` without interruption. */
export function flowOf(definition: Definition, outputs?: ReadonlyMap<string, KnownOutput>): Flow {
  return atOnce(flowing(definition, outputs))
}

/**
 * Finds which names have a value where, in one pass over the graph, based on the START fields and on each step type's
 * definitions. A cleanup path may start after any step, so other steps' fields may be missing there. Cycles (in drafts)
 * are repeated to a fixed point. `fileId` exists after a multipart start.
 * @param outputs more facts about steps' outputs, such as an agent's output schema
 */
export function* flowing(definition: Definition, outputs: ReadonlyMap<string, KnownOutput> = new Map()): Sliced<Flow> {
  const { steps, payload } = definition
  const position = new Map(steps.map((step, index) => [step.id, index]))
  const read = steps.map(readStep)
  const defined = steps.map((step, at) => withOutput(step, definedBy(step, read[at] ?? null), outputs.get(step.id)))
  const openSteps = bits(defined.map(({ open }) => open))
  const index = new Map<string, number>()
  const bit = (name: string) => {
    const at = index.get(name) ?? index.size
    index.set(name, at)
    return 1n << BigInt(at)
  }
  const start: Known = { ...NOTHING, some: bit('fileId') }
  for (const [name, field] of Object.entries(payload)) {
    start.some |= bit(name)
    if (isRequired(field) || field.default !== undefined) start.every |= bit(name)
  }
  const bitsOf = (fields: Record<string, DefinedField>) => {
    let some = 0n
    let every = 0n
    for (const [name, field] of Object.entries(fields)) {
      some |= bit(name)
      if (!field.optional) every |= bit(name)
    }
    return { some, every }
  }
  const gives = defined.map(({ fields }) => bitsOf(fields))

  const error = bit('error')
  const from = predecessors(definition, position)
  const aside = stepsAside(definition)
  const reached = new Set(
    [definition.initialStep, ...asideSteps(definition)].flatMap((id) => (id ? [...reachable(definition, id)] : [])),
  )
  const stopped: Known = { ...start }
  for (const [i, step] of steps.entries()) {
    if (aside.has(step.id)) continue
    stopped.some |= gives[i]?.some ?? 0n
    stopped.before |= 1n << BigInt(i)
  }

  const forks = forksOf(definition, position, defined, bitsOf)
  const known: (Known | undefined)[] = []
  // A step without predecessors, or in a loop without an entry, is treated as if it came first.
  const first = new Set(from.flatMap((sources, i) => (sources.length === 0 ? [i] : [])))
  const enter = (i: number, step: Step): Known | null => {
    const sources: Known[] = []
    if (step.id === definition.initialStep || first.has(i)) sources.push(start)
    if (step.id === definition.onCancel) sources.push(stopped)
    if (step.id === definition.onFailure)
      sources.push({ ...stopped, some: stopped.some | error, every: stopped.every | error })
    for (const { source, exit } of from[i] ?? []) {
      // Ignore predecessors that no run reaches: they must not make a name look optional.
      if (reached.has(step.id) && !reached.has(steps[source]?.id ?? '')) continue
      const left = leaving(source, exit)
      if (left) sources.push(left)
    }
    // Unknown so far: a step of a loop that is entered at a later step.
    if (sources.length === 0) return null
    return sources.reduce(either)
  }
  /** The known facts after leaving a step by an exit. Null if the step, or a branch of it, has not been visited yet. */
  const leaving = (source: number, exit: string): Known | null => {
    const before = known[source]
    if (!before) return null
    // The step failed, so it defines only its error.
    if (FAILURE_EXITS.includes(exit)) return { ...before, some: before.some | error, every: before.every | error }
    const fork = forks.get(source)
    const own = fork?.begins.get(exit) ?? gives[source] ?? { some: 0n, every: 0n }
    const left = {
      some: before.some | own.some,
      every: before.every | own.every,
      before: before.before | (1n << BigInt(source)),
    }
    if (!fork || fork.begins.has(exit)) return left
    for (const { ends, onlyIds, notAlways } of fork.branches) {
      const states = ends.map((end) => leaving(end.step, end.exit))
      if (states.includes(null)) return null
      const reached = states.filter((state) => state !== null)
      for (const { some, before } of reached) {
        left.some |= some & ~onlyIds
        left.before |= before
      }
      if (fork.all && reached.length > 0)
        left.every |= reached.reduce((every, state) => every & state.every, -1n) & ~notAlways
    }
    return left
  }
  const order = inOrder(definition, position)
  const all = {
    some: gives.reduce((set, { some }) => set | some, start.some | error),
    before: (1n << BigInt(steps.length)) - 1n,
  }
  // Each pass can only add to `some` and `before`, and remove from `every`, so this ends.
  let seeding = false
  for (let changed = true, passes = 0; changed; passes++) {
    changed = false
    // Deeply nested loops: claim less from here on, so that it ends soon.
    const rough = passes >= MAX_PASSES
    for (const i of order) {
      yield
      const step = steps[i]
      if (!step) continue
      if (seeding && known[i] === undefined && enter(i, step) === null) first.add(i)
      const exact = enter(i, step)
      const next =
        exact && rough ? { some: all.some | exact.some, every: exact.every & start.every, before: all.before } : exact
      const last = known[i]
      if (!next) continue
      if (last && last.some === next.some && last.every === next.every && last.before === next.before) continue
      known[i] = next
      changed = true
    }
    if (changed || seeding) continue
    seeding = order.some((i) => known[i] === undefined)
    changed = seeding
  }

  const holds = (set: bigint, name: string) => {
    const at = index.get(name)
    return at !== undefined && ((set >> BigInt(at)) & 1n) === 1n
  }
  const always = (i: number, name: string) => holds((known[i] ?? start).every, name)
  const at = (id: string | null | undefined) => position.get(id ?? '') ?? null
  const initial = at(definition.initialStep)
  const types: TypeFlow = yield* flowOfTypes(
    {
      steps,
      order,
      // Exclude steps that no run reaches.
      from: from.map((sources, i) =>
        reached.has(steps[i]?.id ?? '')
          ? sources.filter(({ source }) => reached.has(steps[source]?.id ?? ''))
          : sources,
      ),
      first: initial === null ? first : new Set([...first, initial]),
      onCancel: at(definition.onCancel),
      onFailure: at(definition.onFailure),
      forks: new Map([...forks].map(([i, { ends }]) => [i, { ends, merges: isMerging(read[i] ?? null) }])),
      isFailure: (exit) => FAILURE_EXITS.includes(exit),
    },
    typesAtStart(definition),
    transferFunctionsOf(
      steps,
      read,
      new Map([...outputs].flatMap(([id, { type }]) => (type ? [[id, type]] : []))),
      always,
    ),
  )
  const everywhere = (states: Known[], name: string) => states.every(({ every }) => holds(every, name))

  /** The steps that may set a name, each after its predecessors. */
  const setters = new Map<string, number[]>()
  for (const i of order)
    for (const name of Object.keys(defined[i]?.fields ?? {})) {
      const known = setters.get(name)
      if (known) known.push(i)
      else setters.set(name, [i])
    }
  return {
    writtenBy(stepId) {
      const { added = {}, open = false } = defined[position.get(stepId) ?? -1] ?? {}
      // If a step may add any field, its id only names a value that is not an object.
      return { names: Object.keys(added).filter((name) => !open || name !== stepId), open }
    },
    afterBranch(stepId) {
      const ends = forks.get(position.get(stepId) ?? -1)?.ends ?? []
      const states = ends.map((end) => leaving(end.step, end.exit)).filter((state) => state !== null)
      return states.length === 0 ? null : namesOf(states.reduce(either))
    },
    at: (stepId) => namesOf(known[position.get(stepId) ?? -1] ?? start),
    reads(stepId) {
      const i = position.get(stepId) ?? -1
      return withSecrets(readingAt(types.at(i), (name) => always(i, name)))
    },
    readsAfterBranch(stepId) {
      const ends = forks.get(position.get(stepId) ?? -1)?.ends ?? []
      const states = ends.map((end) => leaving(end.step, end.exit)).filter((state) => state !== null)
      const reads = ends.map((end) => readingAt(types.after(end.step, end.exit), (name) => everywhere(states, name)))
      return withSecrets((name) => {
        const found = reads.map((read) => read(name))
        return { type: joinAll(found.map(({ type }) => type)), always: found.every(({ always }) => always) }
      })
    },
    readsAfter(stepId, exit) {
      const i = position.get(stepId) ?? -1
      const state = leaving(i, exit)
      return withSecrets(readingAt(types.after(i, exit), (name) => state !== null && holds(state.every, name)))
    },
    typeWork: () => types.work(),
  }

  function namesOf(here: Known): Names {
    const before = membersOf(here.before)
    const producers = new Map<string, Step[]>()
    let names: string[] | undefined
    return {
      has: (name) => holds(here.some, name),
      hasAlways: (name) => holds(here.every, name),
      open: (here.before & openSteps) !== 0n,
      names() {
        const some = membersOf(here.some)
        names ??= [...index].flatMap(([name, at]) => (some(at) ? [name] : []))
        return names
      },
      producers(name) {
        const known = producers.get(name) ?? (setters.get(name) ?? []).flatMap((i) => (before(i) && steps[i]) || [])
        producers.set(name, known)
        return known
      },
      definedBy: (step, name) => defined[position.get(step.id) ?? -1]?.fields[name] ?? { type: 'any' },
    }
  }
}

function either(a: Known, b: Known): Known {
  return { some: a.some | b.some, every: a.every & b.every, before: a.before | b.before }
}

/** A step's type with its configuration as written; null if that does not fit. */
export function readStep(step: Step): ReadStep | null {
  const type = findStepType(step.type)
  const config = type?.config.safeParse(step)
  return type && config?.success ? { type, config: Object.assign({}, config.data, savedAs(step)) } : null
}

function isMerging(read: ReadStep | null): boolean {
  return read?.type.mode === 'fork' && read.type.merges === true
}

/** Other checks cover whether a secret exists. */
function withSecrets(read: ReadName): ReadName {
  return (name) => (name === 'secrets' ? { type: ANY, always: false } : read(name))
}

function definedBy(step: Step, read: ReadStep | null): Defined {
  const own: DefinedField = { type: 'any' }
  if (!read?.type.defines) return { fields: { [step.id]: own }, added: {}, open: false }
  const { fields, open, output } = read.type.defines(read.config, step.id)
  return { fields: { [step.id]: output ?? own, ...fields }, added: fields, open }
}

function savedAs({ saveAs }: Step): { saveAs?: string } {
  return typeof saveAs === 'string' ? { saveAs } : {}
}

/** An object is merged by field; any other value is stored under `saveAs`, or under the step's id. */
function withOutput(step: Step, defined: Defined, known: KnownOutput | undefined): Defined {
  if (!known) return defined
  const { field: output, type } = known
  const fields = { ...defined.fields, [step.id]: output }
  if (!type) {
    const flat = typeof step.saveAs === 'string' ? { [step.saveAs]: output } : (output.properties ?? {})
    return { ...defined, fields: { ...fields, ...flat }, added: { ...defined.added, ...flat } }
  }
  const { data, open } = ofOutput(step, type)
  const added: Record<string, DefinedField> = {}
  for (const [name, { always }] of data) {
    const field = name === step.saveAs || name === step.id ? output : (output.properties?.[name] ?? { type: 'any' })
    added[name] = always ? field : { ...field, optional: true }
  }
  // Its id means the output even if no field has that name.
  return { fields: { ...added, [step.id]: output }, added, open }
}

/** A fast membership test: extracting one bit of a large number takes time linear in its length. */
function membersOf(set: bigint): (at: number) => boolean {
  let digits: string | undefined
  return (at) => {
    digits ??= set.toString(2)
    return digits[digits.length - 1 - at] === '1'
  }
}

function bits(flags: boolean[]): bigint {
  return flags.reduce((set, flag, i) => (flag ? set | (1n << BigInt(i)) : set), 0n)
}
