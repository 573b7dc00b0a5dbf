import { beginsBranch, exitOf, FAILURE_EXITS, fallsToNext, isFork } from '@/server/definition/exits'
import { backEdges, boundOf } from '@/server/definition/loops'
import { edgesBySource } from '@/server/definition/paths'
import type { Definition, Edge, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { entryOf } from './definition'
import { shownExits } from './exit-row'

/**
 * A line of the outline; a jump where a branch continues at a step listed elsewhere; a connection back into a loop with
 * its limit; the end of a path; or `below`, where a branch continues below all of them.
 */
export type OutlineItem =
  | { kind: 'step'; step: Step; number: number; branches: OutlineBranch[] }
  | { kind: 'jump'; stepId: string }
  | { kind: 'back'; stepId: string; bound: number | null }
  | { kind: 'end' }
  | { kind: 'below' }

export interface OutlineBranch {
  exit: string
  label: string
  items: OutlineItem[]
}

export interface Outline {
  /** The path from START. */
  main: OutlineItem[]
  /** The cleanup path, without the steps on the main path. */
  cleanup: OutlineItem[]
  failure: OutlineItem[]
  /** Steps that no path reaches, in the order of the definition. */
  loose: OutlineItem[]
}

/** How often a run can repeat a loop, in words. */
export function boundText(bound: number): string {
  return `at most ${bound.toLocaleString('en')}×`
}

interface Way {
  exit: string
  label: string
  /** Absent where the path ends. */
  edge?: Edge
}

/**
 * The steps in a run's order. If a step has several exits, each gets its own list until the branches join again. Each
 * step is listed once; other paths to it are jumps.
 */
export function outlineOf(definition: Definition, catalog: Catalog): Outline {
  const steps = new Map(definition.steps.map((step) => [step.id, step]))
  const leaving = edgesBySource(definition.edges.filter(({ from, to }) => steps.has(from) && steps.has(to)))
  const back = backEdges(definition)
  const forward = new Map([...leaving].map(([id, edges]) => [id, edges.filter((edge) => !back.has(edge))]))
  const shown = new Set<string>()

  const follow = (way: Way, stop: ReadonlySet<string>, elsewhere?: ReadonlySet<string>): OutlineItem[] => {
    if (!way.edge) return [{ kind: 'end' }]
    const { to } = way.edge
    if (back.has(way.edge)) return [{ kind: 'back', stepId: to, bound: boundOf(definition, way.edge) }]
    return stop.has(to) ? [{ kind: 'below' }] : walk(to, stop, elsewhere)
  }

  /** @param elsewhere steps listed later, so that this path only jumps to them */
  const walk = (
    from: string | null,
    stop: ReadonlySet<string>,
    elsewhere: ReadonlySet<string> = new Set(),
  ): OutlineItem[] => {
    const items: OutlineItem[] = []
    for (let at = from; at !== null && !stop.has(at); ) {
      const step = steps.get(at)
      if (!step) break
      if (shown.has(at) || elsewhere.has(at)) {
        items.push({ kind: 'jump', stepId: at })
        break
      }
      shown.add(at)
      const item = { kind: 'step' as const, step, number: shown.size, branches: [] as OutlineBranch[] }
      items.push(item)
      const ways = waysOf(step, catalog, leaving.get(at) ?? [])
      const [only] = ways
      if (ways.length < 2) {
        const edge = only?.edge
        if (edge && back.has(edge)) items.push(...follow(only, stop))
        at = edge && !back.has(edge) ? edge.to : null
        continue
      }
      const spec = entryOf(catalog, step.type)?.exits
      if (spec && isFork(spec)) {
        // The path continues at `done`, below all branches.
        const done = ways.find(({ exit }) => !beginsBranch(spec, exit) && !FAILURE_EXITS.includes(exit))
        const after = done?.edge && !back.has(done.edge) ? done.edge.to : null
        const later = new Set([...elsewhere, ...(after === null ? [] : distances(after, forward).keys())])
        for (const way of ways) {
          if (way === done) continue
          item.branches.push({ exit: way.exit, label: way.label, items: follow(way, stop, later) })
        }
        if (done?.edge && after === null) items.push(...follow(done, stop))
        at = after
        continue
      }
      // Failures and connections back do not split the path: it continues below them.
      const on = ways.filter(({ edge, exit }) => !FAILURE_EXITS.includes(exit) && !(edge && back.has(edge)))
      const targets = on.map(({ edge }) => edge?.to)
      const join = on.length > 0 && targets.every((to) => to !== undefined) ? joinOf(targets, forward) : null
      const until = join === null ? stop : new Set([...stop, join])
      const later = join === null ? elsewhere : new Set([...elsewhere, ...distances(join, forward).keys()])
      for (const way of ways) {
        const items = follow(way, until, on.includes(way) ? elsewhere : later)
        item.branches.push({ exit: way.exit, label: way.label, items })
      }
      at = join
    }
    return items
  }

  const main = walk(definition.initialStep, new Set())
  const { onCancel, onFailure } = definition
  const cleanup = onCancel === undefined ? [] : walk(onCancel, new Set())
  const failure = onFailure === undefined ? [] : walk(onFailure, new Set())
  const reached = new Set([...leaving.values()].flat().map(({ to }) => to))
  const loose = [...definition.steps.filter(({ id }) => !reached.has(id)), ...definition.steps].flatMap(({ id }) =>
    shown.has(id) ? [] : walk(id, new Set()),
  )
  return { main, cleanup, failure, loose }
}

/**
 * The continuations of a path from a step, in the order of its exits: every edge, and every exit at which the path
 * ends.
 */
function waysOf(step: Step, catalog: Catalog, leaving: readonly Edge[]): Way[] {
  const spec = entryOf(catalog, step.type)?.exits
  const exits = shownExits(step, catalog, leaving)
  const falls = (id: string) => spec !== undefined && fallsToNext(spec, id)
  const branches = exits.some(({ used, tier }) => used && tier !== 'only' && tier !== 'failure')
  return exits.flatMap(({ id, label, tier, used }): Way[] => {
    // A draft may have several edges on one exit.
    const edges = leaving.filter((edge) => exitOf(edge) === id)
    if (used) return edges.map((edge) => ({ exit: id, label, edge }))
    const ends = branches && tier === 'way' && !falls(id)
    return ends ? [{ exit: id, label }] : []
  })
}

/** The nearest step that all branches reach; null if they never join. */
function joinOf(starts: readonly (string | undefined)[], leaving: ReadonlyMap<string, readonly Edge[]>): string | null {
  const [first, ...others] = starts.map((start) => distances(start ?? '', leaving))
  let best: string | null = null
  let least = Number.POSITIVE_INFINITY
  for (const [id, far] of first ?? []) {
    const all = others.map((other) => other.get(id))
    if (all.some((distance) => distance === undefined)) continue
    const sum = all.reduce<number>((total, distance) => total + (distance ?? 0), far)
    if (sum < least) {
      best = id
      least = sum
    }
  }
  return best
}

function distances(start: string, leaving: ReadonlyMap<string, readonly Edge[]>): Map<string, number> {
  const found = new Map([[start, 0]])
  const open = [start]
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    for (const { to } of leaving.get(at) ?? []) {
      if (found.has(to)) continue
      found.set(to, (found.get(at) ?? 0) + 1)
      open.push(to)
    }
  }
  return found
}

/** Every step of an outline with its depth, from top to bottom. */
export function flatOutline(items: OutlineItem[], depth = 0): { step: Step; number: number; depth: number }[] {
  return items.flatMap((item) =>
    item.kind !== 'step'
      ? []
      : [
          { step: item.step, number: item.number, depth },
          ...item.branches.flatMap((branch) => flatOutline(branch.items, depth + 1)),
        ],
  )
}
