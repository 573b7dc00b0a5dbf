import type { JsonValue } from '@/server/definition/json'

/** Longer values are hard to compare in one line. */
const IN_A_LINE = 24
const MAX = 120

/**
 * Both values of a change as display text: texts without quotes, unless only quotes distinguish them from a value of
 * another type.
 * @returns `long` if they belong above each other
 */
export function changeText(before: JsonValue | undefined, after: JsonValue | undefined) {
  const plain = [before, after].every((value) => isNothing(value) || typeof value === 'string')
  const text = (value: JsonValue | undefined) => {
    if (isNothing(value)) return 'nothing'
    const whole = plain ? String(value) : JSON.stringify(value)
    return whole.length <= MAX ? whole : `${whole.slice(0, MAX)}…`
  }
  const texts = { before: text(before), after: text(after) }
  return { ...texts, long: Math.max(texts.before.length, texts.after.length) > IN_A_LINE }
}

function isNothing(value: JsonValue | undefined): value is undefined | '' {
  return value === undefined || value === ''
}
