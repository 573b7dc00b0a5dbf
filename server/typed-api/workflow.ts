import { isRequired } from '../definition/fields'
import { isFileField, isFileList } from '../definition/file-fields'
import type { Definition, Fields } from '../definition/schema'
import { propertiesOf } from '../definition/types/of-fields'
import type { ValueType } from '../definition/types/type'
import { FILE_PART } from '../http/multipart-input'
import { ANY_OBJECT, schemaOfType } from '../openapi/of-type'
import type { Schema } from '../openapi/types'
import { MAX_COMMENT } from '../runs/schema'
import type { PauseForm } from '../steps/define-step'
import { findStepType } from '../steps/registry'
import { schemaOfFields } from './fields'
import { nameFrom } from './names'
import { type Blueprint, json, type Parts, ref } from './parts'
import type { Listed } from './read'

/** A published workflow and its known parts. */
export interface KnownWorkflow {
  /** Null if it was too large to read. */
  definition: Definition | null
  /** In the form that runs read. Includes the steps implied by `for-each` steps. */
  expanded: Definition | null
  /** Null if not inferred. */
  types: { data: ValueType; result: ValueType } | null
}

export interface WorkflowParts extends Parts {
  /** The names of the schemas of the run and of the answers to its pauses. */
  run: string
  answers: string[]
}

const MAX_DESCRIPTION = 1_000
const WAITS = 'Waits up to 50 seconds, or as long as `Prefer` says.'
const ASKS =
  'Note: the workflow asks people. While one of them has not answered, the response is 202 with `status: "paused"`.'

/** The operations and schemas of one workflow. */
export function workflowParts(
  blueprint: Blueprint,
  { id, name }: Listed,
  key: string,
  { definition, expanded, types }: KnownWorkflow,
): WorkflowParts {
  const { names } = blueprint
  const run = names.give(`${key}Run`)
  const input = names.give(`${key}Input`)
  const data = names.give(`${key}Data`)
  const result = names.give(`${key}Result`)
  const answers = expanded ? answersOf(expanded, key, names.give.bind(names)) : {}
  const schemas: Record<string, Schema> = {
    [input]: definition ? schemaOfFields(definition.payload) : ANY_OBJECT,
    ...answers,
    [data]: types && definition ? dataOf(definition.payload, types.data) : ANY_OBJECT,
    [result]: objectOf(types?.result ?? null),
    [run]: runOf(blueprint, { id, data, result }),
  }
  const about = (definition?.description ?? '').trim().slice(0, MAX_DESCRIPTION)
  const described = (text: string) => (about === '' ? text : `${about}\n\n${text}`)
  const hasFile = Object.values(definition?.payload ?? {}).some(isFileField)
  const form = definition && hasFile ? names.give(`${key}Form`) : null
  if (definition && form !== null) schemas[form] = formOf(definition.payload)
  const body = {
    required: schemas[input]?.required !== undefined,
    content: { ...json(ref(input)), ...(form === null ? {} : { 'multipart/form-data': { schema: ref(form) } }) },
  }
  const start = `/api/workflow/start/${id}`
  const startAsync = `/api/workflow/start-async/${id}`
  const paths: Parts['paths'] = {
    [start]: {
      post: blueprint.operation('/api/workflow/start/{workflowId}', 'post', {
        id: `start${key}`,
        path: start,
        summary: `Start “${name}” and wait for its end`,
        description: described(Object.keys(answers).length > 0 ? `${WAITS} ${ASKS}` : WAITS),
        body,
        answers: { 200: ref(run), 202: ref(run) },
      }),
    },
    [startAsync]: {
      post: blueprint.operation('/api/workflow/start-async/{workflowId}', 'post', {
        id: `start${key}Async`,
        path: startAsync,
        summary: `Start “${name}”`,
        description: described('Returns at once. By then the run is stored.'),
        body,
        answers: {},
      }),
    },
  }
  return { paths, schemas, run, answers: Object.keys(answers) }
}

const FILE: Schema = { type: 'string', format: 'binary' }

/**
 * A form has the file of a single field as `attachment`. Where there are more, or a list of them, each file is sent
 * under the name of its field.
 */
function formOf(payload: Fields): Schema {
  const ofFiles = Object.entries(payload).filter(([, field]) => isFileField(field))
  const others = Object.entries(payload).filter(([, field]) => !isFileField(field))
  const { properties = {}, required = [] } = schemaOfFields(Object.fromEntries(others))
  const [[, only] = []] = ofFiles
  if (ofFiles.length === 1 && only?.type === 'file') {
    const file = { ...FILE, description: 'The file, at most 3,932,160 bytes.' }
    return { type: 'object', properties: { [FILE_PART]: file, ...properties }, required: [FILE_PART, ...required] }
  }
  const files = ofFiles.map(
    ([name, field]) => [name, isFileList(field) ? { type: 'array', items: FILE } : FILE] as const,
  )
  const needed = ofFiles.filter(([, field]) => isRequired(field)).map(([name]) => name)
  return {
    type: 'object',
    properties: { ...Object.fromEntries(files), ...properties },
    required: [...needed, ...required],
  }
}

/** The possible answers to each step that asks people, by schema name. */
function answersOf({ steps }: Definition, key: string, nameOf: (wanted: string) => string): Record<string, Schema> {
  return Object.fromEntries(
    steps.flatMap((step) => {
      const type = findStepType(step.type)
      const config = type?.config.safeParse(step)
      if (type?.mode !== 'pause' || !type.answers || !config?.success) return []
      const form = type.answers(config.data)
      return [[nameOf(`${key}${nameFrom(step.id)}Answer`), answerOf(step.id, form)] as const]
    }),
  )
}

const TO_PAUSE: Record<string, Schema> = {
  pauseId: { type: 'string', description: 'Answer only this pause.' },
  answeredBy: { type: 'string', description: 'Whom an API key answers for.' },
}

function answerOf(stepId: string, form: PauseForm): Schema {
  const place: Record<string, Schema> = {
    type: { type: 'string', const: form.type },
    stepId: { type: 'string', const: stepId },
  }
  if (form.type === 'collect_inputs') {
    const properties = { ...place, data: schemaOfFields(form.fields), ...TO_PAUSE }
    return { type: 'object', properties, required: ['type', 'stepId', 'data'] }
  }
  const { actions, remark } = form
  const actionValue: Schema = { type: 'string', description: 'The value of the choice; the action’s id by default.' }
  const said: Schema = { type: 'string', maxLength: MAX_COMMENT, description: 'The reason, in the person’s words.' }
  const needed = ['type', 'stepId', 'actionId', ...(remark === 'required' ? ['remark'] : [])]
  const choosing = (ids: readonly string[], fields: Fields | undefined): Schema => {
    const actionId: Schema = ids.some((id) => id.includes('${'))
      ? { type: 'string' }
      : { type: 'string', enum: [...new Set(ids)] }
    const data = fields ? schemaOfFields(fields) : null
    return {
      type: 'object',
      properties: { ...place, actionId, actionValue, ...(data ? { data } : {}), remark: said, ...TO_PAUSE },
      required: [...needed, ...(data?.required ? ['data'] : [])],
    }
  }
  const plain = actions.filter(({ fields }) => !fields).map(({ id }) => id)
  const choices = [
    ...(plain.length > 0 ? [choosing(plain, undefined)] : []),
    ...actions.flatMap(({ id, fields }) => (fields ? [choosing([id], fields)] : [])),
  ]
  return choices.length === 1 && choices[0] ? choices[0] : { anyOf: choices }
}

/** A run starts with its workflow's START fields, and they stay in its data. */
function dataOf(payload: Fields, type: ValueType): Schema {
  const schema = schemaOfType(type)
  const always = [...propertiesOf(payload)].flatMap(([name, { always }]) => (always ? [name] : []))
  const required = always.filter((name) => schema.properties && Object.hasOwn(schema.properties, name))
  if (!schema.properties) return ANY_OBJECT
  return required.length > 0 ? { ...schema, required } : schema
}

/** The result of a run is an object. */
function objectOf(type: ValueType | null): Schema {
  const schema = type === null ? ANY_OBJECT : schemaOfType(type)
  return schema.type === 'object' ? schema : ANY_OBJECT
}

function runOf(blueprint: Blueprint, { id, data, result }: { id: string; data: string; result: string }): Schema {
  const { properties, required } = blueprint.fieldsOfRun()
  return {
    type: 'object',
    properties: {
      ...properties,
      workflowId: { type: 'string', const: id },
      data: ref(data),
      result: { anyOf: [ref(result), { type: 'null' }], description: 'Null until the run completes.' },
    },
    required,
  }
}
