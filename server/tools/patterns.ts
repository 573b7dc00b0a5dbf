import { RE2JS } from 're2js'
import { processWide } from '@/db/process-wide'
import type { Effort } from '../definition/effort'

/**
 * Regular expressions of callers. RE2 matches in time linear in the text. The cost of compiling is estimated first,
 * because a pattern of 1,000 characters can block it for seconds.
 */
export interface Pattern {
  find(text: string): boolean
  /** The approximate cost per character of the text. */
  states: number
}

/** A pattern that would take too long to compile. */
export class PatternTooCostly extends Error {
  override name = 'PatternTooCostly'
  constructor() {
    super('the pattern takes too long to compile')
  }
}

/** What compiling one pattern may cost: about 20 ms. One unit is the lookup of a character's other cases: 40 ns. */
export const MAX_FOR_PATTERN = 500_000
const PER_CHARACTER = 50
const PER_STATE = 65
/** For a Unicode class, such as `\p{L}`. */
const PER_TABLE = 3_500

/** Few, because a pattern may come from run data. */
const MAX_KEPT = 200
const cache = () => processWide('patterns', () => new Map<string, Pattern>())

/**
 * @param text in RE2's syntax
 * @param effort the remaining budget for several patterns, in the same units
 * @throws PatternTooCostly, RE2JSException
 */
export function patternOf(text: string, effort?: Effort): Pattern {
  const cost = costOfPattern(text)
  if (cost > MAX_FOR_PATTERN || effort?.allows(cost) === false) throw new PatternTooCostly()
  const all = cache()
  const known = all.get(text)
  if (known) return known
  const compiled = RE2JS.compile(text)
  const pattern = { find: (text: string) => compiled.matcher(text).find(), states: compiled.programSize() }
  if (all.size >= MAX_KEPT) all.delete(all.keys().next().value ?? text)
  all.set(text, pattern)
  return pattern
}

/** The worst-case cost of compiling a pattern, by its text alone. */
export function costOfPattern(text: string): number {
  let cost = text.length * PER_CHARACTER + statesOf(text) * PER_STATE
  for (const _ of text.matchAll(TABLES)) cost += PER_TABLE
  if (!IGNORES_CASE.test(text)) return cost
  for (const [, from = '', to = ''] of text.matchAll(RANGES)) {
    const width = Math.min(codeOf(to), LAST_WITH_CASE) - codeOf(from)
    if (width > 0) cost += width
  }
  return cost
}

const TABLES = /\\[pP]|\[:/g
const IGNORES_CASE = /\(\?[A-Za-z]*i/
const ONE = String.raw`\\(?:x\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{2}|u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|[0-7]{1,3}|.)|[^\\]`
/** Possible ranges of a class. Overlapping, so that none is missed. */
const RANGES = new RegExp(`(?=(${ONE})-(${ONE}))`, 'gsu')
const LAST_WITH_CASE = 0x1e943

function codeOf(text: string): number {
  const hex = /^\\[xu]\{?([0-9A-Fa-f]+)/.exec(text)?.[1]
  if (hex !== undefined) return Number.parseInt(hex, 16)
  const octal = /^\\([0-7]{1,3})$/.exec(text)?.[1]
  if (octal !== undefined) return Number.parseInt(octal, 8)
  return text.codePointAt(text.startsWith('\\') ? 1 : 0) ?? 0
}

/** The approximate number of states of the compiled pattern: a repeated part counts as often as it may occur. */
export function statesOf(pattern: string): number {
  const groups = [{ sum: 0, last: 0 }]
  const add = (size: number) => {
    const group = groups.at(-1)
    if (group) Object.assign(group, { sum: group.sum + size, last: size })
  }
  for (const [part, class_, low, high] of pattern.matchAll(PARTS)) {
    if (part === '(') groups.push({ sum: 0, last: 0 })
    else if (part === ')' && groups.length > 1) add(1 + (groups.pop()?.sum ?? 0))
    else if (low === undefined || class_ !== undefined) add(1)
    else add((groups.at(-1)?.last ?? 0) * (Math.max(1, Number(low), Number(high ?? 0)) - 1))
  }
  return groups.reduce((total, { sum }) => total + sum, 1)
}

/** An escape or a class of characters, a counted repetition, or any other character. */
const PARTS = /(\\(?:[pPx]\{[^}]*\}|.)|\[\^?\]?(?:\\.|[^\]\\])*\])|\{(\d{1,9})(?:,(\d{0,9}))?\}|./gs
