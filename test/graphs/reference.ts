import type { JsonObject, JsonValue } from '@/server/definition/json'

/** An expression with a second implementation of its meaning. `of` throws where the expression fails. */
export interface Formula {
  text: string
  of(data: JsonObject): JsonValue
}

/** A step of a generated graph, as a definition writes it and as the reference understands it. */
export type Node = { id: string; maxVisits?: number } & (
  | { kind: 'set'; values: Record<string, Formula> }
  | { kind: 'if'; when: Formula }
  | { kind: 'switch'; cases: { id: string; when: Formula }[] }
  /** Returns `{ <field>: value }`, or fails for good. */
  | { kind: 'effect'; field: string; value: Formula; fails: boolean }
  /** Asks for a number from 0 to 3, or for one of some values. */
  | { kind: 'ask'; field: string; answers?: JsonValue[] }
  | { kind: 'decide'; actions: string[] }
  | { kind: 'pass' }
  | { kind: 'end' }
  | { kind: 'fail'; code: string }
  /** Branches by id; all of them must succeed. */
  | { kind: 'parallel'; branches: string[] }
  /** Iterates over the items; collects a field of each under `into`. */
  | { kind: 'each'; items: JsonValue[]; concurrency: number; collects: string; into: string; goesOn: boolean }
)

export interface Graph {
  start: string
  /** The first step of the path of a run that fails. */
  onFailure?: string
  nodes: Node[]
  edges: { from: string; on: string; to: string }[]
}

export interface Walked {
  /** The visits of each walk, by its branch. */
  visits: Record<string, string[]>
  data: JsonObject
  outcome: 'succeeded' | 'failed'
  error: string | null
}

/** A person's answer at a pause, by its id. */
export function answerTo(node: Node, pauseId: string): JsonObject {
  const nth = [...pauseId].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)
  if (node.kind === 'ask') return { [node.field]: node.answers?.[nth % node.answers.length] ?? nth % 4 }
  const actions = node.kind === 'decide' ? node.actions : []
  return { actionId: actions[nth % actions.length] ?? '' }
}

/** The same as a person sends it. */
export function resumeBody(node: Node, pauseId: string): JsonObject {
  const given = answerTo(node, pauseId)
  return node.kind === 'ask' ? { type: 'collect_inputs', data: given } : { type: 'request_user_action', ...given }
}

class Failed extends Error {
  constructor(
    readonly code: string,
    /** The step that failed. */
    readonly at: string,
  ) {
    super(code)
  }
}

/** How a path ended: at its end, by a failure, or with the whole run. */
type End =
  | { by: 'path' | 'run'; data: JsonObject; own: JsonObject; error: string | null; at: string }
  | { by: 'failure'; data: JsonObject; own: JsonObject; error: string; at: string }

/**
 * Walks through a graph, written from the documentation and not from the code.
 * @param see called at each visit, with the data it finds
 * @returns `loose`: the forks with stopped branches, anywhere; `unsure` if its end depends on time
 */
export function walkGraph(
  graph: Graph,
  input: JsonObject,
  see: (node: Node, data: JsonObject) => void = () => {},
): Walked & { loose: string[]; unsure: boolean } {
  const visits: Record<string, string[]> = {}
  const loose: string[] = []
  let unsure = false
  /** Why the run fails, once it is on its failure path. */
  let failing: string | null = null
  const target = (from: string, on: string) => graph.edges.find((edge) => edge.from === from && edge.on === on)?.to

  /** Concurrent branches: the continuation is certain if at most one of them fails. */
  const together = (scope: string, ends: readonly End[]): End | null => {
    const wrong = ends.filter(({ by }) => by !== 'path')
    if (wrong.length > 0) loose.push(scope)
    if (wrong.length > 1) unsure = true
    return wrong[0] ?? null
  }

  const walk = (start: string | undefined, branch: string, before: JsonObject, begins: JsonObject): End => {
    const counts = new Map<string, number>()
    const mine: string[] = []
    if (start !== undefined) visits[branch] = mine
    let own = { ...begins }
    const ended = <B extends End['by']>(by: B, error: string | null, at = ''): End =>
      ({ by, data: { ...before, ...own }, own, error, at }) as End
    for (let at = start; at !== undefined; ) {
      const node = graph.nodes.find(({ id }) => id === at)
      if (!node) throw new Error(`no step ${at}`)
      const { id } = node
      const visit = (counts.get(id) ?? 0) + 1
      counts.set(id, visit)
      const place = mine.push('') - 1
      const note = (exit = '') => {
        mine[place] = `${id}#${visit}${exit && ` ${exit}`}`
      }
      note()
      const data = { ...before, ...own }
      see(node, data)
      /** The run fails: only its own walk continues, once. */
      const aside = (code: string, stepId: string): boolean => {
        if (branch !== 'main' || graph.onFailure === undefined || failing !== null) return false
        failing = code
        own = { ...own, error: { code, stepId } }
        at = graph.onFailure
        return true
      }
      // A branch ended the run: the step that forked is stopped with the others.
      const stopped = (end: End): End => {
        mine.pop()
        return end
      }
      try {
        if (node.maxVisits !== undefined && visit > node.maxVisits) throw new Failed('LOOP_LIMIT', id)
        if (node.kind === 'end') return ended('run', null)
        if (node.kind === 'fail') {
          if (aside(node.code, id)) continue
          return ended('run', node.code, id)
        }
        const scope = `${branch}/${id}#${visit}`
        if (node.kind === 'parallel') {
          const ends = node.branches.map((key) => walk(target(id, key), `${scope}/${key}`, data, {}))
          const wrong = together(scope, ends)
          if (wrong?.by === 'run') {
            if (wrong.error !== null && aside(wrong.error, wrong.at)) continue
            return stopped(wrong)
          }
          if (wrong?.by === 'failure') throw new Failed(wrong.error, wrong.at)
          for (const end of ends) own = { ...own, ...end.own }
        } else if (node.kind === 'each') {
          const ends: End[] = []
          for (const [index, item] of node.items.entries()) {
            const end = walk(target(id, 'each'), `${scope}/${index}`, data, { item, index })
            ends.push(end)
            // One after the other: none of the next ones is begun.
            if (node.concurrency === 1 && (end.by === 'run' || (end.by === 'failure' && !node.goesOn))) break
          }
          const wrong = together(scope, node.goesOn ? ends.filter(({ by }) => by !== 'failure') : ends)
          if (wrong?.by === 'run') {
            if (wrong.error !== null && aside(wrong.error, wrong.at)) continue
            return stopped(wrong)
          }
          if (wrong?.by === 'failure') throw new Failed(wrong.error, wrong.at)
          const results = ends.map((end) => (end.by === 'path' ? (end.data[node.collects] ?? null) : null))
          const errors = ends.flatMap((end, index) => (end.by === 'failure' ? [{ index, code: end.error }] : []))
          own[node.into] = { results, errors, count: ends.length }
        }
        const isFork = node.kind === 'parallel' || node.kind === 'each'
        const [exit, added] = isFork ? ['done', {}] : take(node, data, `${branch}:${id}#${visit}`)
        own = { ...own, ...added }
        const way = target(id, exit)
        if (node.kind === 'decide') {
          note(way === undefined ? '' : exit)
          at = way ?? target(id, 'next')
        } else {
          note(exit === 'next' ? '' : exit)
          at = way
        }
      } catch (err) {
        if (!(err instanceof Failed)) throw err
        const way = target(id, 'error')
        const again = err.code === 'LOOP_LIMIT' && err.at === id && visit > (node.maxVisits ?? 0) + 1
        if (way === undefined || again) {
          if (aside(err.code, err.at || id)) continue
          return ended('failure', err.code, err.at || id)
        }
        note('error')
        own = { ...own, error: { code: err.code, stepId: err.at || id } }
        at = way
      }
    }
    return ended('path', null)
  }

  const { data, error: last } = walk(graph.start, 'main', input, {})
  const error = failing ?? last
  return { visits, data, outcome: error === null ? 'succeeded' : 'failed', error, loose, unsure }
}

function take(node: Node, data: JsonObject, pauseId: string): [exit: string, added: JsonObject] {
  const value = (formula: Formula) => {
    try {
      return formula.of(data)
    } catch (err) {
      throw new Failed((err as Error).message, node.id)
    }
  }
  switch (node.kind) {
    case 'set':
      return ['next', Object.fromEntries(Object.entries(node.values).map(([name, of]) => [name, value(of)]))]
    case 'if':
      return [String(value(node.when)), {}]
    case 'switch':
      return [node.cases.find(({ when }) => value(when) === true)?.id ?? 'default', {}]
    case 'effect': {
      const given = value(node.value)
      if (node.fails) throw new Failed('HTTP_ERROR', node.id)
      return ['next', { [node.field]: given }]
    }
    case 'ask':
      return ['next', answerTo(node, pauseId)]
    case 'decide': {
      const { actionId = '' } = answerTo(node, pauseId)
      return [String(actionId), { [node.id]: { actionId, actionValue: actionId } }]
    }
    default:
      return ['next', {}]
  }
}
