import type { GraphDiff } from '@/server/definition/diff-graph'
import type { Marked } from './diff-drawn'
import { END } from './graph'

/** A visit of a run's main path: the step, and the exit that it left by; null if the run ended there. */
export interface Walked {
  stepId: string
  exit: string | null
}

/** The ways of one run through the earlier and the later definition. */
export interface Ways {
  was: readonly Walked[]
  now: readonly Walked[]
}

export interface MarkedWays {
  steps: Map<string, Marked>
  lines: Map<string, Marked>
  /** The step at which they part; null if they do not. */
  parts: string | null
}

/**
 * Marks where two ways differ. They are compared over the steps that both definitions have: a step that came or went is no
 * other way. From there on, each step and line says which way leads over it.
 */
export function markWays({ was, now }: Ways, { steps, edges }: GraphDiff): MarkedWays {
  const ids = new Map(steps.flatMap((step) => (step.was === null ? [] : [[step.was, step.id]])))
  const common = new Set(steps.flatMap(({ id, kind }) => (kind === 'added' || kind === 'removed' ? [] : id)))
  const before = was.map(({ stepId, exit }) => ({ stepId: ids.get(stepId) ?? stepId, exit }))
  const [old, later] = [shared(before, common), shared(now, common)]
  const at = old.findIndex((visit, i) => !sameVisit(visit, later[i]) || !sameNext(old[i + 1], later[i + 1]))
  if (at === -1 && old.length === later.length) return { steps: new Map(), lines: new Map(), parts: null }
  const rest = (path: readonly Walked[], known: readonly Placed[]) => path.slice(known[at]?.index ?? 0)
  const lines = new Map<string, Marked>()
  const nodes = new Map<string, Marked>()
  const led = new Set(edges.map(({ from, exit, to }) => `${from} ${exit} ${to}`))
  const ways = { was: over(rest(before, old), led), now: over(rest(now, later), led) }
  for (const [mark, other, words] of [
    ['was', ways.now, 'before'],
    ['now', ways.was, 'now'],
  ] as const) {
    for (const id of ways[mark].lines) if (!other.lines.has(id)) lines.set(id, { mark, words })
    for (const id of ways[mark].steps) if (!other.steps.has(id)) nodes.set(id, { mark, words: `Only ${words}` })
  }
  return { steps: nodes, lines, parts: old[at]?.stepId ?? later[0]?.stepId ?? null }
}

type Placed = Walked & { index: number }

function shared(path: readonly Walked[], common: ReadonlySet<string>): Placed[] {
  return path.flatMap((visit, index) => (common.has(visit.stepId) ? [{ ...visit, index }] : []))
}

const sameVisit = (a: Walked, b: Walked | undefined) => a.stepId === b?.stepId && a.exit === b.exit
const sameNext = (a: Walked | undefined, b: Walked | undefined) => a?.stepId === b?.stepId

/** The steps and lines of a way, from its first step on. */
function over(path: readonly Walked[], led: ReadonlySet<string>): { steps: Set<string>; lines: Set<string> } {
  const steps = new Set(path.map(({ stepId }) => stepId))
  const lines = path.flatMap(({ stepId, exit }, i) => {
    if (exit === null) return []
    const to = path[i + 1]?.stepId ?? END
    // An action without a connection of its own takes `next`.
    const taken = [exit, 'next'].find((one) => led.has(`${stepId} ${one} ${to}`)) ?? exit
    return [`${stepId} ${taken} ${to}`]
  })
  return { steps, lines: new Set(lines) }
}
