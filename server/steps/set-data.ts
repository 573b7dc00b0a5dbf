import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import type { JsonValue } from '../definition/json'
import { FieldName } from '../definition/schema'
import { objectOf, type Property } from '../definition/types/type'
import { ExpressionText } from '../tools/expression'
import { defineStep } from './define-step'
import type { DefinedField } from './form'

/** Writes fields of the run data. */
export const setData = defineStep({
  type: 'set-data',
  title: 'Set data',
  description: 'Sets fields that later steps can use, to given values or to the results of expressions.',
  icon: 'pencil-line',
  group: 'data',
  mode: 'pure',
  config: z.object({
    values: z.record(FieldName, AnyJson).default({}).describe('The fields to set; may contain `${…}`.'),
    compute: z
      .record(FieldName, ExpressionText)
      .default({})
      .describe('The fields to set to the results of expressions.'),
  }),
  form: {
    values: {
      widget: 'key-value',
      declares: true,
      label: 'Values',
      help: 'Each field gets this value, with every ${…} filled in.',
    },
    compute: {
      widget: 'expressions',
      declares: true,
      label: 'Computed values',
      help: 'Each field gets the result of an expression, such as ${price} * ${quantity}.',
    },
  },
  sample: { values: {}, compute: {} },
  exits: ['next', 'error'],
  defines: ({ values, compute, saveAs }) => {
    const fields: Record<string, DefinedField> = {}
    for (const [name, value] of Object.entries(values)) fields[name] = { type: typeOf(value) }
    for (const name of Object.keys(compute)) fields[name] = { type: 'any' }
    const output = { type: 'object' as const, properties: fields }
    return { fields: saveAs ? { [saveAs]: output } : fields, open: false, output }
  },
  types: ({ config: { values, compute, saveAs }, template, expression }) => {
    const fields = new Map<string, Property>()
    for (const [name, value] of Object.entries(values)) fields.set(name, { type: template(value), always: true })
    for (const [name, text] of Object.entries(compute)) fields.set(name, { type: expression(text), always: true })
    const output = objectOf(fields, false)
    return { fields: saveAs ? new Map([[saveAs, { type: output, always: true }]]) : fields, output }
  },
  check: ({ values, compute }) => {
    if (Object.keys(values).length + Object.keys(compute).length === 0)
      return [{ field: 'values', message: 'must set at least one field' }]
    const both = Object.keys(compute).filter((name) => Object.hasOwn(values, name))
    return both.map((name) => ({ field: `compute.${name}`, message: 'is set among the values too' }))
  },
  compute({ config, evaluate }) {
    const computed = Object.entries(config.compute).map(([name, text]) => [name, evaluate(text)] as const)
    return { output: { ...config.values, ...Object.fromEntries(computed) } }
  },
})

function typeOf(value: JsonValue): DefinedField['type'] {
  if (typeof value === 'string') return value.includes('${') ? 'any' : 'string'
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value as 'number' | 'boolean'
  if (value === null) return 'any'
  return Array.isArray(value) ? 'array' : 'object'
}
