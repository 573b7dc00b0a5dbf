import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type CatalogEntry, catalogOf } from '@/server/steps/catalog'
import { defineStep } from '@/server/steps/define-step'
import { steps, stepTypes } from '@/server/steps/registry'

beforeAll(() => {
  process.env.MILLRACE_TEST_STEPS = '1'
})

const find = (type: string): CatalogEntry | undefined => catalogOf(stepTypes()).steps.find((step) => step.type === type)

describe('the step catalog', () => {
  test('is JSON: the browser gets the same as the server', () => {
    const catalog = catalogOf(stepTypes())
    expect(JSON.parse(JSON.stringify(catalog))).toEqual(catalog)
    expect(catalog.steps.length).toBeGreaterThanOrEqual(5)
  })

  test('has a form with exactly the fields of each configuration', () => {
    for (const step of catalogOf(stepTypes()).steps) {
      const declared = Object.keys((step.schema.properties ?? {}) as object)
      expect(step.form.map(({ name }) => name).toSorted(), step.type).toEqual(declared.toSorted())
      expect(step.description, step.type).toMatch(/^[A-Z].*\.$/)
    }
  })

  test('leaves the descriptions of fields to the OpenAPI document', () => {
    const { steps, common } = catalogOf(stepTypes())
    expect(JSON.stringify([common.schema, ...steps.map(({ schema }) => schema)])).not.toContain('"description":"')
  })

  test('has samples that match their schemas, except for a person’s choices', () => {
    const ajv = new Ajv2020({ strict: false })
    for (const { type, schema, sample } of catalogOf(stepTypes()).steps) {
      const check = ajv.compile(schema)
      check(sample)
      expect(
        (check.errors ?? []).filter(({ keyword }) => keyword !== 'minLength'),
        type,
      ).toEqual([])
    }
  })

  test('shows a newly registered type with its form, without any editor code', () => {
    expect(find('test-effect')).toMatchObject({
      title: 'Test effect',
      mode: 'effect',
      exits: ['next', 'error'],
      form: [
        { name: 'url', widget: 'template', required: false },
        { name: 'body', widget: 'json', required: false },
      ],
      sample: { body: {} },
    })
  })

  test('shows the required fields, the common ones that apply, and the step’s output', () => {
    expect(find('call-tool')?.form.find(({ name }) => name === 'toolId')).toMatchObject({ required: true })
    expect(find('call-tool')?.common).toContain('retry')
    expect(find('collect-inputs')?.common).not.toContain('retry')
    expect(find('end-flow')).toMatchObject({ exits: [], common: ['name', 'description'] })
    expect(find('collect-inputs')?.outputs).toEqual({ fields: { answer: { type: 'string' } }, open: false })
    expect(find('call-tool')?.outputs.open).toBe(true)
  })

  test('docs/definitions.md lists the exits of every step type', () => {
    const [, table = ''] =
      /^\| step \| exits \|\n((?:\|.*\n)+)/m.exec(readFileSync('docs/definitions.md', 'utf8')) ?? []
    const quoted = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '')
    const listed = table.split('\n').flatMap((row) => {
      const [, types, exits] = row.split('|')
      return quoted(types).map((type) => [type, quoted(exits)] as const)
    })
    expect(listed.map(([type]) => type).toSorted()).toEqual(Object.keys(steps).toSorted())
    for (const [type, exits] of listed) {
      const spec = find(type)?.exits ?? []
      const own = 'plus' in spec ? spec.plus : spec
      expect(exits.slice(0, 'plus' in spec ? own.length : undefined), type).toEqual(own)
    }
  })

  test('a hint for a missing field does not compile, and neither does a field without a hint', () => {
    const base = {
      type: 'x',
      title: 'X',
      description: 'X.',
      icon: 'box',
      group: 'work' as const,
      mode: 'pure' as const,
      exits: ['next', 'error'],
      sample: {},
      compute: () => ({ output: null }),
    }
    const config = z.object({ real: z.string().optional() })
    const known = defineStep({ ...base, config, form: { real: { widget: 'text', label: 'Real' } } })
    // @ts-expect-error the configuration has no such field
    defineStep({ ...base, config, form: { real: known.form.real, made: { widget: 'text', label: 'Made up' } } })
    // @ts-expect-error the field has no hint
    defineStep({ ...base, config, form: {} })
    // @ts-expect-error a version of a field that is not there
    defineStep({ ...base, config, form: { real: { widget: 'version', label: 'V', of: 'gone', resource: 'tool' } } })
    expect(Object.keys(known.form)).toEqual(['real'])
  })
})
