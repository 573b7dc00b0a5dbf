import { exitOf } from '@/server/definition/next-step'
import type { Definition, Step } from '@/server/definition/schema'

/** One line of the outline, or a place where a branch goes on at a step that stands elsewhere. */
export type OutlineItem =
  | { kind: 'step'; step: Step; number: number; branches: OutlineBranch[] }
  | { kind: 'jump'; stepId: string }

export interface OutlineBranch {
  exit: string
  items: OutlineItem[]
}

export interface Outline {
  /** From START on. */
  main: OutlineItem[]
  /** From the first step after a cancel on, where the main path does not show it. */
  cleanup: OutlineItem[]
  /** What no path reaches, in the order of the definition. */
  loose: OutlineItem[]
}

/**
 * The steps in the order a run meets them. Where a step has several ways out, each is a list of its own until they
 * meet again; a step is shown once, further ways to it are jumps.
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
      const ways = leaving.get(at) ?? []
      if (ways.length < 2) {
        at = ways[0]?.to ?? null
        continue
      }
      const join = meeting(
        ways.map(({ to }) => to),
        leaving,
      )
      const until = join === null ? stop : new Set([...stop, join])
      item.branches = ways.map(({ exit, to }) => ({ exit, items: walk(to, until) }))
      at = join
    }
    return items
  }

  const main = walk(definition.initialStep, new Set())
  const { onCancel } = definition
  const cleanup = onCancel === undefined ? [] : walk(onCancel, new Set())
  const led = new Set([...leaving.values()].flat().map(({ to }) => to))
  const loose = [...definition.steps.filter(({ id }) => !led.has(id)), ...definition.steps].flatMap(({ id }) =>
    shown.has(id) ? [] : walk(id, new Set()),
  )
  return { main, cleanup, loose }
}

/** The nearest step that every one of the ways comes to; null when they end apart. */
function meeting(starts: string[], leaving: Map<string, { to: string }[]>): string | null {
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

/** Every step of an outline with how deep it is nested, from top to bottom: for arrow keys and numbering. */
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
