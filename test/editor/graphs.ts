import fc from 'fast-check'
import { canConnect, connect } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/connect'
import { edgeAt } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/definition'
import { backEdges } from '@/server/definition/loops'
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
  fc.record({
    type: fc.constant('request-user-action'),
    actions: fc.constant([
      { id: 'yes', label: 'Yes' },
      { id: 'no', label: 'No' },
    ]),
  }),
  fc.record({ type: fc.constant('condition'), when: fc.constantFrom('${sum} > 1', 'true') }),
  fc.record({
    type: fc.constant('switch'),
    cases: fc.constant([
      { id: 'yes', label: 'Yes', when: '${who} == "a"' },
      { id: 'no', when: 'true' },
    ]),
  }),
  fc.record({ type: fc.constant('set-data'), values: fc.constant({ tip: 1 }), compute: fc.constant({}) }),
  fc.record({ type: fc.constant('delay'), for: fc.constant('PT1S') }),
  fc.record({ type: fc.constant('for-each'), items: fc.constant('${sum}') }),
  fc.record({ type: fc.constant('parallel'), branches: fc.constant([{ id: 'yes' }, { id: 'no', label: 'No' }]) }),
  fc.record({ type: fc.constant('end-flow'), output: fc.record({ r: template }) }),
  fc.record({ type: fc.constant('fail-flow'), code: fc.constant('NO') }),
)

/** Exits of the types above, and one that no step has. */
export const EXITS = ['next', 'next', 'next', 'true', 'false', 'yes', 'no', 'default', 'error', 'each', 'done', 'odd']

/** Any draft that can be saved: with loops, unconnected steps, several edges on an exit and any references. */
export const definitions: fc.Arbitrary<Definition> = fc
  .record({
    configs: fc.array(fc.tuple(config, fc.constantFrom(undefined, undefined, 3)), { maxLength: IDS.length }),
    edges: fc.array(fc.tuple(fc.nat(7), fc.nat(7), fc.constantFrom(...EXITS)), { maxLength: 14 }),
    initial: fc.nat(7),
    cleanup: fc.option(fc.nat(7)),
    payload: fc.constantFrom<Definition['payload']>(
      {},
      { who: { type: 'string' } },
      { who: { type: 'any', required: false }, note: { type: 'file' } },
    ),
  })
  .map(({ configs, edges, initial, cleanup, payload }) => {
    const steps = configs.map(
      ([step, maxVisits], i) => ({ id: IDS[i], ...step, ...(maxVisits === undefined ? {} : { maxVisits }) }) as Step,
    )
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

/** Drafts as the editor makes them: edges of existing exits, one for each, and loops that a run can leave. */
export const soundDefinitions: fc.Arbitrary<Definition> = definitions.map(({ onCancel: _, ...definition }) =>
  definition.edges.reduce<Definition>(
    (made, { from, to, on = 'next' }) =>
      edgeAt(made, from, on) || !canConnect(made, catalog, from, on, to).ok ? made : connect(made, from, on, to),
    { ...definition, edges: [] },
  ),
)

/** Sound drafts without loops. */
export const straightDefinitions: fc.Arbitrary<Definition> = soundDefinitions.map((definition) => {
  const back = backEdges(definition)
  return { ...definition, edges: definition.edges.filter((edge) => !back.has(edge)) }
})
