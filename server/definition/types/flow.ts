import type { Step } from '../schema'
import type { Reading } from './read'
import { ANY, join, NEVER, objectOf, ofKind, type Property, type ValueType } from './type'

/** What a step adds to the run. */
export interface Writes {
  /** Fields of the run data; one that is not `always` set may stay as it was. */
  data: ReadonlyMap<string, Property>
  /** It may set any others, to anything. */
  open: boolean
  /** What `${…}` with its id stands for, where no field has that name. */
  output: ValueType
}

/** What is known of run data and outputs at some place: the type of each name, if it has a value. */
export interface TypesHere {
  data: (name: string) => ValueType
  output: (stepId: string) => ValueType
  /** All fields of the run data. */
  all: () => ValueType
}

/** What the steps of a definition do, by their position. */
export interface Typist {
  writes(at: number, here: TypesHere, ends: readonly TypesHere[]): Writes
  /** What an exit that begins a branch puts into the data of that branch; null for another exit. */
  begins(at: number, exit: string, here: TypesHere): ReadonlyMap<string, ValueType> | null
}

/** A definition as the flow of types goes through it. */
export interface TypeGraph {
  steps: readonly Step[]
  /** Positions of steps, each after those that lead to it except round a loop. */
  order: readonly number[]
  /** What leads to each step. */
  from: readonly (readonly { source: number; exit: string }[])[]
  /** The steps that nothing comes before. */
  first: ReadonlySet<number>
  onCancel: number | null
  onFailure: number | null
  /** Where the branches of a step end that runs some, and whether what they wrote is put together. */
  forks: ReadonlyMap<number, { ends: readonly { step: number; exit: string }[]; merges: boolean }>
  isFailure: (exit: string) => boolean
}

/** What later steps find as `error`. */
export const ERROR_TYPE = objectOf(
  new Map(['code', 'message', 'stepId'].map((name) => [name, { type: ofKind('string'), always: true }])),
  false,
)

/** The type of each name, by its slot; `open` if run data may have fields that no slot stands for. */
interface State {
  types: ValueType[]
  open: boolean
}

/** Definitions that people draw take two or three. */
const MOST_PASSES = 30

export interface TypeFlow {
  at(step: number): TypesHere
  /** Once the step is left by an exit. */
  after(step: number, exit: string): TypesHere
}

/**
 * Which types the names of a run may have where: joined over all paths until nothing changes. It knows nothing of whether
 * they have a value.
 */
export function flowOfTypes(graph: TypeGraph, start: ReadonlyMap<string, ValueType>, typist: Typist): TypeFlow {
  const { steps, from, order, forks } = graph
  const fields = new Map<string, number>()
  const outputs = new Map<string, number>()
  const slots: boolean[] = []
  const slotOf = (names: Map<string, number>, name: string) => {
    const known = names.get(name)
    if (known !== undefined) return known
    names.set(name, slots.length)
    // Of each slot, whether it is a field.
    return slots.push(names === fields) - 1
  }
  const first: State = { types: [], open: false }
  for (const [name, type] of start) first.types[slotOf(fields, name)] = type
  const error = slotOf(fields, 'error')

  const known: (State | undefined)[] = []
  /** What may be known wherever a run stops. */
  let stopped = first
  const written: ({ from: State; ends: readonly State[]; writes: Writes } | undefined)[] = []
  /** In an open state, names that got their slot later may be fields too. */
  const typeIn = ({ types, open }: State, slot: number) => types[slot] ?? (open && slots[slot] ? ANY : NEVER)
  const here = (state: State): TypesHere => ({
    data: (name) => {
      const slot = fields.get(name)
      return slot === undefined ? (state.open ? ANY : NEVER) : typeIn(state, slot)
    },
    output: (stepId) => typeIn(state, outputs.get(stepId) ?? -1),
    all: () => {
      const props = new Map<string, Property>()
      for (const [name, slot] of fields) {
        const type = typeIn(state, slot)
        if (type !== NEVER) props.set(name, { type, always: false })
      }
      return objectOf(props, state.open)
    },
  })
  /** The names of both. It is `a` itself if `b` adds nothing. */
  const joined = (a: State, b: State): State => {
    const open = a.open || b.open
    let types: ValueType[] | null = null
    const [left, right, alike] = [a.types, b.types, a.open === b.open]
    for (let slot = 0; slot < slots.length; slot++) {
      if (left[slot] === right[slot] && (alike || left[slot] !== undefined)) continue
      const mine = typeIn(a, slot)
      const both = join(mine, typeIn(b, slot))
      if (both === mine) continue
      types ??= a.types.slice()
      types[slot] = both
    }
    return types === null && open === a.open ? a : { types: types ?? a.types, open }
  }
  const writesOf = (at: number, before: State): Writes => {
    const ends = (forks.get(at)?.ends ?? []).flatMap(({ step, exit }) => leaving(step, exit) ?? [])
    const last = written[at]
    if (last && last.from === before && ends.length === 0 && last.ends.length === 0) return last.writes
    const writes = typist.writes(at, here(before), ends.map(here))
    written[at] = { from: before, ends, writes }
    return writes
  }
  /** What was found last for each exit, and from what. */
  const memo = steps.map(() => new Map<string, { from: State; left: State }>())
  const leaving = (at: number, exit: string): State | null => {
    const before = known[at]
    const step = steps[at]
    if (!before || !step) return null
    const last = memo[at]?.get(exit)
    if (last?.from === before) return last.left
    const left = leave(at, step, exit, before)
    // What a fork gives depends on its branches too.
    if (!forks.has(at)) memo[at]?.set(exit, { from: before, left })
    return left
  }
  const leave = (at: number, step: Step, exit: string, before: State): State => {
    const left: State = { types: before.types.slice(), open: before.open }
    if (graph.isFailure(exit)) {
      left.types[error] = ERROR_TYPE
      return left
    }
    const begins = typist.begins(at, exit, here(before))
    if (begins) {
      for (const [name, type] of begins) left.types[slotOf(fields, name)] = type
      return left
    }
    const writes = writesOf(at, before)
    const fork = forks.get(at)
    if (fork?.merges) {
      for (const end of fork.ends) {
        const state = leaving(end.step, end.exit)
        if (!state) continue
        for (const [slot, isField] of slots.entries())
          if (isField) left.types[slot] = join(typeIn(left, slot), typeIn(state, slot))
        left.open ||= state.open
      }
    }
    if (writes.open) {
      left.open = true
      for (const [slot, isField] of slots.entries()) if (isField) left.types[slot] = ANY
    }
    for (const [name, { type, always }] of writes.data) {
      const slot = slotOf(fields, name)
      left.types[slot] = always ? type : join(typeIn(left, slot), type)
    }
    left.types[slotOf(outputs, step.id)] = writes.output
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
    // Nothing that leads here has changed.
    if (last?.length === sources.length && last.every((state, i) => state === sources[i])) return known[at] ?? null
    entered[at] = sources
    return sources.length === 0 ? null : sources.reduce((a, b) => joined(a, b))
  }
  const entered: State[][] = []
  const mayStop = graph.onCancel !== null || graph.onFailure !== null
  for (let changed = true, passes = 0; changed; passes++) {
    changed = false
    for (const at of order) {
      const found = enter(at)
      const last = known[at]
      if (!found || found === last) continue
      // Loops in loops in loops: nothing is claimed from here on, so that it ends soon.
      const next = passes < MOST_PASSES ? (last ? joined(last, found) : found) : anything(last ?? found, slots)
      if (next === last) continue
      known[at] = next
      if (mayStop) stopped = joined(stopped, next)
      changed = true
    }
  }
  return {
    at: (step) => here(known[step] ?? first),
    after: (step, exit) => here(leaving(step, exit) ?? first),
  }
}

function anything(state: State, slots: readonly boolean[]): State {
  if (state.open && slots.every((_, slot) => state.types[slot] === ANY)) return state
  return { types: slots.map(() => ANY), open: true }
}

/** What a name stands for at a place: a field of that name, or else the output of the step with that id. */
export function readingAt(types: TypesHere, always: (name: string) => boolean): (root: string) => Reading {
  return (root) => {
    if (root === '_') return { type: types.all(), always: true }
    return { type: join(types.data(root), types.output(root)), always: always(root) }
  }
}
