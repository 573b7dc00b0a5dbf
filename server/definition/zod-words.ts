import { z } from 'zod'
import { cutText } from './json'
import { nearestName } from './nearest'

type Issue = Parameters<NonNullable<z.core.$ZodConfig['customError']>>[0]

const TYPES: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  nan: 'a number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  tuple: 'a list',
  date: 'a date',
  null: 'null',
}

const FORMATS: Record<string, string> = {
  email: 'must be an email address',
  url: 'must be a URL',
  uuid: 'must be a UUID',
  datetime: 'must be a date and time, such as 2026-07-01T09:00:00Z',
  date: 'must be a date, such as 2026-07-01',
  base64: 'must be base64',
}

const UNITS: Record<string, [one: string, many: string]> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  set: ['item', 'items'],
  map: ['field', 'fields'],
  object: ['field', 'fields'],
  record: ['field', 'fields'],
}

/**
 * The problem with a value, as the end of a sentence that begins with its place: "name must not be empty". Used where a
 * schema has no words of its own; Zod's words describe its own types.
 */
function wordsOf(issue: Issue): string {
  if (issue.input === undefined && ['invalid_type', 'invalid_value', 'invalid_union'].includes(issue.code ?? ''))
    return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? 'of another type'}`
    case 'invalid_value':
      return oneOf(issue.values)
    case 'too_small':
      return sized(
        issue.origin,
        issue.minimum,
        issue.exact ? 'exactly' : issue.inclusive === false ? 'more than' : 'at least',
      )
    case 'too_big':
      return sized(
        issue.origin,
        issue.maximum,
        issue.exact ? 'exactly' : issue.inclusive === false ? 'less than' : 'at most',
      )
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'does not have the form that is expected'
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `has no field ${issue.keys.slice(0, 10).map(guessed(issue)).join(', ')}`
    case 'invalid_key':
      return `has a name that is not allowed: it ${issue.issues[0]?.message ?? 'is not valid'}`
    case 'invalid_union':
      return eitherOf(issue)
    default:
      return 'is not valid'
  }
}

/** A name that an object does not have, with the one that was probably meant. */
function guessed({ inst }: Issue): (name: string) => string {
  const known = inst instanceof z.ZodObject ? Object.keys(inst.shape) : []
  return (name) => {
    const near = name.length > 100 ? null : nearestName(name, known)
    return near === null ? cutText(name, 100) : `${name} (did you mean ${near}?)`
  }
}

function sized(origin: string, limit: number | bigint, how: string): string {
  const units = UNITS[origin]
  if (!units) return `must be ${how === 'exactly' ? '' : `${how} `}${limit}`
  if (limit === 1 && how === 'at least') return 'must not be empty'
  return `must have ${how} ${limit.toLocaleString('en')} ${units[limit === 1 ? 0 : 1]}`
}

/** At most this many of the possible values are listed. */
const MAX_NAMED = 20

function oneOf(values: readonly unknown[]): string {
  const [only, ...others] = values
  if (others.length === 0) return `must be ${String(only)}`
  const more = values.length > MAX_NAMED ? ' and others' : ''
  return `must be one of ${values.slice(0, MAX_NAMED).map(String).join(', ')}${more}`
}

function eitherOf(issue: Extract<Issue, { code: 'invalid_union' }>): string {
  const options = (issue as { options?: unknown }).options
  if (Array.isArray(options) && options.length > 0) return oneOf(options)
  const ways = issue.errors.map(([first]) => (first && first.path.length === 0 ? first.message : ''))
  const kinds = [...new Set(ways)].map((way) => /^must be (.+)$/.exec(way)?.[1])
  const all = kinds.filter((kind) => kind !== undefined)
  return all.length === kinds.length && all.length > 0
    ? `must be ${all.join(' or ')}`
    : 'has none of the forms that it may have'
}

z.config({ customError: wordsOf })
