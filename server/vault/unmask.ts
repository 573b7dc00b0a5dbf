import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonLike, pathText } from '../definition/json'
import { AppError } from '../errors'
import type { RunMasker } from './hide'
import { MASK, type Masker } from './mask'

type Path = readonly (string | number)[]
interface Context {
  masker: Masker
  left: Path[]
}

/**
 * Restores the stored form of every part of a value that equals its shown form.
 * @param stored the value it replaces; undefined without one
 * @returns also the places of masks without a value behind them
 */
export function unmasked(
  given: JsonLike,
  stored: JsonLike,
  masker: Masker,
): { value: JsonLike; left: readonly Path[] } {
  const left: Path[] = []
  return { value: undo(given, masker.json(stored), stored, { masker, left }, []), left }
}

/** The problem of a mask without a value behind it: stored, it would replace a value that is lost. */
export const STANDS_FOR_NOTHING =
  'says ***, which stands for no value that is stored here. Say the value itself, or leave this as it was.'

/**
 * The body of a change, its shown values replaced by the stored ones.
 * @param stored the fields that are shown masked
 * @throws AppError INVALID_INPUT for a mask without a value behind it
 */
export function unmaskedBody(body: unknown, stored: Record<string, JsonLike>, masker: Masker | RunMasker): unknown {
  // Without values to mask, *** is ordinary text.
  const masks = masker.longest > 0 || ('hides' in masker && masker.hides.size > 0)
  if (!isJsonObject(body) || !masks) return body
  const { value, left } = unmasked(body, stored, masker)
  const details = left.map((path) => ({ path: pathText(path), message: STANDS_FOR_NOTHING }))
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
  return value
}

function undo(given: JsonLike, shown: JsonLike, stored: JsonLike, of: Context, path: Path): JsonLike {
  if (stored !== undefined && isDeepStrictEqual(given, shown)) return stored
  if (typeof given === 'string') {
    // A stored text that contains these characters may keep them.
    if (masksIn(given) > (typeof stored === 'string' ? masksIn(stored) : 0)) of.left.push(path)
    return given
  }
  if (Array.isArray(given)) {
    const [was, is] = Array.isArray(shown) && Array.isArray(stored) ? [shown, stored] : [[], []]
    const pairs = paired(given, was, isDeepStrictEqual)
    const used = new Set(pairs)
    return given.map((part, index) => {
      const at = pairs[index] ?? (used.has(index) ? -1 : index)
      return undo(part, was[at], is[at], of, [...path, index])
    })
  }
  if (!isJsonObject(given)) return given
  const [was, is] = isJsonObject(shown) && isJsonObject(stored) ? [shown, stored] : [{}, {}]
  return Object.fromEntries(
    Object.entries(given).map(([name, part]) => {
      const known = nameOf(name, is, of.masker)
      const at = [...path, name]
      if (known === undefined && name.includes(MASK)) of.left.push(at)
      if (known === undefined || !Object.hasOwn(was, name)) return [name, undo(part, undefined, undefined, of, at)]
      return [known, undo(part, was[name], is[known], of, at)]
    }),
  )
}

/** The stored name with this shown form, if it is unique. */
function nameOf(shown: string, stored: object, { text }: Masker): string | undefined {
  if (Object.hasOwn(stored, shown)) return shown
  const names = Object.keys(stored).filter((name) => text(name) === shown)
  return names.length === 1 ? names[0] : undefined
}

/** For each part the index of its equal: the same index if it matches, otherwise the first unpaired one. */
export function paired<A, B>(
  given: readonly A[],
  shown: readonly B[],
  same: (part: A, was: B) => boolean,
): (number | undefined)[] {
  const fits = (part: A, at: number) => at < shown.length && same(part, shown[at] as B)
  const used = new Set([...given.keys()].filter((at) => fits(given[at] as A, at)))
  return given.map((part, index) => {
    if (fits(part, index)) return index
    const at = shown.findIndex((_, at) => !used.has(at) && fits(part, at))
    if (at === -1) return undefined
    used.add(at)
    return at
  })
}

function masksIn(text: string): number {
  return text.split(MASK).length - 1
}
