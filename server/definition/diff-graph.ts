import { diffValues, type FieldChange } from './diff'
import { type ExitSpec, exitOf } from './exits'
import { canonicalJson, type JsonObject } from './json'
import { movedSteps } from './moved-steps'
import type { Definition, Step } from './schema'

/** The node START, where a definition's first step is led to from. */
export const START_NODE = '#start'

/** What happened to a step: `renamed` is removed and added, equal but for its id. */
export type StepKind = 'added' | 'removed' | 'changed' | 'moved' | 'renamed' | 'same'

export interface StepOnBoth {
  /** The id in the later definition, or that of a removed step. */
  id: string
  kind: StepKind
  /** Whether it is also in another place: other steps lead to it, or it is in another body. */
  moved: boolean
  /** As the later definition has it, or, if removed, the earlier one. */
  step: Step
  /** The earlier id of a renamed step. */
  was: string | null
  /** The fields that differ. */
  fields: FieldChange[]
}

export interface EdgeOnBoth {
  /** A step, or `START_NODE`. */
  from: string
  exit: string
  to: string
  kind: 'added' | 'removed' | 'same'
  /** Its exit led to one step and leads to another one now. */
  elsewhere: boolean
}

export interface GraphDiff {
  /** The steps of both, in the order of the later one; removed ones follow the step that they followed. */
  steps: StepOnBoth[]
  edges: EdgeOnBoth[]
  /** The earlier definition with the ids of the later one. */
  before: Definition
}

/**
 * The union of two definitions as a graph. Positions do not count: a box that was only dragged is no change. Pure:
 * screens use it too.
 * @param specOf the exits of a step's type; undefined for an unknown type
 */
export function diffGraphs(
  earlier: Definition,
  after: Definition,
  specOf: (step: Step) => ExitSpec | undefined,
): GraphDiff {
  const renamed = renamedSteps(earlier, after)
  const before = withIds(earlier, renamed)
  const moved = movedSteps(before, after, specOf)
  const was = new Map([...renamed].map(([from, to]) => [to, from]))
  const old = byId(before)
  const steps = [...byId(after)].map(([id, step]): StepOnBoth => {
    const [known, isMoved] = [old.get(id), moved.has(id)]
    const fields = known ? diffValues(placeless(known), placeless(step)) : []
    const kind = !known ? 'added' : was.has(id) ? 'renamed' : changedKind(fields.length > 0, isMoved)
    return { id, kind, moved: isMoved, step, was: was.get(id) ?? null, fields }
  })
  return { steps: withRemoved(steps, before), edges: diffEdges(before, after), before }
}

function changedKind(changed: boolean, moved: boolean): StepKind {
  if (changed) return 'changed'
  return moved ? 'moved' : 'same'
}

/** Whether nothing on the graph differs. */
export function sameGraph({ steps, edges }: GraphDiff): boolean {
  return steps.every(({ kind }) => kind === 'same') && edges.every(({ kind }) => kind === 'same')
}

function byId({ steps }: Definition): Map<string, Step> {
  const known = new Map<string, Step>()
  for (const step of steps) if (!known.has(step.id)) known.set(step.id, step)
  return known
}

/** The API may keep a box's position in its step. */
function placeless({ position: _position, ...step }: Step): Omit<Step, 'position'> {
  return step
}

/** The steps that the earlier definition has under another id, by that id. Among equal ones, neighbours decide. */
function renamedSteps(before: Definition, after: Definition): Map<string, string> {
  const [old, now] = [byId(before), byId(after)]
  const added = new Map<string, string[]>()
  for (const step of now.values())
    if (!old.has(step.id)) added.set(bodyOf(step), [...(added.get(bodyOf(step)) ?? []), step.id])
  const renamed = new Map<string, string>()
  const [around, aroundNow] = [neighbours(before), neighbours(after)]
  for (const step of old.values()) {
    if (now.has(step.id)) continue
    const free = added.get(bodyOf(step)) ?? []
    const shared = (id: string) => (aroundNow.get(id) ?? []).filter((one) => around.get(step.id)?.includes(one)).length
    const [best] = free.toSorted((a, b) => shared(b) - shared(a))
    if (best === undefined) continue
    renamed.set(step.id, best)
    added.set(
      bodyOf(step),
      free.filter((id) => id !== best),
    )
  }
  return renamed
}

/** A step without its id and position, as a text; equal for equal values. */
function bodyOf({ id: _id, ...step }: Step): string {
  return canonicalJson(placeless(step as Step) as JsonObject)
}

function neighbours({ edges, initialStep }: Definition): Map<string, string[]> {
  const around = new Map<string, string[]>()
  const add = (id: string, sign: string) => around.set(id, [...(around.get(id) ?? []), sign])
  if (initialStep !== null) add(initialStep, START_NODE)
  for (const edge of edges) {
    add(edge.from, `to ${edge.to} ${exitOf(edge)}`)
    add(edge.to, `from ${edge.from} ${exitOf(edge)}`)
  }
  return around
}

function withIds(definition: Definition, ids: ReadonlyMap<string, string>): Definition {
  if (ids.size === 0) return definition
  const of = (id: string) => ids.get(id) ?? id
  const { initialStep, onCancel, onFailure } = definition
  return {
    ...definition,
    initialStep: initialStep === null ? null : of(initialStep),
    ...(onCancel === undefined ? {} : { onCancel: of(onCancel) }),
    ...(onFailure === undefined ? {} : { onFailure: of(onFailure) }),
    steps: definition.steps.map((step) => ({ ...step, id: of(step.id) })),
    edges: definition.edges.map((edge) => ({ ...edge, from: of(edge.from), to: of(edge.to) })),
  }
}

function withRemoved(steps: StepOnBoth[], before: Definition): StepOnBoth[] {
  const kept = new Set(steps.map(({ id }) => id))
  const following = new Map<string, StepOnBoth[]>()
  let last = ''
  for (const [id, step] of byId(before)) {
    if (kept.has(id)) last = id
    else {
      const removed: StepOnBoth = { id, kind: 'removed', moved: false, step, was: null, fields: [] }
      following.set(last, [...(following.get(last) ?? []), removed])
    }
  }
  return [...(following.get('') ?? []), ...steps.flatMap((one) => [one, ...(following.get(one.id) ?? [])])]
}

function diffEdges(before: Definition, after: Definition): EdgeOnBoth[] {
  const [old, now] = [edgesOf(before), edgesOf(after)]
  const changed = (edges: Map<string, Ends>, other: Map<string, Ends>) =>
    new Set([...edges].flatMap(([key, { from, exit }]) => (other.has(key) ? [] : [exitKey(from, exit)])))
  const [gone, come] = [changed(old, now), changed(now, old)]
  const edge = ([key, { from, exit, to }]: [string, Ends]): EdgeOnBoth => {
    const kind = !old.has(key) ? 'added' : now.has(key) ? 'same' : 'removed'
    const exits = exitKey(from, exit)
    return { from, exit, to, kind, elsewhere: kind !== 'same' && gone.has(exits) && come.has(exits) }
  }
  return [...now, ...[...old].filter(([key]) => !now.has(key))].map(edge)
}

type Ends = Pick<EdgeOnBoth, 'from' | 'exit' | 'to'>

const exitKey = (from: string, exit: string) => JSON.stringify([from, exit])

function edgesOf({ edges, initialStep }: Definition): Map<string, Ends> {
  const first = initialStep === null ? [] : [{ from: START_NODE, exit: 'next', to: initialStep }]
  const rest = edges.map((edge) => ({ from: edge.from, exit: exitOf(edge), to: edge.to }))
  return new Map([...first, ...rest].map((ends) => [JSON.stringify([ends.from, ends.exit, ends.to]), ends]))
}
