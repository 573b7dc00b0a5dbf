import { processWide } from '@/db/process-wide'
import { beginsBranch, type ExitSpec, fixedExits, isFork } from '../definition/exits'
import { type JsonObject, toStorableJson } from '../definition/json'
import { CommonConfig } from '../definition/step-config'
import { plainSchema } from '../openapi/schema'
import type { Schema } from '../openapi/types'
import type { AnyStep } from '../steps/define-step'
import { stepSchemaName } from '../steps/openapi'
import { stepTypes } from '../steps/registry'
import { CreateWorkflow } from './schema'

const ANY_STEP = 'AnyStep'

/**
 * The JSON Schema of a definition with the fields of each step type, for models: generated from the schemas that create
 * and publish parse with.
 */
export function definitionSchema(): JsonObject {
  return processWide('workflows.definitionSchema', () => toStorableJson({ ...makeSchema() }))
}

function makeSchema(): Schema & { $defs: Record<string, Schema> } {
  const { properties = {}, ...whole } = plainSchema(CreateWorkflow)
  const types = stepTypes()
  const refer = (name: string) => ({ $ref: `#/$defs/${name}` })
  const items = { allOf: [refer(ANY_STEP), { anyOf: types.map(({ type }) => refer(stepSchemaName(type))) }] }
  const common = plainSchema(CommonConfig.omit({ position: true }))
  return {
    ...whole,
    properties: { ...properties, steps: { ...properties.steps, items } as Schema },
    $defs: {
      [ANY_STEP]: {
        ...common,
        properties: {
          id: { type: 'string', description: 'Unique in the workflow, such as `check_amount`.' },
          type: { type: 'string' },
          ...common.properties,
        },
        required: ['id', 'type'],
      },
      ...Object.fromEntries(types.map((type) => [stepSchemaName(type.type), schemaOfType(type)])),
    },
  }
}

function schemaOfType({ type, title, description, exits, config }: AnyStep): Schema {
  const { properties, required = [] } = plainSchema(config)
  return {
    type: 'object',
    description: `${title}: ${description} ${exitsText(exits)}`,
    properties: { type: { const: type }, ...properties },
    required: ['type', ...required],
  }
}

function exitsText(spec: ExitSpec): string {
  const fixed = fixedExits(spec)
  if (!('from' in spec)) {
    if (fixed.length === 0) return 'Ends the run: no edge leaves it.'
    const branches = fixed.filter((id) => beginsBranch(spec, id))
    return `Exits: ${fixed.join(', ')}.${branches.length > 0 ? ` A branch begins at ${branches.join(', ')}.` : ''}`
  }
  const begins = isFork(spec) ? ', where its branches begin' : ''
  const falls = spec.optional ? ' (one without an edge takes next)' : ''
  return `Exits: the \`${spec.id}\` of each of its ${spec.from}${begins}${falls}; ${fixed.join(', ')}.`
}
