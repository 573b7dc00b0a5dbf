import { type Token, tokens } from '@/server/definition/expression/tokens'
import { type JsonObject, type JsonValue, own } from '@/server/definition/json'
import type { Definition, Step } from '@/server/definition/schema'
import { TemplateSyntaxError } from '@/server/definition/template'
import type { Problem } from '@/server/workflows/check/problem'
import { numberOrText } from '../../../_arguments/values'
import type { Fix } from './fix'
import { changeAt, inText, placeOf, valueAt } from './place'
import { namingFix } from './unknown-fixes'

const WANTED = /must be (number|integer|string|boolean)/

/** Gives a rejected argument the near name or the same value as another type, or removes it. */
export function argumentFix(
  stepId: string,
  step: JsonObject,
  { field = '', fault, suggestion, message }: Problem,
): Fix | null {
  const path = placeOf(step, field)
  const name = path?.at(-1)
  if (path === null || name === undefined || path.length < 2) return null
  const value = valueAt(step, path)
  if (value === undefined) return null
  if (fault === 'unknown' && typeof name === 'string') {
    const parent = path.slice(0, -1)
    const naming = namingFix(name, suggestion, valueAt(step, parent))
    return naming && { label: naming.label, apply: (before) => changeAt(before, stepId, parent, naming.rename) }
  }
  if (fault !== 'wrong' || typeof value === 'object') return null
  const wanted = WANTED.exec(message)?.[1]
  const text = String(value).trim()
  const converted =
    wanted === 'string'
      ? text
      : wanted === 'boolean' && (text === 'true' || text === 'false')
        ? text === 'true'
        : wanted === 'number' || wanted === 'integer'
          ? numberOrText(text)
          : null
  if (converted === null || converted === value) return null
  if (wanted === 'number' && typeof converted !== 'number') return null
  if (wanted === 'integer' && !Number.isInteger(converted)) return null
  return { label: `Make ${name} a ${wanted}`, apply: (before) => changeAt(before, stepId, path, () => converted) }
}

/**
 * Replaces a literal of the wrong type with the START field of its argument's name, if that field is always present and
 * has the type.
 */
export function startFieldFix(
  { payload }: Definition,
  step: Step,
  { field = '', fault, message }: Problem,
): Fix | null {
  const path = placeOf(step, field)
  const name = path?.at(-1)
  const wanted = WANTED.exec(message)?.[1]
  if (path === null || typeof name !== 'string' || fault !== 'wrong' || wanted === undefined) return null
  const value = valueAt(step, path)
  const given = own(payload, name)
  if (typeof value === 'object' || value === undefined || String(value).includes('${')) return null
  if (given?.type !== wanted && !(wanted === 'number' && given?.type === 'integer')) return null
  if (given?.required === false && given.default === undefined) return null
  return { label: `Use \${${name}}`, apply: (before) => changeAt(before, step.id, path, () => `\${${name}}`) }
}

/** Replaces a literal of the wrong type with the value it spells: a list written as text, or a number in quotes. */
export function literalFix(stepId: string, step: JsonObject, { field = '', message }: Problem): Fix | null {
  const path = placeOf(step, field)
  const text = path === null ? undefined : valueAt(step, path)
  if (path === null || typeof text !== 'string') return null
  if (message === 'It must be a list, not a string.') {
    const list = listIn(text)
    return list && { label: `Make ${field} a list`, apply: (before) => changeAt(before, stepId, path, () => list) }
  }
  const operator = /^"(.+)" takes two numbers\b.*, not (a number and a string|a string and a number)\.$/.exec(message)
  // `+` may also join texts.
  if (operator?.[1] === undefined || operator[1] === '+') return null
  const quoted = quotedNumbers(text, operator[1], operator[2] === 'a number and a string')
  const [only] = quoted
  if (!only || quoted.length > 1) return null
  return inText(`Make ${only.text} a number`, stepId, field, (now) =>
    now === text ? text.slice(0, only.at) + only.number + text.slice(only.at + only.text.length) : now,
  )
}

function listIn(text: string): JsonValue[] | null {
  // A long number would lose digits.
  if (/\d{16}/.test(text)) return null
  try {
    const value: JsonValue = JSON.parse(text)
    return Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** The delimiters of an operand, regardless of the operator beside it. */
const AROUND = ['(', ')', '[', ']', ',', '?', ':', '&&', '||']

/** The quoted numbers that alone form the right, or the left, operand of an operator. */
function quotedNumbers(expression: string, operator: string, isRight: boolean) {
  const found = tokensOf(expression)
  return found.flatMap((token, at) => {
    const [beside, beyond] = isRight ? [found[at - 1], found[at + 1]] : [found[at + 1], found[at - 1]]
    if (beside?.kind !== 'operator' || beside.text !== operator) return []
    if (beyond && !AROUND.includes(beyond.text)) return []
    const number = token.kind === 'value' && typeof token.value === 'string' ? numberOrText(token.value.trim()) : null
    return typeof number === 'number' ? [{ at: token.at, text: token.text, number }] : []
  })
}

function tokensOf(expression: string): Token[] {
  try {
    return tokens(expression)
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return []
    throw error
  }
}
