import { randomUUID } from 'node:crypto'
import { schemaOfFields } from '../definition/fields-schema'
import { isJsonObject, type JsonObject, type JsonValue } from '../definition/json'
import type { PauseSignal } from '../definition/run'
import { shownText } from '../definition/shown'

/** A pause's question in the protocol's form: a flat form of plain values. */
export interface Question {
  message: string
  requestedSchema: JsonObject
}

/** The form field with the chosen action. */
const ACTION = 'action'
const PLAIN = ['string', 'number', 'integer', 'boolean']

/**
 * The form for a pause. Null if the protocol cannot ask it: its forms have only plain values, and must not ask for
 * secrets.
 */
export function questionOf(pause: PauseSignal): Question | null {
  const card = (pause.show ?? []).map(({ label, value }) => `${label}: ${shownText(value)}`).join('\n')
  const message = [pause.title, pause.message, card].filter(Boolean).join('\n\n')
  if (pause.type === 'request_user_action') {
    const oneOf = pause.actions.map(({ id, label }) => ({ const: id, title: label }))
    const action = { type: 'string', title: 'Decision', oneOf }
    return {
      message: message || 'A decision is needed.',
      requestedSchema: { type: 'object', properties: { [ACTION]: action }, required: [ACTION] },
    }
  }
  if (Object.values(pause.fields).some(({ secret }) => secret)) return null
  const { properties, required } = schemaOfFields(pause.fields)
  const plain = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, schema]) => {
    const label = pause.fields[name]?.label
    const one = plainSchema(schema)
    return one
      ? [[name, { ...(typeof label === 'string' && label !== '' ? { title: label } : {}), ...one }] as const]
      : []
  })
  const names = new Set(plain.map(([name]) => name))
  const needed = Array.isArray(required) ? required : []
  if (needed.some((name) => !names.has(String(name))) || names.size === 0) return null
  return {
    message: message || 'Some values are needed.',
    requestedSchema: { type: 'object', properties: Object.fromEntries(plain), required: needed },
  }
}

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
  if (type === 'request_user_action') return { type, pauseId, actionId: content[ACTION] ?? null }
  return { type, pauseId, data: content }
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
