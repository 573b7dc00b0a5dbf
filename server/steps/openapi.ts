import { CommonConfig } from '../definition/step-config'
import { describeFields, plainSchema } from '../openapi/schema'
import type { Schema, Texts } from '../openapi/types'
import { steps } from './registry'

/** What the fields of the language mean, by schema and field. */
export const STEP_TEXTS: Texts = {
  Field: {
    type: 'What a value must be. `file` is the reference of a stored file.',
    description: 'Text for people.',
    required: 'True unless it says false or there is a default.',
    default: 'Taken when no value is sent.',
    options: 'The only values allowed.',
  },
  Step: {
    id: 'Unique within the workflow. Letters, digits, `_` and `-`.',
    type: 'Such as `call-tool`. Each type has fields of its own: see the schemas whose names end in `Step`.',
  },
  Edge: { from: 'The id of a step.', to: 'The id of the step that follows.' },
  CollectInputsStep: {
    output: 'The fields to ask for, by name. What is given is merged into the run’s data.',
    title: 'Shown to the person who is asked.',
    message: 'Shown to the person who is asked.',
    skipWhenPresent: 'Go on without asking when the run’s data has every field already.',
  },
  RequestUserActionStep: {
    title: 'Shown to the person who is asked.',
    message: 'Shown to the person who is asked.',
    actions: 'What may be chosen.',
  },
  CallToolStep: {
    toolId: 'The tool to call.',
    args: 'Its arguments; may hold expressions.',
    version: '`latest` (unless given), `published` or a number.',
  },
  EndFlowStep: { output: 'The result of the run; its whole data unless given.' },
}

/** What every step may say, whatever its type. */
const COMMON_STEP_TEXTS: Record<string, string> = {
  name: 'The name that history shows.',
  description: 'Text for people.',
  position: 'Where the editor draws it.',
  saveAs: 'The name under which the output is put into the run’s data, in place of field by field.',
  timeoutMs: 'How long one attempt may take. In milliseconds.',
  retry: 'How a step that may pass by itself is tried again.',
}

/** One schema for each type of step. A draft may say anything; publish and start hold its steps to these. */
export function stepSchemas(): [string, Schema][] {
  return Object.values(steps).map(({ type, title, config }) => {
    const own = plainSchema(config)
    const common = plainSchema(CommonConfig)
    const description = `The step type \`${type}\`: ${title.toLowerCase()}. A draft may hold less; publish and start check this.`
    const properties: Record<string, Schema> = {
      id: { type: 'string', description: 'Unique within the workflow.' },
      type: { const: type },
      ...own.properties,
      ...common.properties,
    }
    const required = ['id', 'type', ...(own.required ?? [])]
    const schema: Schema = { type: 'object', description, properties, required }
    describeFields(schema, COMMON_STEP_TEXTS)
    return [stepSchemaName(type), schema]
  })
}

/** `call-tool` is `CallToolStep`. */
export function stepSchemaName(type: string): string {
  return `${type.replace(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase())}Step`
}
