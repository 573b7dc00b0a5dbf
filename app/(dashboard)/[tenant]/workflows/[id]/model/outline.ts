import { exitOf } from '@/server/definition/exits'
import type { Definition, Step } from '@/server/definition/schema'

/** A line of the outline, or a jump where a branch continues at a step that is listed elsewhere. */
export type OutlineItem =
  | { kind: 'step'; step: Step; number: number; branches: OutlineBranch[] }
  | { kind: 'jump'; stepId: string }

export interface OutlineBranch {
  exit: string
  items: OutlineItem[]
}

export interface Outline {
  /** The path from START. */
  main: OutlineItem[]
  /** The clean-up path, without the steps that are on the main path. */
  cleanup: OutlineItem[]
  /** Steps that no path reaches, in the order of the definition. */
  loose: OutlineItem[]
}

/**
 * The steps in the order a run meets them. Where a step has several exits, each gets its own list until the branches
 * join again. Each step is listed once; other paths to it are jumps.
 */
export function outlineOf(definition: Definition): Outline {
  const steps = new Map(definition.steps.map((step) => [step.id, step]))
  const leaving = new Map<string, { exit: string; to: string }[]>()
  for (const edge of definition.edges) {
    if (!steps.has(edge.from) || !steps.has(edge.to)) continue
    leaving.set(edge.from, [...(leaving.get(edge.from) ?? []), { exit: exitOf(edge), to: edge.to }])
  }
  const shown = new Set<string>()

  const walk = (from: string | null, stop: ReadonlySet<string>): OutlineItem[] => {
    const items: OutlineItem[] = []
    for (let at = from; at !== null && !stop.has(at); ) {
      const step = steps.get(at)
      if (!step) break
      if (shown.has(at)) {
        items.push({ kind: 'jump', stepId: at })
        break
      }
      shown.add(at)
      const item = { kind: 'step' as const, step, number: shown.size, branches: [] as OutlineBranch[] }
      items.push(item)
      const exits = leaving.get(at) ?? []
      if (exits.length < 2) {
        at = exits[0]?.to ?? null
        continue
      }
      const join = joinOf(
        exits.map(({ to }) => to),
        leaving,
      )
      const until = join === null ? stop : new Set([...stop, join])
      item.branches = exits.map(({ exit, to }) => ({ exit, items: walk(to, until) }))
      at = join
    }
    return items
  }

  const main = walk(definition.initialStep, new Set())
  const { onCancel } = definition
  const cleanup = onCancel === undefined ? [] : walk(onCancel, new Set())
  const reached = new Set([...leaving.values()].flat().map(({ to }) => to))
  const loose = [...definition.steps.filter(({ id }) => !reached.has(id)), ...definition.steps].flatMap(({ id }) =>
    shown.has(id) ? [] : walk(id, new Set()),
  )
  return { main, cleanup, loose }
}

/** The nearest step that all branches reach; null when they never join. */
function joinOf(starts: string[], leaving: Map<string, { to: string }[]>): string | null {
  const [first, ...others] = starts.map((start) => distances(start, leaving))
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

function distances(start: string, leaving: Map<string, { to: string }[]>): Map<string, number> {
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
    item.kind === 'jump'
      ? []
      : [
          { step: item.step, number: item.number, depth },
          ...item.branches.flatMap((branch) => flatOutline(branch.items, depth + 1)),
        ],
  )
}
