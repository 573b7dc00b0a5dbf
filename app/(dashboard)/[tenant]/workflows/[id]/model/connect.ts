import { beginsBranch, exitOf } from '@/server/definition/exits'
import { cyclesOf } from '@/server/definition/graph'
import { hasWayOut, isBounded, loopThrough } from '@/server/definition/loops'
import { asideSteps, reachable } from '@/server/definition/paths'
import { type Crossing, crossingsOf, type Region, regionsOf } from '@/server/definition/regions'
import type { Definition, Edge, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { edgeAt, entryOf, exitLabel, exitsOf, findStep, makeEdge, nameOf, START } from './definition'

/** Whether a connection is allowed; `reason` is a sentence for people. */
export type Connection = { ok: true; replaces: string | null } | { ok: false; reason: string }

/** The visit limit that the editor sets for a step to which an edge leads back. */
export const FIRST_BOUND = 1_000

/**
 * Applies the server's rules before an edge is made: an allowed edge adds no problem that blocks publishing. An exit
 * leads to one step, so a second edge replaces the first (`replaces` is its target). An edge may lead back if a run can
 * leave the loop.
 */
export function canConnect(
  definition: Definition,
  catalog: Catalog,
  from: string,
  exit: string,
  to: string,
): Connection {
  const target = findStep(definition, to)
  if (to === START) return no('Nothing can lead to START.')
  if (!target) return no(`There is no step ${to}.`)
  if (from === START) {
    if (definition.initialStep === to) return no(`START already leads to ${nameOf(target)}.`)
    return { ok: true, replaces: definition.initialStep }
  }
  const source = findStep(definition, from)
  if (!source) return no(`There is no step ${from}.`)
  const exits = entryOf(catalog, source.type) && exitsOf(definition, catalog, from)
  if (exits?.length === 0) return no(`${nameOf(source)} ends the run, so nothing can follow it.`)
  if (exits && !exits.some(({ id }) => id === exit)) return no(`${nameOf(source)} has no exit ${exit}.`)
  const current = edgeAt(definition, from, exit)
  if (current?.to === to) return no(`${nameOf(source)} already leads to ${nameOf(target)}.`)
  const connected = connect(definition, from, exit, to)
  const loop = loopThrough(connected, from, to)
  if (loop && !hasWayOut(connected, new Set(loop), (step) => entryOf(catalog, step.type)?.exits)) {
    const path = pathBetween(definition.edges, to, from) ?? [from]
    const names = path.map((id) => nameOf(findStep(definition, id) ?? { id, type: '' }))
    return no(`A run could never leave the loop ${[...names, nameOf(target)].join(' → ')}. Give it a way out first.`)
  }
  const edges = definition.edges.filter((edge) => edge !== current)
  const pause = pauseInCleanup({ ...definition, edges }, catalog, from, to)
  if (pause) return no(`${pause} waits, and no step on the cleanup path may do that.`)
  const crossed = crossing(definition, catalog, from, exit, to)
  if (crossed) return no(crossed)
  return { ok: true, replaces: current?.to ?? null }
}

/** Why an edge would make a path enter or leave a branch body; null if it does not. */
function crossing(definition: Definition, catalog: Catalog, from: string, exit: string, to: string): string | null {
  const specOf = ({ type }: Step) => entryOf(catalog, type)?.exits
  const { regions, reached, known } = bodiesIn(definition, catalog)
  const source = findStep(definition, from)
  const begins = source !== undefined && beginsBranch(specOf(source) ?? [], exit)
  const touches = regions.some(({ steps }) => steps.has(from) || steps.has(to) || !reached.has(to))
  if (!begins && !touches) return null
  const connected = connect(definition, from, exit, to)
  const made = crossingsOf(connected, regionsOf(connected, specOf)).find((one) => !known.has(crossingKey(one)))
  if (!made) return null
  const name = (id: string) => nameOf(findStep(definition, id) ?? { id, type: '' })
  const { fork } = made.region
  const branch = `the branch ${exitLabel(exitsOf(definition, catalog, fork), made.region.exit)} of ${name(fork)}`
  if (made.stepId === fork) return `${capital(branch)} cannot lead back to ${name(fork)}: it ends where its steps end.`
  if (made.stepId === to && made.from === from)
    return `${name(to)} belongs to ${branch}, so ${name(from)} cannot lead there.`
  const other = made.from === undefined ? 'another path begins there' : `${name(made.from)} leads there from outside`
  return `Then ${name(made.stepId)} would belong to ${branch}, but ${other}. A branch ends where its steps end.`
}

interface Bodies {
  regions: Region[]
  /** The steps that runs reach. */
  reached: ReadonlySet<string>
  known: ReadonlySet<string>
}

const bodies = new WeakMap<Definition, Bodies>()

/** A definition's bodies, cached: starting a connection checks every step. */
function bodiesIn(definition: Definition, catalog: Catalog): Bodies {
  const found = bodies.get(definition)
  if (found) return found
  const regions = regionsOf(definition, ({ type }) => entryOf(catalog, type)?.exits)
  const begins = [definition.initialStep, ...asideSteps(definition)].filter((id) => id !== null)
  const reached = new Set(begins.flatMap((first) => [...reachable(definition, first)]))
  const made = { regions, reached, known: new Set(crossingsOf(definition, regions).map(crossingKey)) }
  bodies.set(definition, made)
  return made
}

function crossingKey({ region: { fork, exit }, stepId, from }: Crossing): string {
  return `${fork} ${exit} ${stepId} ${from ?? ''}`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const no = (reason: string): Connection => ({ ok: false, reason })

/** Every step, with whether it can be connected: the list of "Connect to…". */
export function connectionTargets(definition: Definition, catalog: Catalog, from: string, exit: string) {
  return definition.steps.map((step) => ({ step, connection: canConnect(definition, catalog, from, exit, step.id) }))
}

/** Connects an exit to a step, replacing its edge. Limits a loop that this closes. Call `canConnect` first. */
export function connect(definition: Definition, from: string, exit: string, to: string): Definition {
  if (from === START) return { ...definition, initialStep: to }
  const made = makeEdge(from, exit, to)
  const at = definition.edges.findIndex((edge) => edge.from === from && exitOf(edge) === exit)
  if (at === -1) return boundLoop({ ...definition, edges: [...definition.edges, made] }, from, to)
  const rest = definition.edges.filter((edge, i) => i === at || edge.from !== from || exitOf(edge) !== exit)
  const edges = rest.map((edge) => (edge.from === from && exitOf(edge) === exit ? made : edge))
  return boundLoop({ ...definition, edges }, from, to)
}

/**
 * Limits the visits of an edge's target, if the edge closes a loop without a limit. Every round of the loop visits its
 * first step.
 */
export function boundLoop(definition: Definition, from: string, to: string, most: number = FIRST_BOUND): Definition {
  const unbounded = cyclesOf(definition, isBounded).some((group) => group.includes(from) && group.includes(to))
  if (!unbounded) return definition
  const steps = definition.steps.map((step) => (step.id === to ? { ...step, maxVisits: most } : step))
  return { ...definition, steps }
}

/** Moves an edge to another step, or to another exit. Returns the reason if that is not allowed. */
export function reconnect(
  definition: Definition,
  catalog: Catalog,
  edge: { from: string; exit: string },
  { from, exit, to }: { from: string; exit: string; to: string },
): { definition: Definition } | { reason: string } {
  const moves = edge.from !== from || edge.exit !== exit
  const freed = moves ? disconnect(definition, edge.from, edge.exit) : definition
  const connection = canConnect(freed, catalog, from, exit, to)
  return connection.ok ? { definition: connect(freed, from, exit, to) } : { reason: connection.reason }
}

/** Removes the edge of an exit. Ignores START, which always leads to a step. */
export function disconnect(definition: Definition, from: string, exit: string): Definition {
  const edges = definition.edges.filter((edge) => edge.from !== from || exitOf(edge) !== exit)
  return edges.length === definition.edges.length ? definition : { ...definition, edges }
}

/** The steps on a path from one to another, both included; null without a path. */
export function pathBetween(edges: readonly Edge[], from: string, to: string): string[] | null {
  const leaving = new Map<string, string[]>()
  for (const edge of edges) leaving.set(edge.from, [...(leaving.get(edge.from) ?? []), edge.to])
  const cameFrom = new Map<string, string | null>([[from, null]])
  const open = [from]
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    if (at === to) {
      const path: string[] = []
      for (let id: string | null | undefined = at; id; id = cameFrom.get(id)) path.unshift(id)
      return path
    }
    for (const next of leaving.get(at) ?? []) {
      if (cameFrom.has(next)) continue
      cameFrom.set(next, at)
      open.push(next)
    }
  }
  return null
}

/** The name of a pausing step that the edge would add to the cleanup path or the failure path. */
function pauseInCleanup(definition: Definition, catalog: Catalog, from: string, to: string): string | null {
  const { edges, steps } = definition
  for (const first of asideSteps(definition)) {
    if (!pathBetween(edges, first, from)) continue
    const waits = steps.find(
      (step) =>
        entryOf(catalog, step.type)?.mode === 'pause' &&
        pathBetween(edges, to, step.id) !== null &&
        pathBetween(edges, first, step.id) === null,
    )
    if (waits) return nameOf(waits)
  }
  return null
}
