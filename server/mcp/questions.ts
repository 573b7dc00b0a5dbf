import { randomUUID } from 'node:crypto'
import { schemaOfFields } from '../definition/fields-schema'
import { isJsonObject, type JsonObject, type JsonValue } from '../definition/json'
import type { PauseSignal } from '../definition/run'
import type { Fields } from '../definition/schema'
import { shownText } from '../definition/shown'

/** A pause's question in the protocol's form: a flat form of plain values. */
export interface Question {
  message: string
  requestedSchema: JsonObject
}

/** The form field with the chosen action. */
const ACTION = 'action'
const REMARK = 'remark'
const PLAIN = ['string', 'number', 'integer', 'boolean']

/**
 * The form for a pause. Null if the protocol cannot ask it: its forms have only plain values, and must not ask for
 * secrets.
 */
export function questionOf(pause: PauseSignal): Question | null {
  const card = (pause.show ?? []).map(({ label, value }) => `${label}: ${shownText(value)}`).join('\n')
  const message = [pause.title, pause.message, card].filter(Boolean).join('\n\n')
  const form = pause.type === 'request_user_action' ? decisionForm(pause) : plainForm(pause.fields)
  if (!form || Object.keys(form.properties).length === 0) return null
  const otherwise = pause.type === 'request_user_action' ? 'A decision is needed.' : 'Some values are needed.'
  return { message: message || otherwise, requestedSchema: { type: 'object', ...form } }
}

interface PlainForm {
  properties: JsonObject
  required: JsonValue[]
}

/** Null if a field is secret, or one that is needed is not a plain value. */
function plainForm(fields: Fields): PlainForm | null {
  if (Object.values(fields).some(({ secret }) => secret)) return null
  const { properties, required } = schemaOfFields(fields)
  const plain = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, schema]) => {
    const label = fields[name]?.label
    const one = plainSchema(schema)
    return one
      ? [[name, { ...(typeof label === 'string' && label !== '' ? { title: label } : {}), ...one }] as const]
      : []
  })
  const names = new Set(plain.map(([name]) => name))
  const needed = Array.isArray(required) ? required : []
  return needed.some((name) => !names.has(String(name)))
    ? null
    : { properties: Object.fromEntries(plain), required: needed }
}

/**
 * The choice, then the fields of each action under its id: the protocol cannot ask for them only once it is chosen, so
 * none is required here.
 */
function decisionForm({ actions, remark }: Extract<PauseSignal, { type: 'request_user_action' }>): PlainForm | null {
  const oneOf = actions.map(({ id, label }) => ({ const: id, title: label }))
  const properties: JsonObject = { [ACTION]: { type: 'string', title: 'Decision', oneOf } }
  for (const { id, label, fields = {} } of actions) {
    const form = plainForm(fields)
    if (!form) return null
    for (const [name, schema] of Object.entries(form.properties)) {
      const { title = name, default: _unasked, ...rest } = isJsonObject(schema) ? schema : {}
      properties[keyOf(id, name)] = { ...rest, title: `${label}: ${title}` }
    }
  }
  if (remark) properties[REMARK] = { type: 'string', title: 'Remark' }
  return { properties, required: [ACTION, ...(remark === 'required' ? [REMARK] : [])] }
}

/** An action's id may have points too, but a field's name has none. */
const keyOf = (actionId: string, name: string) => `${actionId}.${name}`

function plainSchema(schema: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(schema) || !PLAIN.includes(String(schema.type))) return null
  const { enum: options, default: preset, ...rest } = schema
  if (options !== undefined && !(Array.isArray(options) && options.every((one) => typeof one === 'string'))) return null
  const fits = typeof preset === (schema.type === 'integer' ? 'number' : schema.type)
  return {
    ...rest,
    ...(options ? { enum: options } : {}),
    ...(fits && preset !== undefined ? { default: preset } : {}),
  }
}

/** The filled-in form as the body of an answer. */
export function answerTo(type: string, pauseId: string, content: JsonObject): JsonObject {
  if (type !== 'request_user_action') return { type, pauseId, data: content }
  const { [ACTION]: actionId = null, [REMARK]: remark, ...rest } = content
  // A client may send what was left empty.
  const filled = Object.entries(rest).flatMap(([key, value]) => {
    const at = key.lastIndexOf('.')
    return key.slice(0, at) === actionId && value !== '' ? [[key.slice(at + 1), value] as const] : []
  })
  return { type, pauseId, actionId, data: Object.fromEntries(filled), ...(remark === undefined ? {} : { remark }) }
}

/** Identifies a question. It contains everything needed, so any process can take the answer and nothing is stored. */
export function questionId(type: PauseSignal['type'], runId: string, pauseId: string): string {
  return `ask/${randomUUID()}/${type}/${runId}/${pauseId}`
}

export function readQuestionId(id: unknown): { type: string; runId: string; pauseId: string } | null {
  const [, type = '', runId = '', pauseId = ''] =
    /^ask\/[\w-]{36}\/(collect_inputs|request_user_action)\/(\w{1,80})\/(.+)$/s.exec(String(id)) ?? []
  return pauseId === '' ? null : { type, runId, pauseId }
}
