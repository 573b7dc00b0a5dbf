import { type JsonValue, pathText } from './json'

/**
 * JSON numbers that a JavaScript number cannot hold: ids of other systems are often that large, and `JSON.parse`
 * silently changes their last digits.
 */

/** No shorter run of digits is beyond 2^53, and no shorter exponent beyond the largest number. */
const MAY_BE_LONG = /\d{16}|[eE]\+?\d{3}/
/** Longer integers are not compared digit by digit: nobody means them as a number. */
const MAX_DIGITS = 40

/**
 * Parses JSON of others, who cannot write it otherwise: integers beyond 2^53, and numbers too large for any, become
 * texts.
 * @throws SyntaxError
 */
export function parseKeepingDigits(text: string): JsonValue {
  return JSON.parse(keepingDigits(text))
}

/** JSON of others with such numbers as texts. Everything else is unchanged. */
export function keepingDigits(text: string): string {
  if (!MAY_BE_LONG.test(text)) return text
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  return quoted(text, isLong, (literal) => literal)
}

/**
 * Parses JSON whose sender can write such a number as text.
 * @throws SyntaxError, InexactNumber
 */
export function parseExact(text: string): JsonValue {
  const value: JsonValue = JSON.parse(text)
  const found = MAY_BE_LONG.test(text) ? findInexact(text) : null
  if (found) throw new InexactNumber(found)
  return value
}

/** Why JSON would change a number in it; null if it preserves all. */
export function inexactReason(json: string): string | null {
  const found = MAY_BE_LONG.test(json) ? findInexact(json) : null
  return found && new InexactNumber({ ...found, path: '' }).message
}

/** Parsing would change a number. */
export class InexactNumber extends Error {
  override name = 'InexactNumber'
  /** Without the path. */
  readonly reason: string
  /** Empty for the whole value. */
  readonly path: string

  constructor({ path, literal }: { path: string; literal: string }) {
    const shown = literal.length > MAX_DIGITS ? `${literal.slice(0, MAX_DIGITS)}…` : literal
    const reason = `${shown} is too large to be kept exactly as a number; write it as text, in double quotes`
    super(path === '' ? reason : `${path}: ${reason}`)
    this.reason = reason
    this.path = path
  }
}

/** The problem with a number that was typed where only a number is allowed. */
export const TOO_LARGE_TO_BE_EXACT = 'is too large to be kept exactly as a number; an id needs a field of type string'

/** Whether a written number is an integer whose last digits would change. */
export function isInexact(literal: string): boolean {
  if (!/^-?\d+$/.test(literal) || Number.isSafeInteger(Number(literal))) return false
  if (literal.length > MAX_DIGITS) return true
  // The digits are either its own, or those that a program writes for it.
  return BigInt(Number(literal)) !== BigInt(literal) && String(Number(literal)) !== literal
}

function isLong(literal: string): boolean {
  const value = Number(literal)
  return !Number.isFinite(value) || (/^-?\d+$/.test(literal) && !Number.isSafeInteger(value))
}

function findInexact(text: string): { path: string; literal: string } | null {
  let literal: string | null = null
  const marked = quoted(
    text,
    (one) => literal === null && isInexact(one),
    (one) => {
      literal = one
      return `\\u0000${one}`
    },
  )
  if (literal === null) return null
  const path = pathOf(JSON.parse(marked), `\u0000${literal}`, [])
  return { path: pathText(path ?? []), literal }
}

function pathOf(value: JsonValue, sought: string, path: (string | number)[]): (string | number)[] | null {
  if (value === sought) return path
  if (typeof value !== 'object' || value === null) return null
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [key, item] of entries) {
    const found = pathOf(item, sought, [...path, key])
    if (found) return found
  }
  return null
}

/** Valid JSON with some of its numbers as texts. */
function quoted(json: string, chosen: (literal: string) => boolean, write: (literal: string) => string): string {
  const parts: string[] = []
  let copied = 0
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === QUOTE) at = endOfText(json, at)
    else if (char === MINUS || isDigit(char)) {
      const start = at
      while (at + 1 < json.length && inNumber(json.charCodeAt(at + 1))) at++
      const literal = json.slice(start, at + 1)
      if (!chosen(literal)) continue
      parts.push(json.slice(copied, start), `"${write(literal)}"`)
      copied = at + 1
    }
  }
  return parts.length === 0 ? json : parts.join('') + json.slice(copied)
}

const QUOTE = 34
const MINUS = 45
const BACKSLASH = 92

const isDigit = (char: number) => char >= 48 && char <= 57
/** Digits, `.`, `e`, `E`, `+` and `-`. */
const inNumber = (char: number) => isDigit(char) || [46, 101, 69, 43, MINUS].includes(char)

/** Where the text that begins here ends. */
function endOfText(json: string, start: number): number {
  let at = start + 1
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at
}
