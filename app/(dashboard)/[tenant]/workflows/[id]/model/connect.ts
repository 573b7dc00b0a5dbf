import { exitOf } from '@/server/definition/next-step'
import type { Definition, Edge } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { edgeAt, entryOf, exitLabel, findStep, makeEdge, nameOf, START } from './definition'

/** Whether a connection may be made; `reason` is a sentence to be shown and spoken. */
export type Connection = { ok: true; replaces: string | null } | { ok: false; reason: string }

/**
 * The server's rules, asked before an edge is made: with an edge this allows, publishing finds no problem that was
 * not there. Each exit leads to one step, so a second edge takes the place of the first (`replaces` is where that led).
 */
export function canConnect(
  definition: Definition,
  catalog: Catalog,
  from: string,
  exit: string,
  to: string,
): Connection {
  const target = findStep(definition, to)
  if (to === START) return no('START has no way in.')
  if (!target) return no(`There is no step ${to}.`)
  if (from === START) {
    if (definition.initialStep === to) return no(`START leads to ${nameOf(target)} already.`)
    return { ok: true, replaces: definition.initialStep }
  }
  const source = findStep(definition, from)
  if (!source) return no(`There is no step ${from}.`)
  if (from === to) return no('A step cannot lead to itself.')
  const exits = entryOf(catalog, source.type)?.exits
  if (exits?.length === 0) return no(`${nameOf(source)} ends the run, so nothing can follow it.`)
  if (exits && !exits.includes(exit)) return no(`${nameOf(source)} has no exit ${exitLabel(exit) || exit}.`)
  const current = edgeAt(definition, from, exit)
  if (current?.to === to) return no(`${nameOf(source)} leads to ${nameOf(target)} already.`)
  const edges = definition.edges.filter((edge) => edge !== current)
  const back = pathBetween(edges, to, from)
  if (back) {
    const names = back.map((id) => nameOf(findStep(definition, id) ?? { id, type: '' }))
    return no(`This would be a circle that no run leaves: ${[...names, nameOf(target)].join(' → ')}.`)
  }
  const pause = pauseInCleanup({ ...definition, edges }, catalog, from, to)
  if (pause) return no(`${pause} waits for a person, which no step after a cancel may do.`)
  return { ok: true, replaces: current?.to ?? null }
}

const no = (reason: string): Connection => ({ ok: false, reason })

/** A step that may be connected to, or why it may not: what "Connect to…" lists. */
export function connectionTargets(definition: Definition, catalog: Catalog, from: string, exit: string) {
  return definition.steps
    .filter((step) => step.id !== from)
    .map((step) => ({ step, connection: canConnect(definition, catalog, from, exit, step.id) }))
}

/** Leads an exit (of START: the run) to a step, whatever it led to before. Ask `canConnect` first. */
export function connect(definition: Definition, from: string, exit: string, to: string): Definition {
  if (from === START) return { ...definition, initialStep: to }
  const made = makeEdge(from, exit, to)
  const at = definition.edges.findIndex((edge) => edge.from === from && exitOf(edge) === exit)
  if (at === -1) return { ...definition, edges: [...definition.edges, made] }
  const rest = definition.edges.filter((edge, i) => i === at || edge.from !== from || exitOf(edge) !== exit)
  return { ...definition, edges: rest.map((edge) => (edge.from === from && exitOf(edge) === exit ? made : edge)) }
}

/** Takes the edge of an exit away. START always leads to a step, so there it changes nothing. */
export function disconnect(definition: Definition, from: string, exit: string): Definition {
  const edges = definition.edges.filter((edge) => edge.from !== from || exitOf(edge) !== exit)
  return edges.length === definition.edges.length ? definition : { ...definition, edges }
}

/** The steps from one to another along edges, both included; null when there is no way. */
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

/** The name of a pausing step that the edge would newly put after a cancel. */
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
