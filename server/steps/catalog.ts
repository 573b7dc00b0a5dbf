import { z } from 'zod'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import { CommonConfig } from '../definition/step-config'
import type { AnyStep } from './define-step'
import type { DefinedField, FieldHint, StepGroup } from './form'
import { stepTypes } from './registry'

/** One control of a step's form, in the order it is drawn. */
export type CatalogField = FieldHint & { name: string; required: boolean }

/** All the editor knows of a step type. */
export interface CatalogEntry {
  type: string
  title: string
  description: string
  /** A lucide icon's name. */
  icon: string
  group: StepGroup
  /** `end` ends the run; `pause` waits for a person. */
  mode: AnyStep['mode']
  /** Ways out, `next` first; none when the step ends the run. */
  exits: string[]
  form: CatalogField[]
  /** The names of the `common` fields that mean something for this type. */
  common: string[]
  /** JSON Schema of the configuration as it is written, with templates still in it. */
  schema: JsonObject
  /** What a new step of the type begins with. */
  sample: JsonObject
  /** What a step with the sample's configuration would put into run data; `open` when it may put more. */
  outputs: { fields: Record<string, DefinedField>; open: boolean }
}

export interface Catalog {
  steps: CatalogEntry[]
  /** Fields that every step may have, described once. */
  common: { form: CatalogField[]; schema: JsonObject }
}

const commonForm: { [K in Exclude<keyof CommonConfig, 'position'>]-?: FieldHint } = {
  name: { widget: 'text', label: 'Name', help: 'What people see; the id unless given.' },
  description: { widget: 'textarea', label: 'Description' },
  saveAs: {
    widget: 'text',
    label: 'Save as',
    help: 'The field of run data that takes the whole result.',
    advanced: true,
  },
  timeoutMs: { widget: 'duration', label: 'Time limit of one attempt', advanced: true },
  retry: { widget: 'retry', label: 'Retry', help: 'When a failure may pass by itself.', advanced: true },
}

const EFFECT_ONLY = ['timeoutMs', 'retry']

/** Every step type as JSON, so that the editor draws each of them without code of its own. */
export function getCatalog(ctx: ServiceContext): Catalog {
  authorize(ctx, 'workflow:read')
  return catalogOf(stepTypes())
}

/** Pure. */
export function catalogOf(types: readonly AnyStep[]): Catalog {
  const schema = schemaOf(CommonConfig.omit({ position: true }))
  return { steps: types.map(entryOf), common: { schema, form: formOf(commonForm, schema) } }
}

function entryOf(step: AnyStep): CatalogEntry {
  const { type, title, description, icon, group, mode, exits } = step
  const schema = schemaOf(step.config)
  return {
    type,
    title,
    description,
    icon,
    group,
    mode,
    exits: [...exits],
    form: formOf(step.form, schema),
    common: Object.keys(commonForm).filter((name) => appliesTo(name, mode)),
    schema,
    sample: step.sample,
    outputs: outputsOf(step),
  }
}

function appliesTo(common: string, mode: AnyStep['mode']): boolean {
  if (EFFECT_ONLY.includes(common)) return mode === 'effect'
  return common !== 'saveAs' || mode !== 'end'
}

function formOf(form: Record<string, FieldHint>, schema: JsonObject): CatalogField[] {
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(form).map(([name, hint]) => ({ ...hint, name, required: required.includes(name) }))
}

/**
 * What may be written, before defaults and transforms; refinements that JSON Schema cannot say are left to the check.
 * Copied, since zod's own object carries functions, which no answer may.
 */
function schemaOf(config: z.ZodType): JsonObject {
  return JSON.parse(JSON.stringify(z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' })))
}

function outputsOf(step: AnyStep): CatalogEntry['outputs'] {
  const parsed = step.config.safeParse(step.sample)
  if (!step.defines || !parsed.success) return { fields: {}, open: step.mode !== 'end' }
  const { fields, open } = step.defines(parsed.data, step.type)
  return { fields, open }
}
