import { exitOf } from '@/server/definition/exits'
import type { Definition, Edge } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { edgeAt, entryOf, exitsOf, findStep, makeEdge, nameOf, START } from './definition'

/** Whether a connection is allowed; `reason` is a sentence for people. */
export type Connection = { ok: true; replaces: string | null } | { ok: false; reason: string }

/**
 * Applies the server's rules before an edge is made: an allowed edge adds no problem that blocks publishing. An exit
 * leads to one step, so a second edge replaces the first (`replaces` is its target).
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
  if (from === to) return no('A step cannot lead to itself.')
  const exits = entryOf(catalog, source.type) && exitsOf(definition, catalog, from)
  if (exits?.length === 0) return no(`${nameOf(source)} ends the run, so nothing can follow it.`)
  if (exits && !exits.some(({ id }) => id === exit)) return no(`${nameOf(source)} has no exit ${exit}.`)
  const current = edgeAt(definition, from, exit)
  if (current?.to === to) return no(`${nameOf(source)} already leads to ${nameOf(target)}.`)
  const edges = definition.edges.filter((edge) => edge !== current)
  const back = pathBetween(edges, to, from)
  if (back) {
    const names = back.map((id) => nameOf(findStep(definition, id) ?? { id, type: '' }))
    return no(`This would make a loop: ${[...names, nameOf(target)].join(' → ')}.`)
  }
  const pause = pauseInCleanup({ ...definition, edges }, catalog, from, to)
  if (pause) return no(`${pause} waits for a person, and no step on the clean-up path may do that.`)
  return { ok: true, replaces: current?.to ?? null }
}

const no = (reason: string): Connection => ({ ok: false, reason })

/** Every other step, with whether it can be connected: the list of "Connect to…". */
export function connectionTargets(definition: Definition, catalog: Catalog, from: string, exit: string) {
  return definition.steps
    .filter((step) => step.id !== from)
    .map((step) => ({ step, connection: canConnect(definition, catalog, from, exit, step.id) }))
}

/** Connects an exit to a step, replacing its edge. Ask `canConnect` first. */
export function connect(definition: Definition, from: string, exit: string, to: string): Definition {
  if (from === START) return { ...definition, initialStep: to }
  const made = makeEdge(from, exit, to)
  const at = definition.edges.findIndex((edge) => edge.from === from && exitOf(edge) === exit)
  if (at === -1) return { ...definition, edges: [...definition.edges, made] }
  const rest = definition.edges.filter((edge, i) => i === at || edge.from !== from || exitOf(edge) !== exit)
  return { ...definition, edges: rest.map((edge) => (edge.from === from && exitOf(edge) === exit ? made : edge)) }
}

/** Removes the edge of an exit. Does nothing for START, which always leads to a step. */
export function disconnect(definition: Definition, from: string, exit: string): Definition {
  const edges = definition.edges.filter((edge) => edge.from !== from || exitOf(edge) !== exit)
  return edges.length === definition.edges.length ? definition : { ...definition, edges }
}

/** The steps on a path from one to another, both included; null when there is none. */
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

/** The name of a pausing step that the edge would add to the clean-up path. */
function pauseInCleanup(definition: Definition, catalog: Catalog, from: string, to: string): string | null {
  const { onCancel, edges, steps } = definition
  if (onCancel === undefined || !pathBetween(edges, onCancel, from)) return null
  const waits = steps.find(
    (step) =>
      entryOf(catalog, step.type)?.mode === 'pause' &&
      pathBetween(edges, to, step.id) !== null &&
      pathBetween(edges, onCancel, step.id) === null,
  )
  return waits ? nameOf(waits) : null
}
