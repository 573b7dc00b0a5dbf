import type { JsonValue } from '@/server/definition/json'
import { parseExact } from '@/server/definition/long-numbers'

const isText = (type: string) => type === 'string' || type === 'file'

/** The typed text as a value of the type, or as text if it is not one. */
export function typedAs(text: string, type: string): JsonValue {
  if (isText(type)) return text
  try {
    return parseExact(text)
  } catch {
    return text
  }
}

/** A value as the text in its input. */
export function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function choicesText(choices: readonly JsonValue[] | undefined): string {
  return (choices ?? []).map(textOf).join(', ')
}

/** The choices as values of another type. */
export function choicesAs(choices: readonly JsonValue[], type: string): JsonValue[] {
  return choices.map((choice) => typedAs(textOf(choice), type))
}

/** Whether a text means these choices. A choice with a comma has no text that does. */
export function meansChoices(text: string, type: string, choices: readonly JsonValue[] | undefined): boolean {
  return JSON.stringify(readChoices(text, type) ?? []) === JSON.stringify(choices ?? [])
}

/** The values of a text such as `a, b, c`; undefined without any. */
export function readChoices(text: string, type: string): JsonValue[] | undefined {
  const choices = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => typedAs(part, type))
  return choices.length === 0 ? undefined : choices
}
