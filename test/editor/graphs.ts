import fc from 'fast-check'
import type { Definition, Edge, Step } from '@/server/definition/schema'
import { catalogOf } from '@/server/steps/catalog'
import { stepTypes } from '@/server/steps/registry'

export const catalog = catalogOf(stepTypes())

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const NAMES = ['who', 'sum', 'note', ...IDS]
const template = fc
  .array(
    fc.constantFrom(
      ...NAMES.map((name) => `\${${name}}`),
      ...IDS.map((id) => `\${ ${id}.x ?? "\${who}" }`),
      'text ',
      '$${who}',
    ),
  )
  .map((parts) => parts.join(''))

const config: fc.Arbitrary<{ type: string } & Record<string, unknown>> = fc.oneof(
  fc.record({
    type: fc.constant('call-tool'),
    toolId: fc.constant('text'),
    args: fc.record({ q: template, list: fc.array(template, { maxLength: 2 }) }),
  }),
  fc.record({
    type: fc.constant('collect-inputs'),
    message: template,
    output: fc.constantFrom({ sum: { type: 'number' } }, { note: { type: 'string' }, tip: { type: 'string' } }),
  }),
  fc.record({
    type: fc.constant('request-user-action'),
    message: template,
    actions: fc.constant([{ id: 'ok', label: 'OK' }]),
  }),
  fc.record({ type: fc.constant('end-flow'), output: fc.record({ r: template }) }),
)

/** Any draft that can be saved: with loops, unconnected steps, several edges on an exit and any references. */
export const definitions: fc.Arbitrary<Definition> = fc
  .record({
    configs: fc.array(config, { maxLength: IDS.length }),
    edges: fc.array(fc.tuple(fc.nat(7), fc.nat(7), fc.constantFrom('next', 'next', 'next', 'odd')), { maxLength: 10 }),
    initial: fc.nat(7),
    cleanup: fc.option(fc.nat(7)),
    payload: fc.constantFrom<Definition['payload']>(
      {},
      { who: { type: 'string' } },
      { who: { type: 'any', required: false }, note: { type: 'file' } },
    ),
  })
  .map(({ configs, edges, initial, cleanup, payload }) => {
    const steps = configs.map((step, i) => ({ id: IDS[i], ...step }) as Step)
    const at = (i: number) => steps[i % Math.max(1, steps.length)]?.id ?? ''
    return {
      name: 'n',
      description: '',
      initialStep: steps.length === 0 ? null : at(initial),
      steps,
      edges: steps.length === 0 ? [] : edges.map(([from, to, exit]) => edge(at(from), at(to), exit)),
      payload,
      ...(cleanup === null || steps.length === 0 ? {} : { onCancel: at(cleanup) }),
    }
  })

function edge(from: string, to: string, exit: string): Edge {
  return exit === 'next' ? { from, to } : { from, to, on: exit }
}

/** Drafts as the editor makes them: at most one edge per exit, no loops. */
export const soundDefinitions: fc.Arbitrary<Definition> = definitions.map((definition) => {
  const rank = new Map(definition.steps.map((step, i) => [step.id, i]))
  const taken = new Set<string>()
  const edges = definition.edges.filter(({ from, to, on: odd }) => {
    const source = definition.steps[rank.get(from) ?? 0]
    if (odd !== undefined || taken.has(from) || (rank.get(from) ?? 0) >= (rank.get(to) ?? 0)) return false
    if (source?.type === 'end-flow') return false
    taken.add(from)
    return true
  })
  const { onCancel: _, ...rest } = definition
  return { ...rest, edges }
})
