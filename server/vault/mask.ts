import { isJsonObject, type JsonLike } from '../definition/json'
import { isTooShort } from './schema'

export const MASK = '***'

/** Secrets set before the minimum length may be this short. Anything shorter looks like ordinary text. */
const MIN_MASKED_LENGTH = 4

/** Masks secrets wherever they appear in a tool's result. */
export interface Masker {
  text(text: string): string
  json<T extends JsonLike>(value: T): T
  /**
   * The length in characters of the longest form of a secret. A text cut this far beyond the shown part never cuts a
   * secret inside that part.
   */
  longest: number
}

/**
 * Makes a masker for values, in plain form and in the forms in which they may come back: base64 (also inside a longer
 * text, such as `Basic` credentials), hex, percent-encoded, and as in JSON or a header. Masks keys of objects too.
 */
export function maskerOf(values: Iterable<string>): Masker {
  const all = [...values]
  const forms = [...new Set(all.flatMap(formsOf))].filter((form) => form.length >= MIN_MASKED_LENGTH)
  // Longest first, so that a secret that contains another is masked completely.
  forms.sort((a, b) => b.length - a.length)
  // Masking turns a number into a text, and many numbers contain a few digits: `1234` must not turn 51234 into ***.
  const digits = all.map((value) => value.trim()).filter((value) => !isTooShort(value))
  const tells = (number: string) => digits.some((value) => number.includes(value))
  const finds = searchFor(forms)
  const text = (given: string) =>
    finds(given) ? forms.reduce((masked, form) => masked.replaceAll(form, MASK), given) : given
  const json = (value: JsonLike): JsonLike => {
    if (typeof value === 'string') return text(value)
    if (typeof value === 'number') return tells(String(value)) ? MASK : value
    if (Array.isArray(value)) return value.map(json)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), json(item)]))
  }
  return {
    text,
    longest: forms[0]?.length ?? 0,
    // Masking changes only texts, so the type stays the same.
    json: (value) => (forms.length === 0 ? value : (json(value) as typeof value)),
  }
}

/** Looks for any of these forms in one pass: most texts contain none. */
function searchFor(forms: readonly string[]): (text: string) => boolean {
  const byStart = new Map<string, string[]>()
  const slots = new Uint8Array(2 ** 16)
  for (const form of forms) {
    const start = form.slice(0, MIN_MASKED_LENGTH)
    byStart.set(start, [...(byStart.get(start) ?? []), form])
    slots[slotAt(form, 0)] = 1
  }
  return (text) => {
    if (forms.length === 0) return false
    for (let at = 0; at <= text.length - MIN_MASKED_LENGTH; at++) {
      if (slots[slotAt(text, at)] === 0) continue
      const found = byStart.get(text.slice(at, at + MIN_MASKED_LENGTH))
      if (found?.some((form) => text.startsWith(form, at))) return true
    }
    return false
  }
}

/** A number for the first characters of a form. */
function slotAt(text: string, at: number): number {
  let slot = 0
  for (let nth = 0; nth < MIN_MASKED_LENGTH; nth++) slot = (slot * 31 + text.charCodeAt(at + nth)) & 0xffff
  return slot
}

function formsOf(value: string): string[] {
  if (value.length < MIN_MASKED_LENGTH) return []
  const percent = encodeURIComponent(value)
  const json = JSON.stringify(value).slice(1, -1)
  return [
    value,
    value.trim(),
    ...base64Forms(Buffer.from(value)),
    Buffer.from(value).toString('hex'),
    Buffer.from(value).toString('hex').toUpperCase(),
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    // Strict encoders escape these too, and forms write a space as +.
    percent.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
    new URLSearchParams([['', value]]).toString().slice(1),
    json,
    JSON.stringify(json).slice(1, -1),
    json.replaceAll('/', '\\/'),
    asciiJson(value),
  ]
}

/**
 * The base64 text of a value, and for each of the three alignments the characters that do not depend on the surrounding
 * ones.
 */
function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64')
  const inner = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const start = Math.ceil((offset * 8) / 6)
    const end = Math.floor(((offset + bytes.length) * 8) / 6)
    return text.slice(start, end)
  })
  const standard = [whole, whole.replace(/=+$/, ''), ...inner.filter((part) => part.length >= MIN_BASE64_PART)]
  return standard.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')])
}

/** Shorter base64 fragments could appear in any text. */
const MIN_BASE64_PART = 6

function asciiJson(value: string): string {
  return JSON.stringify(value)
    .slice(1, -1)
    .replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
