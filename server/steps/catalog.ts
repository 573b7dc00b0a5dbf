import { z } from 'zod'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { ExitSpec } from '../definition/exits'
import type { JsonObject } from '../definition/json'
import { CommonConfig } from '../definition/step-config'
import type { AnyStep } from './define-step'
import type { DefinedField, FieldHint, StepGroup } from './form'
import { stepTypes } from './registry'

/** One control of a step's form, in display order. */
export type CatalogField = FieldHint & { name: string; required: boolean }

/** The description of a step type for the editor. */
export interface CatalogEntry {
  type: string
  title: string
  description: string
  /** A lucide icon's name. */
  icon: string
  group: StepGroup
  /** `end` and `fail` end the run; `pause` waits for a person. */
  mode: AnyStep['mode']
  /** The exits, or the list in the configuration that defines them; empty when the step ends the run. */
  exits: ExitSpec
  form: CatalogField[]
  /** The `common` fields that apply to this type. */
  common: string[]
  /** JSON Schema of the configuration as written, before templates are resolved. */
  schema: JsonObject
  /** The configuration of a new step of this type. */
  sample: JsonObject
  /** The fields that a step with the sample configuration adds to run data; `open` when it may add more. */
  outputs: { fields: Record<string, DefinedField>; open: boolean }
}

export interface Catalog {
  steps: CatalogEntry[]
  /** Fields every step may have, described once. */
  common: { form: CatalogField[]; schema: JsonObject }
}

const commonForm: { [K in Exclude<keyof CommonConfig, 'position'>]-?: FieldHint } = {
  name: { widget: 'text', label: 'Name', help: 'The name people see; the id by default.' },
  description: { widget: 'textarea', label: 'Description' },
  saveAs: {
    widget: 'save-as',
    label: 'Save as',
    help: 'The name under which later steps find the whole result.',
    advanced: true,
  },
  timeoutMs: { widget: 'duration', label: 'Time limit of one attempt', advanced: true },
  maxVisits: {
    widget: 'number',
    label: 'Maximum visits',
    help: 'How often a run may come to this step. Every loop needs a step with such a limit.',
    advanced: true,
  },
  retry: { widget: 'retry', label: 'Retry', help: 'For failures that may be temporary.', advanced: true },
}

const EFFECT_ONLY = ['timeoutMs', 'retry']

/** Every step type as JSON, so the editor can draw each of them without code for it. */
export function getCatalog(ctx: ServiceContext): Catalog {
  authorize(ctx, 'workflow:read')
  return catalogOf(stepTypes())
}

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
    exits,
    form: formOf(step.form, schema),
    common: Object.keys(commonForm).filter((name) => appliesTo(name, mode)),
    schema,
    sample: step.sample,
    outputs: outputsOf(step),
  }
}

function appliesTo(common: string, mode: AnyStep['mode']): boolean {
  if (EFFECT_ONLY.includes(common)) return mode === 'effect'
  return (common !== 'saveAs' && common !== 'maxVisits') || (mode !== 'end' && mode !== 'fail')
}

function formOf(form: Record<string, FieldHint>, schema: JsonObject): CatalogField[] {
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(form).map(([name, hint]) => ({ ...hint, name, required: required.includes(name) }))
}

/**
 * The configuration as callers may write it, before defaults and transforms. Refinements that JSON Schema cannot
 * express are left to the check. Copied, because zod's own object contains functions, which cannot be sent.
 * Descriptions are removed: the editor would load but not show them, because its forms have texts of their own.
 */
function schemaOf(config: z.ZodType): JsonObject {
  const override = ({ jsonSchema }: { jsonSchema: { description?: string } }) => {
    delete jsonSchema.description
  }
  return JSON.parse(JSON.stringify(z.toJSONSchema(config, { io: 'input', unrepresentable: 'any', override })))
}

function outputsOf(step: AnyStep): CatalogEntry['outputs'] {
  const parsed = step.config.safeParse(step.sample)
  if (!step.defines || !parsed.success) return { fields: {}, open: step.mode !== 'end' }
  const { fields, open } = step.defines(parsed.data, step.type)
  return { fields, open }
}
