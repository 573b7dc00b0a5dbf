import type { JsonObject, JsonValue } from '@/server/definition/json'

/** An expression, with what it means written a second time. `of` throws where the expression fails. */
export interface Formula {
  text: string
  of(data: JsonObject): JsonValue
}

/** A step of a generated graph, as a definition writes it and as the reference understands it. */
export type Node = { id: string; maxVisits?: number } & (
  | { kind: 'set'; values: Record<string, Formula> }
  | { kind: 'if'; when: Formula }
  | { kind: 'switch'; cases: { id: string; when: Formula }[] }
  /** Gives `{ <field>: value }`, or fails for good. */
  | { kind: 'effect'; field: string; value: Formula; fails: boolean }
  | { kind: 'ask'; field: string }
  | { kind: 'decide'; actions: string[] }
  | { kind: 'pass' }
  | { kind: 'end' }
  | { kind: 'fail'; code: string }
)

export interface Graph {
  start: string
  nodes: Node[]
  edges: { from: string; on: string; to: string }[]
}

export interface Walked {
  visits: string[]
  data: JsonObject
  outcome: 'succeeded' | 'failed'
  error: string | null
}

/** What a person answers at the n-th pause of a run. */
export function answerTo(node: Node, nth: number): JsonObject {
  if (node.kind === 'ask') return { [node.field]: nth % 4 }
  const actions = node.kind === 'decide' ? node.actions : []
  return { actionId: actions[nth % actions.length] ?? '' }
}

class Failed extends Error {
  constructor(readonly code: string) {
    super(code)
  }
}

/** A walk through a graph, written from the documentation and not from the code. */
export function walkGraph(graph: Graph, input: JsonObject): Walked {
  const counts = new Map<string, number>()
  const visits: string[] = []
  let data = { ...input }
  let answers = 0
  const target = (from: string, on: string) => graph.edges.find((edge) => edge.from === from && edge.on === on)?.to
  const result = (outcome: Walked['outcome'], error: string | null): Walked => ({ visits, data, outcome, error })
  for (let at: string | undefined = graph.start; at !== undefined; ) {
    const node = graph.nodes.find(({ id }) => id === at)
    if (!node) throw new Error(`no step ${at}`)
    const { id } = node
    const visit = (counts.get(id) ?? 0) + 1
    counts.set(id, visit)
    const note = (exit = '') => visits.push(`${id}#${visit}${exit && ` ${exit}`}`)
    try {
      if (node.maxVisits !== undefined && visit > node.maxVisits) throw new Failed('LOOP_LIMIT')
      if (node.kind === 'end') {
        note()
        return result('succeeded', null)
      }
      if (node.kind === 'fail') {
        note()
        return result('failed', node.code)
      }
      const [exit, added] = take(node, data, answers)
      if (node.kind === 'ask' || node.kind === 'decide') answers++
      data = { ...data, ...added }
      const own = target(id, exit)
      if (node.kind === 'decide') {
        note(own === undefined ? '' : exit)
        at = own ?? target(id, 'next')
      } else {
        note(exit === 'next' ? '' : exit)
        at = own
      }
    } catch (err) {
      if (!(err instanceof Failed)) throw err
      const way = target(id, 'error')
      const again = err.code === 'LOOP_LIMIT' && visit > (node.maxVisits ?? 0) + 1
      note(way === undefined || again ? '' : 'error')
      if (way === undefined || again) return result('failed', err.code)
      data = { ...data, error: { code: err.code, stepId: id } }
      at = way
    }
  }
  return result('succeeded', null)
}

function take(node: Node, data: JsonObject, nth: number): [exit: string, added: JsonObject] {
  const value = (formula: Formula) => {
    try {
      return formula.of(data)
    } catch (err) {
      throw new Failed((err as Error).message)
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
      if (node.fails) throw new Failed('HTTP_ERROR')
      return ['next', { [node.field]: given }]
    }
    case 'ask':
      return ['next', answerTo(node, nth)]
    case 'decide': {
      const { actionId = '' } = answerTo(node, nth)
      return [String(actionId), { [node.id]: { actionId, actionValue: actionId } }]
    }
    default:
      return ['next', {}]
  }
}
