import { isJsonObject, type JsonLike } from '../definition/json'
import { isTooShort } from './schema'

const MASK = '***'

/** The vault has older values than its rule for their length. Below this they could stand in any text. */
const MIN_MASKED_LENGTH = 4

/** Replaces secrets wherever they stand in what a tool gives back. */
export interface Masker {
  text(text: string): string
  json<T extends JsonLike>(value: T): T
  /** In characters, the longest text that stands for a secret: what is cut by that much later is never cut in one. */
  longest: number
}

/**
 * A masker for values: as they are, and the ways they come back in: base64 (also as a part of a longer text, such as
 * `Basic` credentials), hex, percent-encoded, and as JSON or a header writes them. Keys of objects are masked, too.
 */
export function maskerOf(values: Iterable<string>): Masker {
  const all = [...values]
  const forms = [...new Set(all.flatMap(formsOf))].filter((form) => form.length >= MIN_MASKED_LENGTH)
  // The longest first: of a secret that contains another nothing is left over.
  forms.sort((a, b) => b.length - a.length)
  // A number becomes a text where it is masked, and a few digits stand in many: `1234` must not turn 51234 into ***.
  const digits = all.map((value) => value.trim()).filter((value) => !isTooShort(value))
  const tells = (number: string) => digits.some((value) => number.includes(value))
  const text = (given: string) => forms.reduce((masked, form) => masked.replaceAll(form, MASK), given)
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
    // Of the same shape: only what stands in texts changes.
    json: (value) => (forms.length === 0 ? value : (json(value) as typeof value)),
  }
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
    // Strict encoders escape these as well, and forms write a space as +.
    percent.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
    new URLSearchParams([['', value]]).toString().slice(1),
    json,
    JSON.stringify(json).slice(1, -1),
    json.replaceAll('/', '\\/'),
    asciiJson(value),
  ]
}

/** As it is, and the characters that are the same whatever stands before and after, for each of the three alignments. */
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

/** Shorter parts of an encoded text could stand in any other. */
const MIN_BASE64_PART = 6

function asciiJson(value: string): string {
  return JSON.stringify(value)
    .slice(1, -1)
    .replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
