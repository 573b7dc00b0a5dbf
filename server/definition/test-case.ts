import { cutText, isJsonObject, type JsonObject, type JsonValue, own, pathText } from './json'
import type { PauseAnswer } from './run'
import { HIDDEN, withoutFields } from './sensitive'

/** Where a value is inside a result. */
export type ValuePath = (string | number)[]

export type ExpectedField = { path: ValuePath; value: JsonValue }

/** The expectation of a test case for a tool's result or an agent's last answer. */
export type Expected =
  | { kind: 'succeeds' }
  /** With a code, only with that one. */
  | { kind: 'fails'; code?: string | undefined }
  | { kind: 'equals'; value: JsonValue }
  | { kind: 'fields'; fields: ExpectedField[] }
  /** Case-insensitive. */
  | { kind: 'contains'; text: string }

/** The arguments with which a test case calls a tool. */
export type ToolCase = { args: JsonObject; dataContext: JsonObject }

/** The messages that a test case sends to an agent, in order. */
export type AgentCase = { messages: { message: string; dataContext: JsonObject }[] }

/**
 * The outcome of a visit of a step: its output, what people or others answered, or why it failed. Cases of older releases
 * have no `type` and no `asked`, and answers as outputs.
 */
export type StepOutcome = {
  branch: string
  visit: number
  type?: string
  /** What the step did or asked: its configuration, filled in. */
  asked?: JsonObject
} & ({ output: JsonValue } | { answer: PauseAnswer } | { failed: { code: string; message: string } })

/** A run of a workflow: its input, and the outcomes of its steps that do work or ask people. */
export type WorkflowCase = {
  data: JsonObject
  steps: Record<string, StepOutcome[]>
  /** By fork: the keys of its branches in the order in which they ended. */
  arrivals?: Record<string, string[]>
  /** Fields that people changed by hand, before the visit where that took effect. */
  edits?: { before: { branch: string; stepId: string; visit: number }; data: JsonObject }[]
  /** The names of the fields that the run hid. */
  hidden?: string[]
}

/** The input of a test case. */
export type Given = ToolCase | AgentCase | WorkflowCase

/** The outcome of the tested tool, agent or workflow. */
export type Ended = { data: JsonValue } | { failed: { code: string; message: string } }

/** Where a result differs from the expected one, as texts for people. */
export type Difference = {
  /** Empty for the result as a whole. */
  path: string
  expected: string
  actual: string
}

/** More would not be read. */
const MAX_DIFFERENCES = 20
const MAX_CHARACTERS = 2_000

/**
 * Compares the outcome of a test case with its expectation.
 * @param mask is applied to whole texts, before they are cut: half a secret would not be recognised
 * @param hides the names of fields whose values are not shown
 * @returns nothing if it passed; the first differences otherwise
 */
export function differencesFrom(
  expected: Expected,
  ended: Ended,
  mask: (text: string) => string = (text) => text,
  hides: ReadonlySet<string> = new Set(),
): Difference[] {
  return wholeDifferences(expected, ended, hides).map(({ path, expected, actual }) => ({
    path: mask(path),
    expected: cut(mask(expected)),
    actual: cut(mask(actual)),
  }))
}

function wholeDifferences(expected: Expected, ended: Ended, hides: ReadonlySet<string>): Difference[] {
  if (expected.kind === 'fails') return asFailure(expected.code, ended, hides)
  if ('failed' in ended) {
    return [{ path: '', expected: 'succeeds', actual: `fails: ${ended.failed.code}, ${ended.failed.message}` }]
  }
  const { data } = ended
  const found: Difference[] = []
  if (expected.kind === 'equals') compare(expected.value, data, [], { found, hides })
  if (expected.kind === 'fields')
    for (const { path, value } of expected.fields) compare(value, valueAt(data, path), path, { found, hides })
  if (expected.kind === 'contains' && !valueText(data).toLowerCase().includes(expected.text.toLowerCase()))
    found.push({ path: '', expected: `contains “${expected.text}”`, actual: valueText(withoutFields(data, hides)) })
  return found.slice(0, MAX_DIFFERENCES)
}

function asFailure(code: string | undefined, ended: Ended, hides: ReadonlySet<string>): Difference[] {
  const wanted = code === undefined ? 'fails' : `fails with ${code}`
  if (!('failed' in ended))
    return [{ path: '', expected: wanted, actual: `succeeds: ${valueText(withoutFields(ended.data, hides))}` }]
  if (code === undefined || code === ended.failed.code) return []
  return [{ path: '', expected: wanted, actual: `fails: ${ended.failed.code}, ${ended.failed.message}` }]
}

/** The value at a path; undefined if none exists. */
export function valueAt(value: JsonValue, path: Readonly<ValuePath>): JsonValue | undefined {
  let at: JsonValue | undefined = value
  for (const key of path) {
    if (Array.isArray(at) && typeof key === 'number') at = at[key]
    else if (isJsonObject(at) && typeof key === 'string') at = own(at, key)
    else return undefined
  }
  return at
}

/** Adds the differences between two values, as deep inside them as possible. The order of names does not matter. */
function compare(
  expected: JsonValue | undefined,
  actual: JsonValue | undefined,
  path: ValuePath,
  into: { found: Difference[]; hides: ReadonlySet<string> },
) {
  const { found, hides } = into
  if (found.length >= MAX_DIFFERENCES) return
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const length = Math.max(expected.length, actual.length)
    for (let i = 0; i < length && found.length < MAX_DIFFERENCES; i++)
      compare(expected[i], actual[i], [...path, i], into)
  } else if (isJsonObject(expected) && isJsonObject(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)]))
      compare(own(expected, name), own(actual, name), [...path, name], into)
  } else if (expected !== actual) {
    const isHidden = path.some((key) => typeof key === 'string' && hides.has(key))
    const text = (value: JsonValue | undefined) => shown(isHidden && value !== undefined ? HIDDEN : value, hides)
    found.push({ path: pathText(path), expected: text(expected), actual: text(actual) })
  }
}

function shown(value: JsonValue | undefined, hides: ReadonlySet<string>): string {
  return value === undefined ? 'nothing' : JSON.stringify(withoutFields(value, hides))
}

function valueText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function cut(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${cutText(text, MAX_CHARACTERS)}…`
}
