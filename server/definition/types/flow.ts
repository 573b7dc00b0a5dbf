import type { Step } from '../schema'
import type { Sliced } from '../sliced'
import type { Reading } from './read'
import { ANY, isSame, join, NEVER, objectOf, ofKind, type Property, type ValueType } from './type'

/** The data that a step adds to the run. */
export interface Writes {
  /** Fields of the run data; one that is not `always` set may be unchanged. */
  data: ReadonlyMap<string, Property>
  /** It may set any other fields, to anything. */
  open: boolean
  /** The value of `${…}` with its id, if no field has that name. */
  output: ValueType
}

/** The known types at a point of the graph: the type of each name in run data and outputs, if it has a value. */
export interface TypesHere {
  data: (name: string) => ValueType
  output: (stepId: string) => ValueType
  /** All fields of the run data. */
  all: () => ValueType
}

/** The effects of a definition's steps, by their position. */
export interface TransferFunctions {
  writes(at: number, here: TypesHere, ends: readonly TypesHere[]): Writes
  /** The fields that an exit adds to the data of the branch it begins; null for another exit. */
  begins(at: number, exit: string, here: TypesHere): ReadonlyMap<string, ValueType> | null
}

/** A definition as the type flow traverses it. */
export interface TypeGraph {
  steps: readonly Step[]
  /** Positions of steps, each after its predecessors except in a loop. */
  order: readonly number[]
  /** The edges that lead to each step. */
  from: readonly (readonly { source: number; exit: string }[])[]
  /** The steps without predecessors. */
  first: ReadonlySet<number>
  onCancel: number | null
  onFailure: number | null
  /** For a step that runs branches: where they end, and whether their data is merged. */
  forks: ReadonlyMap<number, { ends: readonly { step: number; exit: string }[]; merges: boolean }>
  isFailure: (exit: string) => boolean
}

/** The type of `error` in later steps. */
export const ERROR_TYPE = objectOf(
  new Map(['code', 'message', 'stepId'].map((name) => [name, { type: ofKind('string'), always: true }])),
  false,
)

/** The type of each name, by its slot; `open` if run data may have fields without a slot. */
interface State {
  types: ValueType[]
  open: boolean
  /** All of it as one object, computed when first needed. */
  all?: ValueType
}

/** Definitions that people draw take two or three. */
const MAX_PASSES = 30

/** If run data has more fields, its type is just an object. */
const MAX_FIELDS = 100

/**
 * The limit of the work, counted in names: 2,000 steps in a row take a tenth of it. Beyond it, types are unknown, so
 * that no definition blocks a process. A count and not a time, so that the same definition always has the same
 * problems.
 */
export const MAX_WORK = 150_000_000
/** The cost of comparing two types, for each type in them, and of typing some characters of a step. */
const PER_TYPE = 20
const PER_CHARACTER = 20

export interface TypeFlow {
  at(step: number): TypesHere
  /** After the step is left by an exit. */
  after(step: number, exit: string): TypesHere
  /** The work so far. */
  work(): number
}

const NOTHING_CLAIMED: TypesHere = { data: () => ANY, output: () => ANY, all: () => ofKind('object') }

/**
 * The types that the names of a run may have at each point: joined over all paths until nothing changes. Does not track
 * whether they have a value.
 */
export function* flowOfTypes(
  graph: TypeGraph,
  start: ReadonlyMap<string, ValueType>,
  typist: TransferFunctions,
): Sliced<TypeFlow> {
  const { steps, from, order, forks } = graph
  const fields = new Map<string, number>()
  const outputs = new Map<string, number>()
  const slots: boolean[] = []
  const slotOf = (names: Map<string, number>, name: string) => {
    const known = names.get(name)
    if (known !== undefined) return known
    names.set(name, slots.length)
    // For each slot, whether it is a field.
    return slots.push(names === fields) - 1
  }
  const first: State = { types: [], open: false }
  for (const [name, type] of start) first.types[slotOf(fields, name)] = type
  const error = slotOf(fields, 'error')

  const known: (State | undefined)[] = []
  let work = 0
  const isSpent = () => work > MAX_WORK
  const lengths: number[] = []
  const lengthOf = (at: number) => (lengths[at] ??= JSON.stringify(steps[at])?.length ?? 0)
  /** The types that may be known wherever a run stops. */
  let stopped = first
  const written: ({ from: State; ends: readonly State[]; writes: Writes } | undefined)[] = []
  /** In an open state, names that got their slot later may also be fields. */
  const typeIn = ({ types, open }: State, slot: number) => types[slot] ?? (open && slots[slot] ? ANY : NEVER)
  const here = (state: State): TypesHere => ({
    data: (name) => {
      const slot = fields.get(name)
      return slot === undefined ? (state.open ? ANY : NEVER) : typeIn(state, slot)
    },
    output: (stepId) => typeIn(state, outputs.get(stepId) ?? -1),
    all: () => (state.all ??= allOf(state)),
  })
  const allOf = (state: State): ValueType => {
    work += fields.size
    const props = new Map<string, Property>()
    for (const [name, slot] of fields) {
      const type = typeIn(state, slot)
      if (type === NEVER || (type === ANY && state.open)) continue
      if (props.size === MAX_FIELDS) return ofKind('object')
      props.set(name, { type, always: false })
    }
    return objectOf(props, state.open)
  }
  const both = (a: ValueType, b: ValueType): ValueType => {
    if (a !== b) work += PER_TYPE * (a.size + b.size)
    return join(a, b)
  }
  /** The names of both. Returns `a` itself if `b` adds nothing. */
  const joined = (a: State, b: State): State => {
    const open = a.open || b.open
    let types: ValueType[] | null = null
    const [left, right, alike] = [a.types, b.types, a.open === b.open]
    const most = alike ? Math.max(left.length, right.length) : slots.length
    work += most
    for (let slot = 0; slot < most; slot++) {
      if (left[slot] === right[slot] && (alike || left[slot] !== undefined)) continue
      const mine = typeIn(a, slot)
      const type = both(mine, typeIn(b, slot))
      if (type === mine) continue
      types ??= a.types.slice()
      types[slot] = type
    }
    return types === null && open === a.open ? a : { types: types ?? a.types, open }
  }
  const endsOf = (at: number): readonly State[] => {
    const ends = forks.get(at)?.ends ?? NO_ENDS
    work += ends.length
    return ends.length === 0 ? NO_STATES : ends.flatMap(({ step, exit }) => leaving(step, exit) ?? [])
  }
  const writesOf = (at: number, before: State, ends: readonly State[]): Writes => {
    const last = written[at]
    if (last && last.from === before && areSame(last.ends, ends)) return last.writes
    work += PER_CHARACTER * lengthOf(at) * (1 + ends.length)
    // Not even once: the next part would be long.
    if (isSpent()) return UNKNOWN
    const writes = typist.writes(at, here(before), ends.map(here))
    written[at] = { from: before, ends, writes }
    return writes
  }
  /** The last result for each exit, and its inputs; `ends` is null if branches do not matter. */
  const memo = steps.map(() => new Map<string, { from: State; ends: readonly State[] | null; left: State }>())
  const leaving = (at: number, exit: string): State | null => {
    const before = known[at]
    const step = steps[at]
    if (!before || !step) return null
    const last = memo[at]?.get(exit)
    const isKnown = last?.from === before
    if (isKnown && last.ends === null) return last.left
    const begun = isKnown ? null : begin(at, exit, before)
    // The result of a fork also depends on its branches.
    const ends = begun ? NO_STATES : endsOf(at)
    if (isKnown && areSame(last.ends ?? NO_STATES, ends)) return last.left
    const left = begun ?? leave(at, step, before, ends, last?.left)
    memo[at]?.set(exit, { from: before, ends: begun || !forks.has(at) ? null : ends, left })
    return left
  }
  const copyOf = (state: State): State => {
    work += state.types.length
    return { types: state.types.slice(), open: state.open }
  }
  /** For an exit that is taken before the step has done anything; null for any other exit. */
  const begin = (at: number, exit: string, before: State): State | null => {
    if (graph.isFailure(exit)) {
      const left = copyOf(before)
      left.types[error] = ERROR_TYPE
      return left
    }
    const begins = typist.begins(at, exit, here(before))
    if (!begins) return null
    work += PER_CHARACTER * lengthOf(at)
    const left = copyOf(before)
    for (const [name, type] of begins) left.types[slotOf(fields, name)] = type
    return left
  }
  /** @param last the previous result: an unchanged type stays the same object */
  const leave = (at: number, step: Step, before: State, ends: readonly State[], last: State | undefined): State => {
    const left = copyOf(before)
    const put = (slot: number, type: ValueType) => {
      const known = last?.types[slot]
      if (known && known !== type) work += PER_TYPE * (known.size + type.size)
      left.types[slot] = known && isSame(known, type) ? known : type
    }
    const writes = writesOf(at, before, ends)
    if (forks.get(at)?.merges) {
      for (const state of ends) {
        const most = state.open || left.open ? slots.length : state.types.length
        work += most
        for (let slot = 0; slot < most; slot++) {
          if (!slots[slot] || (left.types[slot] !== undefined && left.types[slot] === state.types[slot])) continue
          const type = both(typeIn(left, slot), typeIn(state, slot))
          if (type !== NEVER) put(slot, type)
        }
        left.open ||= state.open
      }
    }
    if (writes.open) {
      left.open = true
      work += slots.length
      for (const [slot, isField] of slots.entries()) if (isField) left.types[slot] = ANY
    }
    for (const [name, { type, always }] of writes.data) {
      const slot = slotOf(fields, name)
      put(slot, always ? type : both(typeIn(left, slot), type))
    }
    put(slotOf(outputs, step.id), writes.output)
    return left
  }
  const enter = (at: number): State | null => {
    const sources: State[] = []
    if (graph.first.has(at)) sources.push(first)
    if (graph.onCancel === at) sources.push(stopped)
    if (graph.onFailure === at) {
      const types = stopped.types.slice()
      types[error] = ERROR_TYPE
      sources.push({ types, open: stopped.open })
    }
    for (const { source, exit } of from[at] ?? []) {
      const left = leaving(source, exit)
      if (left) sources.push(left)
    }
    const last = entered[at]
    // The predecessors are unchanged.
    if (last?.length === sources.length && last.every((state, i) => state === sources[i])) return known[at] ?? null
    entered[at] = sources
    return sources.length === 0 ? null : sources.reduce((a, b) => joined(a, b))
  }
  const entered: State[][] = []
  const mayStop = graph.onCancel !== null || graph.onFailure !== null
  for (let changed = true, passes = 0; changed && !isSpent(); passes++) {
    changed = false
    for (const at of order) {
      yield
      if (isSpent()) break
      const found = enter(at)
      const last = known[at]
      if (!found || found === last) continue
      // Loops in loops in loops: claim nothing from here on, so that it ends soon.
      const next = passes < MAX_PASSES ? (last ? joined(last, found) : found) : anything(last ?? found, slots)
      if (next === last) continue
      known[at] = next
      if (mayStop) stopped = joined(stopped, next)
      changed = true
    }
  }
  return {
    at: (step) => (isSpent() ? NOTHING_CLAIMED : here(known[step] ?? first)),
    after: (step, exit) => {
      const left = isSpent() ? null : leaving(step, exit)
      return isSpent() ? NOTHING_CLAIMED : here(left ?? first)
    },
    work: () => work,
  }
}

const NO_ENDS: readonly { step: number; exit: string }[] = []
const NO_STATES: readonly State[] = []
const UNKNOWN: Writes = { data: new Map(), open: true, output: ANY }

function areSame(a: readonly State[], b: readonly State[]): boolean {
  return a === b || (a.length === b.length && a.every((state, at) => state === b[at]))
}

function anything(state: State, slots: readonly boolean[]): State {
  if (state.open && slots.every((_, slot) => state.types[slot] === ANY)) return state
  return { types: slots.map(() => ANY), open: true }
}

/** The type of a name at a point of the graph: a field of that name, or else the output of the step with that id. */
export function readingAt(types: TypesHere, always: (name: string) => boolean): (root: string) => Reading {
  return (root) => {
    if (root === '_') return { type: types.all(), always: true }
    return { type: join(types.data(root), types.output(root)), always: always(root) }
  }
}
