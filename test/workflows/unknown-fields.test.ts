import { expect, test } from 'vitest'
import { fixOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/fixes'
import type { JsonObject } from '@/server/definition/json'
import { type Definition, Edge, Field, Step } from '@/server/definition/schema'
import { CommonConfig } from '@/server/definition/step-config'
import { unknownNames } from '@/server/definition/unknown-names'
import { plainSchema } from '@/server/openapi/schema'
import { stepSchemas } from '@/server/steps/openapi'
import { stepTypes } from '@/server/steps/registry'
import { checkDefinition } from '@/server/workflows/check/definition'
import { unknownFields } from '@/server/workflows/check/unknown-fields'
import { SAMPLE_WORKFLOWS } from '@/server/workflows/samples'
import { catalog } from '../editor/fix-drafts'

const draft = (parts: object): Definition =>
  ({ name: 'W', description: '', initialStep: null, steps: [], edges: [], payload: {}, ...parts }) as Definition
const step = (type: string, config: object) => draft({ steps: [{ id: 's', type, ...config }] })
const told = (definition: Definition) =>
  unknownFields(definition).map(({ field, suggestion = null }) => [field, suggestion])

const named = (schema: { properties?: object }, value: JsonObject = {}) =>
  Object.fromEntries(Object.keys(schema.properties ?? {}).map((name) => [name, value[name] ?? null]))

test('every field that the schemas document is known: of START and forms, of edges, and of each type of step', () => {
  const field = named(plainSchema(Field))
  expect(Object.keys(field)).toContain('label')
  expect(told(draft({ payload: { a: field } }))).toEqual([])
  expect(told(step('collect-inputs', { output: { a: field } }))).toEqual([])
  expect(told(draft({ edges: [named(plainSchema(Edge))] }))).toEqual([])
  const documented = stepSchemas(
    Object.fromEntries(
      stepTypes().map(({ type, config }) => [
        `${type.replace(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase())}Step`,
        plainSchema(config),
      ]),
    ),
  )
  const schemas = Object.values(documented)
  expect(schemas.length).toBe(stepTypes().length)
  for (const { type, sample } of stepTypes()) {
    const schema = schemas.find(({ properties }) => properties?.type?.const === type)
    const fields = { ...named(schema ?? {}, sample), ...named(plainSchema(CommonConfig)), ...named(plainSchema(Step)) }
    expect(Object.keys(fields).length, type).toBeGreaterThan(7)
    expect(told(draft({ steps: [{ ...fields, id: 's', type }] })), type).toEqual([])
  }
})

test('what the product itself writes is known: its samples, and the configuration of a new step', () => {
  for (const { definition } of SAMPLE_WORKFLOWS) expect(told(definition)).toEqual([])
  for (const { type, sample } of stepTypes()) expect(told(step(type, sample)), type).toEqual([])
})

test('a field that means nothing is told at any depth, with the nearest name that is still free', () => {
  expect(told(step('end-flow', { result: { a: 1 } }))).toEqual([['result', 'output']])
  expect(told(step('end-flow', { result: {}, output: {} }))).toEqual([['result', null]])
  expect(told(step('call-tool', { tool: 't', arguments: {} }))).toEqual([
    ['tool', 'toolId'],
    ['arguments', 'args'],
  ])
  expect(told(step('delay', { fro: 'PT1H', timeoutMS: 1, retry: { maxAttempt: 2 } }))).toEqual([
    ['fro', 'for'],
    ['timeoutMS', 'timeoutMs'],
    ['retry.maxAttempt', 'maxAttempts'],
  ])
  const asks = {
    actions: [{ id: 'a', lable: 'A' }],
    show: [{ label: 'B', value: { any: { thing: 1 } }, markdwn: true }],
  }
  expect(told(step('request-user-action', { ...asks, needs: { a: 2 } }))).toEqual([
    ['actions[0].lable', 'label'],
    ['show[0].markdwn', 'markdown'],
  ])
  expect(told(step('collect-inputs', { output: { a: { type: 'string', requird: false } } }))).toEqual([
    ['output.a.requird', 'required'],
  ])
  expect(
    told(draft({ payload: { a: { type: 'string', lable: 'A' } }, edges: [{ from: 'a', to: 'b', onn: 'x' }] })),
  ).toEqual([
    ['payload.a.lable', 'label'],
    ['edges[0].onn', 'on'],
  ])
})

test('a limit that cannot work is told where it stands, in START and in forms', () => {
  const a = { type: 'string', format: 'phone', minimum: 1, default: 'x' }
  const b = { type: 'number', minimum: 5, maximum: 1, default: 7 }
  const c = { type: 'integer', minimum: '1', maximum: { of: 'ours' } }
  const fine = { type: 'string', format: 'date', default: '${earlier}' }
  const messages = (definition: Definition) => unknownFields(definition).map(({ message }) => message)
  expect(messages(draft({ payload: { a, b, c, fine } }))).toEqual([
    'payload.a.format is unknown and has no effect. Known ones are date, email, long-text.',
    'payload.a.minimum has no effect, because only numbers have one.',
    'payload.b.maximum is less than the minimum, so no number is accepted.',
    'payload.b.default must be at most 1.',
    'payload.c.minimum is not a number and has no effect.',
    'payload.c.maximum is not a number and has no effect.',
  ])
  const due = { type: 'string', format: 'date', default: 'soon' }
  const actions = [{ id: 'no' }, { id: 'yes', fields: { due, fine } }]
  expect(told(step('collect-inputs', { output: { due } }))).toEqual([['output.due.default', null]])
  expect(told(step('request-user-action', { actions }))).toEqual([['actions[1].fields.due.default', null]])
})

test('values of a step may have any names, and a step of an unknown type any fields', () => {
  expect(told(step('set-data', { values: { a: { resutl: 1 } } }))).toEqual([])
  expect(told(step('end-flow', { output: { result: { output: 1 } } }))).toEqual([])
  expect(told(step('no-such-type', { result: 1 }))).toEqual([])
  expect(unknownNames(Field, 'text')).toEqual([])
})

test('no more than a hundred are told, whatever a definition has', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`own${n}`, 1]))
  const steps = Array.from({ length: 50 }, (_, n) => ({ id: `s${n}`, type: 'end-flow', ...many }))
  expect(unknownFields(draft({ steps }))).toHaveLength(100)
})

test('a check tells them once, as warnings, and each is mended where it stands', async () => {
  const broken = draft({
    initialStep: 's',
    payload: { a: { type: 'string', lable: 'A' } },
    steps: [{ id: 's', type: 'end-flow', result: { x: '${a}' }, ours: 1 }],
    edges: [],
  })
  const problems = (await checkDefinition({ tenantId: 'test' } as never, broken)).filter(
    ({ code }) => code === 'W_UNKNOWN_FIELD',
  )
  expect(problems.map(({ severity, message }) => [severity, message])).toEqual([
    ['warning', 'payload.a.lable is unknown and has no effect. Did you mean label?'],
    ['warning', 'result is unknown and has no effect. Did you mean output?'],
    ['warning', 'ours is unknown and has no effect: its name may be misspelt.'],
  ])
  const mended = problems.reduce((before, problem) => fixOf(before, catalog, problem)?.apply(before) ?? before, broken)
  expect(mended.payload).toEqual({ a: { type: 'string', label: 'A' } })
  expect(mended.steps).toEqual([{ id: 's', type: 'end-flow', output: { x: '${a}' } }])
  expect(told(mended)).toEqual([])
})
