import { wholeChars } from '@/lib/whole-chars'
import { Effort } from '@/server/definition/effort'
import { ExpressionFailure, evaluate, type Matches } from '@/server/definition/expression/evaluate'
import { parseExpression } from '@/server/definition/expression/parse'
import type { JsonValue } from '@/server/definition/json'
import {
  expressionsIn,
  resolveTemplates,
  TemplateSyntaxError,
  TemplateTooLarge,
  UnresolvedReference,
} from '@/server/definition/template'
import { lookupOf, type ShownValues } from './shown-values'

/** What a text gives with the shown values. */
export type Preview = { gives: string } | { missing: string }

const MAX_CHARS = 160
const MAX_OPERATIONS = 10_000

/** Regular expressions are only evaluated by the server, which limits their time. */
const NO_MATCHES: Matches = {
  find: () => notHere(),
  sizeOf: () => notHere(),
  costOf: () => notHere(),
}

/**
 * What a template or a condition gives with these values; null if that cannot be said here: it refers to nothing, is
 * not valid, or needs a value that is not here.
 */
export function previewOf(text: string, code: boolean, { values, names, leftOut }: ShownValues): Preview | null {
  const references = expressionsIn(text)
  if (references.length === 0) return null
  if (references.some(({ reference: { root } }) => !names.has(root) || leftOut.includes(root))) return null
  const lookup = lookupOf(values)
  try {
    const value: JsonValue = code
      ? evaluate(parseExpression(text), lookup, NO_MATCHES, new Effort(MAX_OPERATIONS))
      : resolveTemplates(text, lookup)
    return { gives: shown(value) }
  } catch (error) {
    if (error instanceof UnresolvedReference) return { missing: error.reference }
    if (error instanceof TemplateSyntaxError || error instanceof TemplateTooLarge || error instanceof ExpressionFailure)
      return null
    throw error
  }
}

function shown(value: JsonValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const line = text.replace(/\s+/gu, ' ').trim()
  if (line === '') return 'an empty text'
  return line.length <= MAX_CHARS ? line : `${wholeChars(line, MAX_CHARS)}…`
}

function notHere(): never {
  throw new ExpressionFailure('not evaluated here')
}
