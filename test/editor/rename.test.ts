import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { START } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/definition'
import { referencesTo } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/references'
import {
  fieldsAt,
  renameField,
  renameFieldProblem,
  renameStep,
  renameStepProblem,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/model/rename'
import type { Definition } from '@/server/definition/schema'
import { checkGraph } from '@/server/workflows/check/graph'
import { rounds } from '../support/rounds'
import { catalog, soundDefinitions } from './graphs'

/** The problems publishing would report, with one name replaced by another, in any order. */
const problems = (definition: Definition, from: string, to: string) =>
  checkGraph(definition)
    .map(({ severity, code, stepId, field }) => [severity, code, stepId === from ? to : stepId, field?.split('.')[0]])
    .map((problem) => JSON.stringify(problem))
    .toSorted()

const order: Definition = {
  name: 'n',
  description: '',
  initialStep: 'ask',
  payload: { who: { type: 'string' } },
  steps: [
    { id: 'ask', type: 'collect-inputs', message: 'Dear ${who}, $${who}', output: { sum: { type: 'number' } } },
    {
      id: 'mail',
      type: 'call-tool',
      toolId: 't',
      args: { a: 'x ${ ask.sum } y ${sum ?? "${ask}"}', b: ['${ask[0]}', '${_}'] },
    },
    { id: 'end', type: 'end-flow', name: 'Not a reference: ${ask}' },
  ],
  edges: [
    { from: 'ask', to: 'mail' },
    { from: 'mail', to: 'end' },
  ],
  onCancel: 'mail',
}

describe('renameStep', () => {
  test('updates references, edges, first step and cleanup path, and leaves other text alone', () => {
    const { definition, references } = renameStep(order, catalog, 'ask', 'form')
    expect(references).toBe(2)
    expect(definition.initialStep).toBe('form')
    expect(definition.edges[0]).toEqual({ from: 'form', to: 'mail' })
    expect(definition.steps[1]?.args).toEqual({ a: 'x ${ form.sum } y ${sum ?? "${ask}"}', b: ['${form[0]}', '${_}'] })
    expect(definition.steps[2]?.name).toBe('Not a reference: ${ask}')
    expect(renameStep(order, catalog, 'mail', 'post').definition.onCancel).toBe('post')
  })

  test('writes an id that is not a plain name in brackets, and finds it there', () => {
    const odd = renameStep(order, catalog, 'ask', '7f3c-ü.2')
    expect(odd.references).toBe(2)
    expect(odd.definition.steps[1]?.args).toEqual({
      a: 'x ${ ["7f3c-ü.2"].sum } y ${sum ?? "${ask}"}',
      b: ['${["7f3c-ü.2"][0]}', '${_}'],
    })
    const field = renameField(odd.definition, catalog, { stepId: '7f3c-ü.2', key: 'output' }, 'sum', 'total')
    expect(field.definition.steps[1]?.args).toMatchObject({ a: 'x ${ ["7f3c-ü.2"].total } y ${total ?? "${ask}"}' })
    expect(renameStep(odd.definition, catalog, '7f3c-ü.2', 'ask').definition).toEqual(order)
    expect(renameStep(order, catalog, 'ask', '7f3c-u\u0308.2').definition).toEqual(odd.definition)
  })

  test('leaves scripts alone: in them, ${…} is JavaScript', () => {
    const script = { id: 'sum', type: 'run-script', code: 'return `${ask.length} ${who}`', args: { who: '${who}' } }
    const scripted = { ...order, steps: [...order.steps, script] }
    expect(renameStep(scripted, catalog, 'ask', 'form').definition.steps.at(-1)).toEqual(script)
    const { definition, references } = renameField(scripted, catalog, { stepId: START }, 'who', 'customer')
    expect(definition.steps.at(-1)).toEqual({ ...script, args: { who: '${customer}' } })
    expect(references).toBe(2)
    expect(referencesTo(scripted, 'ask').map(({ stepId }) => stepId)).not.toContain('sum')
  })

  test('explains why a name is refused', () => {
    const why = (to: string) => renameStepProblem(order, catalog, 'ask', to)
    expect(why('ask')).toBeNull()
    expect(why('form')).toBeNull()
    expect(why('mail')).toBe('Another step has the id mail.')
    expect(why('who')).toBe('${who} already means the field who.')
    expect(why('1 a')).toContain('Use only letters')
    expect(why('7f3c-.ü')).toBeNull()
    expect(why('__proto__')).toBe('__proto__ is a reserved name.')
    expect(renameStep(order, catalog, 'ask', 'mail').definition).toBe(order)
  })

  test('changes no problem of any graph, and renaming back restores the definition', () => {
    let rewritten = 0
    fc.assert(
      fc.property(soundDefinitions, fc.nat(7), (definition, i) => {
        fc.pre(definition.steps.length > 0)
        const from = definition.steps[i % definition.steps.length]?.id ?? ''
        const { definition: renamed, references } = renameStep(definition, catalog, from, 'brand_new')
        rewritten += references
        expect(problems(renamed, 'brand_new', from)).toEqual(problems(definition, 'brand_new', from))
        expect(renameStep(renamed, catalog, 'brand_new', from).definition).toEqual(definition)
      }),
      { numRuns: rounds(100, 1600) },
    )
    expect(rewritten).toBeGreaterThan(15)
  })
})

describe('renameField', () => {
  test('renames a START field and its references', () => {
    const { definition, references } = renameField(order, catalog, { stepId: START }, 'who', 'customer')
    expect(references).toBe(1)
    expect(definition.payload).toEqual({ customer: { type: 'string' } })
    expect(definition.steps[0]?.message).toBe('Dear ${customer}, $${who}')
  })

  test('renames a START field in the business key, also where a step has a field of that name', () => {
    const keyed = { ...order, businessKey: 'Order ${who} of ${ who } ${sum} $${who}' }
    const { definition, references } = renameField(keyed, catalog, { stepId: START }, 'who', 'customer')
    expect(definition.businessKey).toBe('Order ${customer} of ${ customer } ${sum} $${who}')
    expect(references).toBe(3)
    const both = { ...keyed, payload: { ...order.payload, sum: { type: 'number' as const } } }
    const shared = renameField(both, catalog, { stepId: START }, 'sum', 'total')
    expect(shared).toMatchObject({
      references: 1,
      definition: { businessKey: keyed.businessKey.replace('sum', 'total') },
    })
    const ofStep = renameField(both, catalog, { stepId: 'ask', key: 'output' }, 'sum', 'total')
    expect(ofStep.definition.businessKey).toBe(keyed.businessKey)
    expect(renameField(order, catalog, { stepId: START }, 'who', 'customer').definition).not.toHaveProperty(
      'businessKey',
    )
  })

  test('renames references to a step’s field, with or without the step', () => {
    const place = { stepId: 'ask', key: 'output' }
    const { definition, references } = renameField(order, catalog, place, 'sum', 'total')
    expect(references).toBe(2)
    expect(fieldsAt(definition, place)).toEqual({ total: { type: 'number' } })
    expect(definition.steps[1]?.args).toMatchObject({ a: 'x ${ ask.total } y ${total ?? "${ask}"}' })
  })

  test('leaves references that may mean another field of the same name', () => {
    const both = { ...order, payload: { ...order.payload, sum: { type: 'number' as const } } }
    const { definition, references } = renameField(both, catalog, { stepId: 'ask', key: 'output' }, 'sum', 'total')
    expect(references).toBe(1)
    expect(referencesTo(definition, 'sum')).toHaveLength(1)
    expect(renameField(both, catalog, { stepId: START }, 'sum', 'total').references).toBe(0)
  })

  test('keeps the order of fields, and refuses names in use', () => {
    const three = { ...order, payload: { a: { type: 'any' }, b: { type: 'any' }, c: { type: 'any' } } } as Definition
    expect(Object.keys(renameField(three, catalog, { stepId: START }, 'b', 'x').definition.payload)).toEqual([
      'a',
      'x',
      'c',
    ])
    expect(renameFieldProblem(three, { stepId: START }, 'b', 'c')).toBe('Another field is named c.')
    expect(renameFieldProblem(three, { stepId: START }, 'b', 'ask')).toBe('A step has the id ask.')
    expect(renameField(three, catalog, { stepId: START }, 'b', 'c').definition).toBe(three)
  })

  test('changes no problem of any graph', () => {
    fc.assert(
      fc.property(soundDefinitions, (definition) => {
        for (const field of Object.keys(definition.payload)) {
          const shared = definition.steps.some((step) => Object.hasOwn((step.output ?? {}) as object, field))
          if (shared) continue
          const { definition: renamed } = renameField(definition, catalog, { stepId: START }, field, 'brand_new')
          expect(problems(renamed, '', '')).toEqual(problems(definition, '', ''))
        }
      }),
      { numRuns: rounds(75, 1200) },
    )
  })
})

describe('a field of an action', () => {
  const fields = { why: { type: 'string' } }
  const decision = (more: object = {}): Definition => ({
    ...order,
    steps: [
      {
        ...{ id: 'ask', type: 'request-user-action', saveAs: 'verdict' },
        actions: [
          { id: 'no', label: 'No', fields },
          { id: 'later', label: 'Later', ...more },
        ],
      } as never,
      { id: 'mail', type: 'call-tool', toolId: 't', args: { a: '${ask.why} ${verdict.why} ${why ?? 1}' } },
    ],
  })
  const rename = (definition: Definition) =>
    renameField(definition, catalog, { stepId: 'ask', key: 'actions', action: 'no' }, 'why', 'reason')

  test('is renamed with its references, under both names of the decision', () => {
    const { definition, references } = rename(decision())
    expect(references).toBe(2)
    expect(definition.steps[0]?.actions).toMatchObject([{ fields: { reason: { type: 'string' } } }, { id: 'later' }])
    expect(definition.steps[1]?.args).toEqual({ a: '${ask.reason} ${verdict.reason} ${why ?? 1}' })
  })

  test('leaves references alone while another action has a field of that name', () => {
    const { definition, references } = rename(decision({ fields }))
    expect(references).toBe(0)
    expect(definition.steps[0]?.actions).toMatchObject([{ fields: { reason: {} } }, { fields: { why: {} } }])
  })
})
