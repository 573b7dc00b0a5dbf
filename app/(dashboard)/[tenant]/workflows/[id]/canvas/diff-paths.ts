import type { EdgeOnBoth, GraphDiff } from '@/server/definition/diff-graph'
import type { Marked } from './diff-drawn'
import { END } from './graph'

/** A visit of a step; the exit is null for a step that has only one, or where it took none. */
export interface Walked {
  branch: string
  stepId: string
  exit: string | null
}

/** The ways of one run through the earlier and the later definition, as the visits of all branches in their order. */
export interface Ways {
  was: readonly Walked[]
  now: readonly Walked[]
}

/** What the ways are called, as in “Only before”. */
export interface WayWords {
  was: string
  now: string
}

const BEFORE_AND_NOW: WayWords = { was: 'before', now: 'now' }

export interface MarkedWays {
  steps: Map<string, Marked>
  lines: Map<string, Marked>
  /** The step at which they part first; null if they do not. */
  parts: string | null
}

/**
 * Marks where two ways differ, branch by branch. They are compared over the steps that both definitions have: a step that
 * came or went is no other way. From where they part, each step and line says which way leads over it.
 */
export function markWays({ was, now }: Ways, diff: GraphDiff, called: WayWords = BEFORE_AND_NOW): MarkedWays {
  const ids = new Map(diff.steps.flatMap((step) => (step.was === null ? [] : [[step.was, step.id]])))
  const before = was.map((visit) => ({ ...visit, stepId: ids.get(visit.stepId) ?? visit.stepId }))
  const marked: MarkedWays = { steps: new Map(), lines: new Map(), parts: null }
  for (const branch of new Set([...before, ...now].map((visit) => visit.branch))) {
    const of = (path: readonly Walked[]) => path.filter((visit) => visit.branch === branch)
    const parted = partWays(of(before), of(now), diff)
    if (!parted) continue
    marked.parts ??= parted.at
    const ways = {
      was: over(
        parted.was,
        diff.edges.filter(({ kind }) => kind !== 'added'),
      ),
      now: over(
        parted.now,
        diff.edges.filter(({ kind }) => kind !== 'removed'),
      ),
    }
    for (const [mark, other, words] of [
      ['was', ways.now, called.was],
      ['now', ways.was, called.now],
    ] as const) {
      for (const id of ways[mark].lines) if (!other.lines.has(id)) marked.lines.set(id, { mark, words })
      for (const id of ways[mark].steps)
        if (!other.steps.has(id)) marked.steps.set(id, { mark, words: `Only ${words}` })
    }
  }
  return marked
}

/** Both ways from where they part; null if they do not. */
function partWays(was: readonly Walked[], now: readonly Walked[], { steps }: GraphDiff) {
  const common = new Set(steps.flatMap(({ id, kind }) => (kind === 'added' || kind === 'removed' ? [] : id)))
  const [old, later] = [shared(was, common), shared(now, common)]
  const at = old.findIndex((visit, i) => !sameVisit(visit, later[i]) || !sameNext(old[i + 1], later[i + 1]))
  if (at === -1 && old.length === later.length) return null
  return {
    at: old[at]?.stepId ?? later[0]?.stepId ?? null,
    was: was.slice(old[at]?.index ?? 0),
    now: now.slice(later[at]?.index ?? 0),
  }
}

function shared(path: readonly Walked[], common: ReadonlySet<string>): (Walked & { index: number })[] {
  return path.flatMap((visit, index) => (common.has(visit.stepId) ? [{ ...visit, index }] : []))
}

/** An answer without a connection of its own has no exit, so where it leads decides. */
const sameVisit = (a: Walked, b: Walked | undefined) =>
  a.stepId === b?.stepId && (a.exit === null || b.exit === null || a.exit === b.exit)
const sameNext = (a: Walked | undefined, b: Walked | undefined) => a?.stepId === b?.stepId

const isNext = ({ exit }: EdgeOnBoth) => exit === 'next'

/** The steps and lines of a way. */
function over(path: readonly Walked[], edges: readonly EdgeOnBoth[]): { steps: Set<string>; lines: Set<string> } {
  const lines = path.flatMap(({ stepId, exit }, i) => {
    const to = path[i + 1]?.stepId
    // Without an exit, the way may also have stopped here.
    if (to === undefined) return exit === null ? [] : [`${stepId} ${exit} ${END}`]
    const leaving = edges.filter((edge) => edge.from === stepId)
    const led = leaving.filter((edge) => edge.to === to)
    // Its exit may lead over steps that only one version has. An action without a connection of its own takes `next`.
    const taken = [...led, ...leaving].find((edge) => edge.exit === exit) ?? led.find(isNext) ?? led[0]
    return taken ? [`${stepId} ${taken.exit} ${taken.to}`] : []
  })
  return { steps: new Set(path.map(({ stepId }) => stepId)), lines: new Set(lines) }
}
