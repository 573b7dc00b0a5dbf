import { diffDefinitions } from '@/server/definition/diff'
import {
  diffGraphs,
  type EdgeOnBoth,
  type GraphDiff,
  START_NODE,
  type StepOnBoth,
} from '@/server/definition/diff-graph'
import { own } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { entryOf, type Layout, makeEdge, nameOf, type Position, START } from '../model/definition'
import { type ShownExit, type Size, sizeOf } from '../model/exit-row'
import { completeLayout, knownPositions, needsTidy } from '../model/positions'
import { MARKS, type Mark } from '../parts/change-mark'
import { END, type GraphEdge, graphEdges, graphExits } from './graph'
import { bodiesOf } from './hulls'
import type { Drawn } from './still-graph'

export interface Compared {
  before: Definition
  after: Definition
  layout: Layout
}

/** How a step or a line differs. The words of a step are for its card, those of a line stand on it. */
export interface Marked {
  mark: Mark
  words: string
}

export interface DrawnDiff {
  diff: GraphDiff
  /** The steps and connections of both, as a definition whose positions can be found. */
  union: Definition
  layout: Layout
  drawn: Drawn
  /** By the id of a step, or START. */
  steps: Map<string, Marked>
  /** By the id of a line. */
  lines: Map<string, Marked>
  /** The nodes that differ, in the order in which a run would come to them. */
  stops: string[]
}

/** What `DiffGraph` draws: the later definition, and what the earlier one had besides it. */
export function drawDiff({ before, after, layout }: Compared, catalog: Catalog): DrawnDiff {
  const diff = diffGraphs(before, after, ({ type }) => entryOf(catalog, type)?.exits)
  const drawn = drawnOf(diff, after, catalog)
  const steps = markSteps(diff, before, after)
  const order = flowOrder(drawn.edges, diff)
  const union: Definition = {
    ...after,
    initialStep: after.initialStep ?? diff.before.initialStep,
    steps: diff.steps.map(({ step: { position: _position, ...step } }) => step as StepOnBoth['step']),
    edges: diff.edges.flatMap(({ from, exit, to }) => (from === START_NODE ? [] : [makeEdge(from, exit, to)])),
  }
  return {
    diff,
    union,
    layout: layoutOf(diff, { after, union, layout }, drawn.exits, catalog),
    drawn,
    steps,
    lines: markLines(diff),
    stops: order.filter((id) => steps.has(id)),
  }
}

function drawnOf(diff: GraphDiff, after: Definition, catalog: Catalog): Drawn {
  const [old, now] = [graphExits(diff.before, catalog), graphExits(after, catalog)]
  const removed = new Set(diff.steps.flatMap(({ id, kind }) => (kind === 'removed' ? [id] : [])))
  const edges = graphEdges(after, catalog, now)
  const known = new Set(edges.map(({ id }) => id))
  const gone = graphEdges(diff.before, catalog, old).filter(
    // What ended a run without a connection needs no line of its own.
    ({ id, kind, from }) => !known.has(id) && (kind === 'edge' || kind === 'back' || removed.has(from)),
  )
  const exits = new Map([...now, ...[...old].filter(([id]) => removed.has(id))])
  for (const { from, exit } of gone) exits.set(from, withExit(exits.get(from) ?? [], old.get(from) ?? [], exit))
  return { exits, edges: [...edges, ...gone], bodies: bodiesOf(after, catalog) }
}

/** A removed connection may leave by an exit that the step has no longer. */
function withExit(exits: ShownExit[], old: ShownExit[], exit: string): ShownExit[] {
  if (exits.some(({ id }) => id === exit)) return exits.map((one) => (one.id === exit ? { ...one, used: true } : one))
  const was = old.find(({ id }) => id === exit)
  if (!was) return exits
  // A step that ends the run now has its line to END.
  return [...(exits.length === 0 && exit !== 'next' ? [ENDS] : exits), was]
}

const ENDS: ShownExit = { id: 'next', label: 'Next', tier: 'only', used: true }

/** Positions as in the editor. A step that only one side has gives way to one that is there now. */
function layoutOf(
  diff: GraphDiff,
  { after, union, layout }: { after: Definition; union: Definition; layout: Layout },
  exits: ReadonlyMap<string, ShownExit[]>,
  catalog: Catalog,
): Layout {
  const moved = Object.fromEntries(
    diff.steps.flatMap(({ id, was }) => {
      const at = own(layout, id) ?? (was === null ? undefined : own(layout, was))
      return at ? [[id, at] as const] : []
    }),
  )
  const stored = { ...(layout[START] ? { [START]: layout[START] } : {}), ...moved }
  const known = { ...knownPositions(diff.before, stored), ...knownPositions(after, stored) }
  if (needsTidy(union, known)) return {}
  const placed: (Position & Size)[] = []
  const kept: Layout = known[START] ? { [START]: known[START] } : {}
  const rank = ({ kind }: StepOnBoth) => ['added', 'removed'].indexOf(kind)
  for (const step of diff.steps.toSorted((a, b) => rank(a) - rank(b))) {
    const at = own(known, step.id)
    if (!at) continue
    const box = { ...at, ...sizeOf(exits.get(step.id) ?? []) }
    if (rank(step) !== -1 && placed.some((other) => overlap(box, other))) continue
    placed.push(box)
    kept[step.id] = at
  }
  return completeLayout(union, kept, catalog)
}

function overlap(a: Position & Size, b: Position & Size): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

function markSteps(diff: GraphDiff, before: Definition, after: Definition): Map<string, Marked> {
  const marked = new Map<string, Marked>()
  const fields = diffDefinitions(before, after).payload.length
  if (fields > 0) marked.set(START, { mark: 'changed', words: `Changed: ${fieldsText(fields)}` })
  for (const step of diff.steps)
    if (step.kind !== 'same') marked.set(step.id, { mark: step.kind, words: stepWords(step) })
  for (const [from, edges] of unexplained(diff)) if (!marked.has(from)) marked.set(from, leadingWords(edges))
  return marked
}

function stepWords({ kind, moved, fields, was }: StepOnBoth): string {
  const [only] = fields
  const what =
    kind === 'renamed'
      ? `Renamed, was ${was}`
      : kind === 'changed'
        ? `Changed: ${fields.length === 1 && only ? only.path : fieldsText(fields.length)}`
        : kind === 'same'
          ? ''
          : MARKS[kind].word
  return moved && kind !== 'moved' ? `${what}, moved` : what
}

const fieldsText = (count: number) => `${count} ${count === 1 ? 'field' : 'fields'}`

/** The changed connections that no added, removed or moved step explains, by the step that they leave. */
function unexplained({ steps, edges }: GraphDiff): Map<string, EdgeOnBoth[]> {
  const other = new Set(
    steps.flatMap(({ id, kind, moved }) => (kind === 'added' || kind === 'removed' || moved ? id : [])),
  )
  const explained = new Set(
    edges.flatMap(({ from, exit, to, kind }) => (kind !== 'same' && other.has(to) ? [`${from} ${exit}`] : [])),
  )
  const found = new Map<string, EdgeOnBoth[]>()
  for (const edge of edges) {
    if (edge.kind === 'same' || other.has(edge.from) || explained.has(`${edge.from} ${edge.exit}`)) continue
    found.set(edge.from, [...(found.get(edge.from) ?? []), edge])
  }
  return found
}

function leadingWords(edges: readonly EdgeOnBoth[]): Marked {
  if (edges.some(({ elsewhere }) => elsewhere)) return { mark: 'elsewhere', words: MARKS.elsewhere.word }
  const mark = edges.every(({ kind }) => kind === 'removed') ? 'removed' : 'added'
  return { mark: 'elsewhere', words: `Connection ${mark}` }
}

/** A line between steps that both have says what happened to it; at an added or removed step, that says enough. */
function markLines({ steps, edges }: GraphDiff): Map<string, Marked> {
  const oneSided = new Set(steps.flatMap(({ id, kind }) => (kind === 'added' || kind === 'removed' ? id : [])))
  return new Map(
    edges.flatMap(({ from, exit, to, kind }) => {
      if (kind === 'same') return []
      const words = oneSided.has(from) || oneSided.has(to) ? '' : kind
      return [[`${from} ${exit} ${to}`, { mark: kind, words }] as const]
    }),
  )
}

/** The nodes in the order of paths from START, then the rest. */
function flowOrder(edges: readonly GraphEdge[], { steps }: GraphDiff): string[] {
  const next = new Map<string, string[]>()
  for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to])
  const order = new Set<string>()
  for (const first of [START, ...steps.map(({ id }) => id)]) {
    const found = new Set([first])
    for (const id of found) for (const to of next.get(id) ?? []) if (!order.has(to) && to !== END) found.add(to)
    for (const id of found) order.add(id)
  }
  return [...order]
}

/** The name of a node of the union. */
export function nodeName(union: Definition, id: string): string {
  const step = union.steps.find((one) => one.id === id)
  return id === START ? 'START' : step ? nameOf(step) : id
}
