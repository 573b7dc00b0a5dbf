import { createHash } from 'node:crypto'

const MAX_LENGTH = 48
const TAIL = 6

/** The words of a text as one identifier that every language accepts, such as `OrderApproval`; empty without words. */
export function nameFrom(text: string): string {
  const words = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return words.join('').slice(0, MAX_LENGTH)
}

/** An object to name: its unique id, and a fallback word for a name without letters. */
export interface ToName {
  id: string
  name: string
  fallback: string
  /** A suffix, unless the name already has it. */
  ending: string
}

/**
 * A name for each object, by id. Of equal names, ignoring case, the first stays, and the others get the start of a
 * digest of their ids: so a new object never renames an older one.
 * @param objects oldest first
 */
export function namesFor(objects: readonly ToName[]): Map<string, string> {
  const taken = new Set(TAKEN)
  const named = new Map<string, string>()
  for (const object of objects) {
    const plain = plainName(object)
    named.set(object.id, taken.has(plain.toLowerCase()) ? `${plain}${tailOf(object.id)}` : plain)
    taken.add(plain.toLowerCase())
  }
  return named
}

/** The name of an object that `namesFor` did not get. */
export function nameApart(object: ToName): string {
  return `${plainName(object)}${tailOf(object.id)}`
}

function plainName({ name, fallback, ending }: ToName): string {
  const words = nameFrom(name)
  const base = /^[A-Z]/.test(words) ? words : `${fallback}${words}`
  return base.toLowerCase().endsWith(ending.toLowerCase()) ? base : `${base}${ending}`
}

/** Would make names that the document uses otherwise, such as `StartedRun`. */
const TAKEN = new Set(['started', 'resumed', 'step', 'any', 'get', 'resume'])

function tailOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, TAIL)
}

/** Unique names of schemas and operations. */
export class Names {
  readonly #given: Set<string>
  constructor(taken: Iterable<string>) {
    this.#given = new Set([...taken].map((name) => name.toLowerCase()))
  }

  /** The name, or the next free one like it. */
  give(wanted: string): string {
    let name = wanted
    for (let nth = 2; this.#given.has(name.toLowerCase()); nth++) name = `${wanted}${nth}`
    this.#given.add(name.toLowerCase())
    return name
  }
}
