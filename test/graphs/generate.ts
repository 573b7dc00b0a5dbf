import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { Formula, Graph, Node } from './reference'

/** The fields of every generated workflow, and one that only some paths set. */
const FIELDS = ['a', 'b', 'c'] as const
const MAYBE = 'm'

/** A stream of numbers that a seed repeats. */
export class Dice {
  private state: number

  constructor(seed: number) {
    // Neighbouring seeds must not begin alike.
    this.state = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) >>> 0
    for (let i = 0; i < 4; i++) this.below(2)
  }

  /** From 0 to n - 1. */
  below(n: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0
    return Math.floor((this.state / 2 ** 32) * n)
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.below(list.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  chance(percent: number): boolean {
    return this.below(100) < percent
  }
}

function read(data: JsonObject, name: string): JsonValue {
  const value = data[name]
  if (value === undefined) throw new Error('EXPRESSION_UNRESOLVED')
  return value
}

/** A number computed from fields, which may have no value or divide by zero. */
function numberFormula(dice: Dice, scope: Scope): Formula {
  const name = scope.item && dice.chance(40) ? dice.pick(['item', 'index']) : dice.chance(3) ? MAYBE : dice.pick(FIELDS)
  const n = dice.below(4)
  const value = (data: JsonObject) => Number(read(data, name))
  switch (dice.below(9)) {
    case 0:
    case 5:
    case 6:
      return { text: `\${${name}} + ${n}`, of: (data) => value(data) + n }
    case 1:
    case 7:
      return { text: `(\${${name}} * 3 + ${n}) % 5`, of: (data) => (value(data) * 3 + n) % 5 }
    case 2:
      return {
        text: `7 / (\${${name}} - ${n}) > 0 ? 1 : 2`,
        of: (data) => {
          if (value(data) === n) throw new Error('EXPRESSION_FAILED')
          return 7 / (value(data) - n) > 0 ? 1 : 2
        },
      }
    case 3:
      return { text: `\${${MAYBE} ?? ${n}}`, of: (data) => data[MAYBE] ?? n }
    default:
      return { text: `has(\${${MAYBE}}) ? \${${MAYBE}} : \${${name}}`, of: (data) => data[MAYBE] ?? read(data, name) }
  }
}

/** A template that produces a number. */
function template(dice: Dice): Formula {
  const n = dice.below(4)
  if (dice.chance(20)) return { text: `\${${MAYBE} ?? ${n}}`, of: (data) => data[MAYBE] ?? n }
  const name = dice.chance(4) ? MAYBE : dice.pick(FIELDS)
  return { text: `\${${name}}`, of: (data) => read(data, name) }
}

function truthFormula(dice: Dice, scope: Scope): Formula {
  const { text, of } = numberFormula(dice, scope)
  const n = dice.below(5)
  if (dice.chance(30)) return { text: `!((${text}) in [${n}, 2])`, of: (data) => ![n, 2].includes(Number(of(data))) }
  return {
    text: `(${text}) < ${n} || \${a} == \${b}`,
    of: (data) => Number(of(data)) < n || read(data, 'a') === read(data, 'b'),
  }
}

/** A step's position. */
interface Scope {
  /** How many forks it lies in. */
  depth: number
  /** The fields it may write: branches whose data is merged each have their own. */
  writes: readonly string[]
  /** Whether it lies in a for-each. */
  item: boolean
}

function nodeOf(dice: Dice, id: string, scope: Scope): Node {
  const kind = dice.below(scope.depth < 2 ? 112 : 100)
  if (kind >= 106) {
    const most = Math.min(3, scope.writes.length)
    return { id, kind: 'parallel', branches: ['p', 'q', 'r'].slice(0, 1 + dice.below(most)) }
  }
  if (kind >= 100) {
    const items = Array.from({ length: dice.below(4) }, () => dice.below(5))
    const [concurrency, collects] = [dice.pick([1, 1, 3]), dice.pick([...scope.writes, 'item'])]
    return { id, kind: 'each', items, concurrency, collects, into: `all_${id}`, goesOn: dice.chance(40) }
  }
  if (kind < 30) {
    const name = scope.depth === 0 && dice.chance(15) ? MAYBE : dice.pick(scope.writes)
    return { id, kind: 'set', values: { [name]: numberFormula(dice, scope) } }
  }
  if (kind < 52) return { id, kind: 'if', when: truthFormula(dice, scope) }
  if (kind < 64) {
    const cases = ['x', 'y', 'z']
      .slice(0, 1 + dice.below(3))
      .map((name) => ({ id: name, when: truthFormula(dice, scope) }))
    return { id, kind: 'switch', cases }
  }
  if (kind < 82) {
    return { id, kind: 'effect', field: dice.pick(scope.writes), value: template(dice), fails: dice.chance(12) }
  }
  if (kind < 88) return { id, kind: 'ask', field: dice.pick(scope.writes) }
  if (kind < 93) return { id, kind: 'decide', actions: ['yes', 'no'] }
  if (kind < 95) return { id, kind: 'pass' }
  return kind < 98 ? { id, kind: 'end' } : { id, kind: 'fail', code: `OVER_${id.toUpperCase()}` }
}

export function exitsOfNode(node: Node): string[] {
  switch (node.kind) {
    case 'if':
      return ['true', 'false', 'error']
    case 'switch':
      return [...node.cases.map(({ id }) => id), 'default', 'error']
    case 'decide':
      return [...node.actions, 'next', 'error']
    case 'end':
    case 'fail':
      return []
    case 'parallel':
    case 'each':
      return ['done', 'error']
    default:
      return ['next', 'error']
  }
}

/** A graph with branches, loops, failures, pauses and forks. An edge that leads back bounds the step it leaves. */
export function randomGraph(dice: Dice): Graph {
  const graph = bodyOf(dice, 's', 2 + dice.below(9), { depth: 0, writes: FIELDS, item: false })
  return dice.chance(40) ? withFailurePath(dice, graph) : graph
}

/** A path of its own, whose steps may fail too. */
function withFailurePath(dice: Dice, { start, nodes, edges }: Graph): Graph {
  const scope = { depth: 2, writes: FIELDS, item: false }
  const path = Array.from({ length: 3 }, (_, at): Node => {
    const id = `f${at}`
    const node = nodeOf(dice, id, scope)
    const waits = ['ask', 'decide', 'pass'].includes(node.kind)
    return waits ? { id, kind: 'set', values: { [dice.pick(FIELDS)]: numberFormula(dice, scope) } } : node
  })
  const ways = path.flatMap((node, at) => {
    const to = path[at + 1]
    return to ? exitsOfNode(node).map((on) => ({ from: node.id, on, to: to.id })) : []
  })
  const kept = ways.filter(() => !dice.chance(20))
  return { start, onFailure: 'f0', nodes: [...nodes, ...path], edges: [...edges, ...kept] }
}

function bodyOf(dice: Dice, prefix: string, length: number, scope: Scope): Graph {
  const nodes = Array.from({ length }, (_, at) => nodeOf(dice, `${prefix}${at}`, scope))
  const edges: Graph['edges'] = []
  for (const [at, node] of nodes.entries()) {
    for (const on of exitsOfNode(node)) {
      if (dice.chance(on === 'error' ? 45 : 8)) continue
      const back = dice.chance(25)
      const to = back ? dice.below(at + 1) : at + 1 + dice.below(nodes.length - at)
      const target = nodes[to]
      if (!target) continue
      if (back) node.maxVisits = 1 + dice.below(5)
      edges.push({ from: node.id, on, to: target.id })
    }
  }
  const [first] = nodes
  if (!first) throw new Error('a graph without steps')
  // The inside of a fork is entered through its exit alone.
  for (const node of [...nodes]) {
    if (node.kind !== 'parallel' && node.kind !== 'each') continue
    const exits = node.kind === 'parallel' ? node.branches : ['each']
    for (const [at, on] of exits.entries()) {
      if (dice.chance(8)) continue
      const own = scope.writes.filter((_, field) => field % exits.length === at)
      const inside = { depth: scope.depth + 1, writes: own, item: scope.item || node.kind === 'each' }
      const body = bodyOf(dice, `${node.id}${on[0]}`, 1 + dice.below(4), inside)
      nodes.push(...body.nodes)
      edges.push({ from: node.id, on, to: body.start }, ...body.edges)
    }
  }
  if (scope.depth === 0) return { start: first.id, nodes, edges }
  // Unreachable steps could not refer to the item.
  const reached = new Set([first.id])
  for (const id of reached) for (const { from, to } of edges) if (from === id) reached.add(to)
  return {
    start: first.id,
    nodes: nodes.filter(({ id }) => reached.has(id)),
    edges: edges.filter(({ from }) => reached.has(from)),
  }
}

/** The definition of a graph. Effects that fail are sent to `url`. */
export function definitionOf({ start, onFailure, nodes, edges }: Graph, url: string) {
  return {
    initialStep: start,
    ...(onFailure === undefined ? {} : { onFailure }),
    payload: {
      ...Object.fromEntries(FIELDS.map((name) => [name, { type: 'number', default: 1 }])),
      [MAYBE]: { type: 'number', required: false },
    },
    steps: nodes.map((node) => ({ ...stepOf(node, url), ...(node.maxVisits ? { maxVisits: node.maxVisits } : {}) })),
    edges: edges.map(({ from, on, to }) => (on === 'next' ? { from, to } : { from, to, on })),
  }
}

function stepOf(node: Node, url: string): JsonObject {
  const { id } = node
  switch (node.kind) {
    case 'set': {
      const compute = Object.fromEntries(Object.entries(node.values).map(([name, { text }]) => [name, text]))
      return { id, type: 'set-data', compute }
    }
    case 'if':
      return { id, type: 'condition', when: node.when.text }
    case 'switch':
      return { id, type: 'switch', cases: node.cases.map(({ id: name, when }) => ({ id: name, when: when.text })) }
    case 'effect':
      return { id, type: 'test-effect', body: { [node.field]: node.value.text }, ...(node.fails ? { url } : {}) }
    case 'ask':
      return { id, type: 'collect-inputs', output: { [node.field]: { type: 'number' } } }
    case 'decide':
      return { id, type: 'request-user-action', actions: node.actions.map((name) => ({ id: name, label: name })) }
    case 'parallel':
      return { id, type: 'parallel', branches: node.branches.map((name) => ({ id: name })) }
    case 'each': {
      const { items, concurrency, collects, into, goesOn } = node
      const result = `\${${collects}}`
      const onItemError = goesOn ? 'continue' : 'stop'
      return { id, type: 'for-each', items, concurrency, result, saveAs: into, onItemError }
    }
    case 'pass':
      return { id, type: 'delay', for: 'PT0.02S' }
    case 'end':
      return { id, type: 'end-flow' }
    case 'fail':
      return { id, type: 'fail-flow', code: node.code, message: 'over' }
  }
}
