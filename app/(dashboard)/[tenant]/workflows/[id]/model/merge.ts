import { diffDefinitions, diffValues, sizeOfDiff } from '@/server/definition/diff'
import { exitOf } from '@/server/definition/exits'
import type { JsonValue } from '@/server/definition/json'
import type { Definition, Edge, Field, Step } from '@/server/definition/schema'
import { optionalSettings } from '@/server/definition/settings'
import { findStep, labelIn } from './definition'

export type Side = 'mine' | 'theirs'

/** The conflicting value on both sides and before: null where it was deleted or did not exist yet. */
interface Sides<V> {
  was: V | null
  mine: V | null
  theirs: V | null
}

/** A part that both sides changed in different ways. */
export type Conflict = { id: string; title: string } & (
  | ({ kind: 'step'; stepId: string } & Sides<Step>)
  | ({ kind: 'edge'; from: string; exit: string } & Sides<Edge[]>)
  | ({ kind: 'field'; name: string } & Sides<Field>)
  | ({ kind: 'meta'; key: MetaKey } & Sides<JsonValue>)
)

const META_TITLES = {
  name: 'Name',
  description: 'Description',
  initialStep: 'First step',
  onCancel: 'Cleanup path',
  onFailure: 'Failure path',
  businessKey: 'Business key',
  limits: 'Limits of a run',
}
type MetaKey = keyof typeof META_TITLES
const META = Object.keys(META_TITLES) as MetaKey[]

export interface Merge {
  /** The changes of both sides; mine where they conflict. */
  merged: Definition
  conflicts: Conflict[]
}

/**
 * Three-way merge by step, exit, START field and workflow setting. Changes to different parts merge without a conflict.
 * @param choices the side to take for each conflict, by its id
 */
export function merge(
  base: Definition,
  mine: Definition,
  theirs: Definition,
  choices: Readonly<Record<string, Side>> = {},
): Merge {
  const conflicts: Conflict[] = []
  // By the common former name: either side may have renamed it.
  const label = (stepId: string) => labelIn(stepId, base, findStep(mine, stepId) ? mine : theirs)
  const choose = <V>(conflict: Conflict, ours: V, others: V): V => {
    conflicts.push(conflict)
    return choices[conflict.id] === 'theirs' ? others : ours
  }

  const steps = mergeMaps(byStep(base), byStep(mine), byStep(theirs), (stepId, was, ours, others) =>
    choose<Step | null>(
      { id: `step:${stepId}`, kind: 'step', title: `Step ${label(stepId)}`, stepId, was, mine: ours, theirs: others },
      ours,
      others,
    ),
  )
  const edges = mergeMaps(byExit(base), byExit(mine), byExit(theirs), (key, was, ours, others) => {
    const [from = '', exit = ''] = JSON.parse(key) as string[]
    const title = exit === 'next' ? `Connection from ${label(from)}` : `Connection from ${label(from)} (${exit})`
    return choose<Edge[] | null>(
      { id: `edge:${key}`, kind: 'edge', title, from, exit, was, mine: ours, theirs: others },
      ours,
      others,
    )
  })
  const payload = mergeMaps(byField(base), byField(mine), byField(theirs), (name, was, ours, others) =>
    choose<Field | null>(
      { id: `field:${name}`, kind: 'field', title: `START field ${name}`, name, was, mine: ours, theirs: others },
      ours,
      others,
    ),
  )
  const meta = Object.fromEntries(
    META.map((key) => {
      const [was, ours, others] = [base[key] ?? null, mine[key] ?? null, theirs[key] ?? null]
      if (isSame(ours, others) || isSame(others, was)) return [key, ours]
      if (isSame(ours, was)) return [key, others]
      return [
        key,
        choose(
          { id: `meta:${key}`, kind: 'meta', title: META_TITLES[key], key, was, mine: ours, theirs: others },
          ours,
          others,
        ),
      ]
    }),
  ) as { [K in MetaKey]: Definition[K] | null }

  const order = mergeOrder(...([base, mine, theirs].map(({ steps: all }) => all.map(({ id }) => id)) as Orders))
  const kept = order.flatMap((id) => steps.get(id) ?? [])
  return { merged: assemble(meta, kept, edges, payload, [base, mine, theirs]), conflicts }
}

type Orders = [string[], string[], string[]]

function assemble(
  meta: { [K in MetaKey]: Definition[K] | null },
  steps: Step[],
  edges: Map<string, Edge[]>,
  payload: Map<string, Field>,
  sides: Definition[],
): Definition {
  const there = new Set(steps.map((step) => step.id))
  const everThere = new Set(sides.flatMap((side) => side.steps.map((step) => step.id)))
  // One side may have connected a step that the other deleted.
  const hasBothEnds = (edge: Edge) => [edge.from, edge.to].every((end) => there.has(end) || !everThere.has(end))
  const exits = mergeOrder(...(sides.map((side) => [...byExit(side).keys()]) as Orders))
  const fields = mergeOrder(...(sides.map((side) => Object.keys(side.payload)) as Orders))
  const { name, description, initialStep, onCancel, onFailure } = meta
  const kept = (id: string | null | undefined) => (id != null && (there.has(id) || !everThere.has(id)) ? id : null)
  return {
    name: name ?? '',
    description: description ?? '',
    initialStep: kept(initialStep) ?? steps[0]?.id ?? null,
    steps,
    edges: exits.flatMap((key) => edges.get(key) ?? []).filter(hasBothEnds),
    payload: Object.fromEntries(
      fields.flatMap((name) => {
        const field = payload.get(name)
        return field === undefined ? [] : [[name, field]]
      }),
    ),
    ...optionalSettings({ ...meta, onCancel: kept(onCancel), onFailure: kept(onFailure) }),
  }
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Takes each key from the side that changed it; null deletes it. */
function mergeMaps<V>(
  base: Map<string, V>,
  mine: Map<string, V>,
  theirs: Map<string, V>,
  conflict: (key: string, was: V | null, mine: V | null, theirs: V | null) => V | null,
): Map<string, V> {
  const merged = new Map<string, V>()
  for (const key of new Set([...mine.keys(), ...theirs.keys()])) {
    const [was, ours, others] = [base.get(key) ?? null, mine.get(key) ?? null, theirs.get(key) ?? null]
    // A side without changes yields, even if the other only reordered fields.
    const value = sameText(ours, was)
      ? others
      : sameText(others, was) || same(ours, others) || same(others, was)
        ? ours
        : same(ours, was)
          ? others
          : conflict(key, was, ours, others)
    if (value !== null) merged.set(key, value)
  }
  return merged
}

function sameText(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

/** Whether two definitions are the same, including the order of fields, which is visible. */
export function sameDefinition(a: Definition, b: Definition): boolean {
  return a === b || sizeOfDiff(diffDefinitions(a, b)) === 0
}

export function same(a: unknown, b: unknown): boolean {
  return a === b || diffValues(a as JsonValue, b as JsonValue).length === 0
}

/**
 * Merges three orders. The side that reordered the shared items decides (mine if both did); an added item stays after
 * its predecessor on the side that added it.
 */
function mergeOrder(base: string[], mine: string[], theirs: string[]): string[] {
  const common = (order: string[]) =>
    order.filter((id) => base.includes(id) && mine.includes(id) && theirs.includes(id))
  const reordered = (order: string[]) => common(order).join('\n') !== common(base).join('\n')
  const skeleton = common(reordered(mine) ? mine : reordered(theirs) ? theirs : base)
  const fixed = new Set(skeleton)
  const addedAfter = new Map<string | null, string[][]>()
  for (const order of [mine, theirs]) {
    let anchor: string | null = null
    let run: string[] = []
    const close = () => {
      if (run.length > 0) addedAfter.set(anchor, [...(addedAfter.get(anchor) ?? []), run])
      run = []
    }
    for (const id of order) {
      if (!fixed.has(id)) run.push(id)
      else {
        close()
        anchor = id
      }
    }
    close()
  }
  const runsAt = (anchor: string | null) =>
    (addedAfter.get(anchor) ?? []).toSorted((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1)).flat()
  return [...new Set([...runsAt(null), ...skeleton.flatMap((id) => [id, ...runsAt(id)])])]
}

function byStep({ steps }: Definition): Map<string, Step> {
  return new Map(steps.map((step) => [step.id, step]))
}

function byField({ payload }: Definition): Map<string, Field> {
  return new Map(Object.entries(payload))
}

function byExit({ edges }: Definition): Map<string, Edge[]> {
  const exits = new Map<string, Edge[]>()
  for (const edge of edges) {
    const key = JSON.stringify([edge.from, exitOf(edge)])
    exits.set(key, [...(exits.get(key) ?? []), edge])
  }
  return exits
}
