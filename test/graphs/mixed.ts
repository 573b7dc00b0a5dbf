import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { Fields } from '@/server/definition/schema'
import { lookupIn, resolveTemplates } from '@/server/definition/template'
import { joinAll, typeOf } from '@/server/definition/types/type'
import { evaluateText } from '@/server/tools/expression'
import type { KnownOutput } from '@/server/workflows/check/flow'
import { type Dice, definitionOf, randomGraph } from './generate'
import type { Formula, Graph, Node } from './reference'

/** The names that expressions of these graphs refer to. */
const NAMES = ['a', 'b', 'c', 'm', 'item', 'index', 'error']
const PATHS = ['', '', '', '.x', '.y', '[0]', '.x.y', '.results', '.count', '.results[0]', '.code']

const SCALARS: readonly JsonValue[] = [null, true, false, 0, 2, 'text', '']
const VALUES: readonly JsonValue[] = [
  ...SCALARS,
  [],
  [1, 2],
  ['a', 'b'],
  [{ x: 1 }, { y: 'z' }],
  {},
  { x: 1 },
  { x: { y: 'deep' } },
  { x: 'text', y: [1] },
  { x: null },
]

/** One that may fail on values of the wrong kind. */
export function randomExpression(dice: Dice, depth = 3): string {
  const inner = () => randomExpression(dice, depth - 1)
  if (depth === 0 || dice.chance(25))
    return dice.chance(70) ? randomReference(dice) : JSON.stringify(dice.pick(SCALARS))
  switch (dice.below(11)) {
    case 0:
      return `(${inner()} ${dice.pick(['+', '-', '*', '%', '/'])} ${inner()})`
    case 1:
    case 2:
      return `(${inner()} ${dice.pick(['==', '!=', '<', '>=', 'in'])} ${inner()})`
    case 3:
      return `(${inner()} ${dice.pick(['&&', '||'])} ${inner()})`
    case 4:
      return `(${truth(dice)} ? ${inner()} : ${inner()})`
    case 5:
      return `[${inner()}, ${inner()}]`
    case 6:
      return `has(${plainReference(dice)})`
    case 7:
      return `size(${inner()})`
    case 8:
      return `${dice.pick(['lower', 'upper'])}(${inner()})`
    case 9:
      return dice.chance(50) ? `!${inner()}` : `-${inner()}`
    default:
      return randomReference(dice)
  }
}

function plainReference(dice: Dice): string {
  return `\${${dice.chance(5) ? '_.' : ''}${dice.pick(NAMES)}${dice.pick(PATHS)}}`
}

function randomReference(dice: Dice): string {
  const text = plainReference(dice)
  return dice.chance(20) ? `${text.slice(0, -1)} ?? ${JSON.stringify(dice.pick(VALUES))}}` : text
}

/** Mostly one that does not fail, so that runs get further. */
function truth(dice: Dice): string {
  const name = dice.pick(NAMES)
  if (dice.chance(15)) return randomExpression(dice, 2)
  return dice.pick([`has(\${${name}})`, `\${${name} ?? 0} == 2`, `\${${name} ?? 0} in [2, "text", true]`])
}

function randomTemplate(dice: Dice, depth = 2): JsonValue {
  switch (depth === 0 ? 0 : dice.below(6)) {
    case 1:
      return { x: randomTemplate(dice, depth - 1), y: randomTemplate(dice, depth - 1) }
    case 2:
      return [randomTemplate(dice, depth - 1)]
    case 3:
      return `text ${randomReference(dice)}`
    case 4:
      return dice.pick(VALUES)
    default:
      return randomReference(dice)
  }
}

/** A value that a set-data step sets, by an expression or a template. */
type Setting = Formula & { template?: JsonValue }

function setting(dice: Dice): Setting {
  // Half of them cannot fail, so that runs get further.
  const template = dice.chance(50) ? dice.pick(VALUES) : dice.chance(50) ? randomTemplate(dice) : undefined
  if (template !== undefined) {
    return { text: '', template, of: (data) => safely(() => resolveTemplates(template, lookupIn(data))) }
  }
  return formula(randomExpression(dice))
}

function formula(text: string): Formula {
  return { text, of: (data) => safely(() => evaluateText(text, lookupIn(data))) }
}

function decision(dice: Dice): Formula {
  const { text, of } = formula(truth(dice))
  return {
    text,
    of: (data) => {
      const value = of(data)
      if (typeof value !== 'boolean') throw new Error('EXPRESSION_FAILED')
      return value
    },
  }
}

function safely<T>(make: () => T): T {
  try {
    return make()
  } catch (err) {
    throw new Error(
      err instanceof Error && err.name === 'UnresolvedReference' ? 'EXPRESSION_UNRESOLVED' : 'EXPRESSION_FAILED',
    )
  }
}

function mixedNode(dice: Dice, node: Node): Node {
  const some = () => Array.from({ length: 1 + dice.below(3) }, () => dice.pick(VALUES))
  switch (node.kind) {
    case 'set':
      return { ...node, values: Object.fromEntries(Object.keys(node.values).map((name) => [name, setting(dice)])) }
    case 'if':
      return { ...node, when: decision(dice) }
    case 'switch':
      return { ...node, cases: node.cases.map(({ id }) => ({ id, when: decision(dice) })) }
    case 'effect': {
      const [first, second] = [dice.pick(VALUES), dice.pick(VALUES)]
      return { ...node, value: { text: JSON.stringify([first, second]), of: ({ a }) => (a === 2 ? first : second) } }
    }
    case 'ask':
      return {
        ...node,
        answers: some()
          .filter((value) => value !== null)
          .concat('answer'),
      }
    case 'each':
      return { ...node, items: some() }
    default:
      return node
  }
}

export interface MixedGraph {
  graph: Graph
  definition: ReturnType<typeof definitionOf> & { payload: Fields }
  outputs: Map<string, KnownOutput>
  input: JsonObject
}

/** A graph whose fields hold values of every kind, with input for it. */
export function mixedGraph(dice: Dice): MixedGraph {
  const plain = randomGraph(dice)
  const graph = { ...plain, nodes: plain.nodes.map((node) => mixedNode(dice, node)) }
  const outputs = new Map<string, KnownOutput>()
  const written = definitionOf(graph, '')
  const steps = written.steps.map((step, at) => {
    const node = graph.nodes[at]
    if (node?.kind === 'set') {
      const entries = Object.entries(node.values as Record<string, Setting>)
      const templates = entries.filter(([, { template }]) => template !== undefined)
      return {
        ...step,
        compute: Object.fromEntries(
          entries.filter(([, { template }]) => template === undefined).map(([name, { text }]) => [name, text]),
        ),
        values: Object.fromEntries(templates.map(([name, { template }]) => [name, template as JsonValue])),
      }
    }
    if (node?.kind === 'ask') return { ...step, output: { [node.field]: { type: 'any' } } }
    if (node?.kind !== 'effect') return step
    const type = joinAll((JSON.parse(node.value.text) as JsonValue[]).map((value) => typeOf({ [node.field]: value })))
    // The types of some are unknown.
    if (dice.chance(90)) outputs.set(node.id, { field: { type: 'object' }, type })
    const { body: _body, url: _url, ...rest } = step as JsonObject
    return { ...rest, type: 'call-tool', toolId: 'tool_x' }
  })
  const input: JsonObject = {}
  const payload: Fields = {}
  for (const name of ['a', 'b', 'c', 'm']) {
    const value = dice.pick(VALUES.filter((one) => one !== null))
    const type = Array.isArray(value) ? 'array' : (typeof value as 'string' | 'number' | 'boolean' | 'object')
    payload[name] = {
      type: dice.chance(20) ? 'any' : type,
      ...(name === 'm' ? { required: false } : {}),
    } as Fields[string]
    if (name !== 'm' || dice.chance(50)) input[name] = value
  }
  return { graph, definition: { ...written, steps, payload } as MixedGraph['definition'], outputs, input }
}
