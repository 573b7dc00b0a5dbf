import { isJsonObject, type JsonObject, type JsonValue } from '../json'

/** The JSON kinds, each a bit, so that a set of them is a number. Null is its own kind. */
export const KIND = { null: 1, boolean: 2, number: 4, string: 8, array: 16, object: 32 } as const
export type Kind = keyof typeof KIND
const ALL_KINDS = 63

/** The known facts about a value before any run. `NEVER` is the type of a missing value, `ANY` that of every value. */
export interface ValueType {
  /** The kinds it may be. */
  readonly kinds: number
  /** Of an object: the known properties, and ... */
  readonly props: ReadonlyMap<string, Property>
  /** ... whether it may have others. */
  readonly open: boolean
  /** Of a list: the type of its items. */
  readonly items: ValueType
  /** The depth and the number of the types nested in it. */
  readonly depth: number
  readonly size: number
}

export interface Property {
  readonly type: ValueType
  /** Whether every such object has it. */
  readonly always: boolean
}

/** Beyond this depth, and in larger types, only the kinds are known. */
const MAX_DEEP = 4
const MAX_SIZE = 400

const NO_PROPS: ReadonlyMap<string, Property> = new Map()

const plain = (kinds: number, open: boolean): Omit<ValueType, 'items'> => ({
  kinds,
  props: NO_PROPS,
  open,
  depth: 0,
  size: 1,
})

function endless(kinds: number, open: boolean): ValueType {
  const type = { ...plain(kinds, open), items: null as unknown as ValueType }
  type.items = type
  return type
}

/** The type of a missing value. */
export const NEVER = endless(0, false)
export const ANY = endless(ALL_KINDS, true)

/** The values of some kinds, with any content. */
export function ofKinds(kinds: number): ValueType {
  const known = byKinds[kinds]
  if (known) return known
  const type = kinds === 0 ? NEVER : kinds === ALL_KINDS ? ANY : { ...plain(kinds, true), items: ANY }
  byKinds[kinds] = type
  return type
}

const byKinds: ValueType[] = []

export function ofKind(kind: Kind): ValueType {
  return ofKinds(KIND[kind])
}

export function listOf(items: ValueType): ValueType {
  if (items.depth >= MAX_DEEP || items.size >= MAX_SIZE) return listOf(shallow(items, MAX_DEEP - 2))
  return { ...plain(KIND.array, true), items, depth: items.depth + 1, size: items.size + 1 }
}

/** @param open whether the objects may also have other properties */
export function objectOf(props: ReadonlyMap<string, Property>, open: boolean): ValueType {
  return withProps(KIND.object, props, open, ANY)
}

function withProps(kinds: number, props: ReadonlyMap<string, Property>, open: boolean, items: ValueType): ValueType {
  let depth = items === ANY || items === NEVER ? 0 : items.depth + 1
  let size = items.size + 1
  for (const { type } of props.values()) {
    depth = Math.max(depth, type.depth + 1)
    size += type.size
  }
  if (depth <= MAX_DEEP && size <= MAX_SIZE) return { kinds, props, open, items, depth, size }
  const most = depth > MAX_DEEP && size <= MAX_SIZE ? MAX_DEEP - 1 : 0
  if (props.size > MAX_SIZE || (most === 0 && depth <= 1)) return ofKinds(kinds)
  const cut = new Map([...props].map(([name, { type, always }]) => [name, { type: shallow(type, most), always }]))
  return withProps(kinds, cut, open, shallow(items, most))
}

/** A type without its nested types. */
function shallow(type: ValueType, depth: number): ValueType {
  if (type.depth <= depth) return type
  if (depth === 0) return ofKinds(type.kinds)
  const props = [...type.props].map(([name, { type: inner, always }]) => {
    return [name, { type: shallow(inner, depth - 1), always }] as const
  })
  return withProps(type.kinds, new Map(props), type.open, shallow(type.items, depth - 1))
}

/** The type of an existing value. */
export function typeOf(value: JsonValue): ValueType {
  if (Array.isArray(value)) return listOf(joinAll(value.map(typeOf)))
  if (!isJsonObject(value)) return ofKind(kindOf(value))
  return objectOf(
    new Map(Object.entries(value).map(([name, item]) => [name, { type: typeOf(item), always: true }])),
    false,
  )
}

/** The values of both types. Returns `a` itself if `b` adds nothing. */
export function join(a: ValueType, b: ValueType): ValueType {
  if (a === b || b === NEVER || a === ANY) return a
  if (a === NEVER || b === ANY) return b
  const kinds = a.kinds | b.kinds
  const items = itemsOf(a, b)
  const { props, open } = propsOf(a, b)
  if (kinds === a.kinds && items === a.items && props === a.props && open === a.open) return a
  if (kinds === b.kinds && items === b.items && props === b.props && open === b.open) return b
  if (props.size === 0 && open && items === ANY) return ofKinds(kinds)
  return withProps(kinds, props, open, items)
}

/** Whether two types have the same values. */
export function isSame(a: ValueType, b: ValueType): boolean {
  return a === b || (a.size === b.size && a.kinds === b.kinds && join(a, b) === a && join(b, a) === b)
}

function itemsOf(a: ValueType, b: ValueType): ValueType {
  if (!has(a, 'array')) return b.items
  return has(b, 'array') ? join(a.items, b.items) : a.items
}

function propsOf(a: ValueType, b: ValueType): Pick<ValueType, 'props' | 'open'> {
  if (!has(a, 'object')) return b
  if (!has(b, 'object') || (a.props === b.props && a.open === b.open)) return a
  const open = a.open || b.open
  const props = new Map<string, Property>()
  let changed = open !== a.open
  for (const [name, mine] of a.props) {
    const other = b.props.get(name)
    // Unknown properties of an open object may be anything.
    if (!other && b.open) {
      changed = true
      continue
    }
    const type = other ? join(mine.type, other.type) : mine.type
    const always = mine.always && other?.always === true
    const same = type === mine.type && always === mine.always
    props.set(name, same ? mine : { type, always })
    if (!same) changed = true
  }
  if (!a.open) {
    for (const [name, { type }] of b.props) {
      if (a.props.has(name)) continue
      props.set(name, { type, always: false })
      changed = true
    }
  }
  return changed ? { props, open } : a
}

export function joinAll(types: Iterable<ValueType>): ValueType {
  let all = NEVER
  for (const type of types) all = join(all, type)
  return all
}

/** A type without values of some kinds. */
export function without(type: ValueType, kinds: number): ValueType {
  const left = type.kinds & ~kinds
  return left === type.kinds ? type : only(type, left)
}

/** The part of a type that has some kinds. */
export function only(type: ValueType, kinds: number): ValueType {
  const left = type.kinds & kinds
  if (left === type.kinds) return type
  if (left === 0) return NEVER
  const isObject = (left & KIND.object) !== 0
  return withProps(
    left,
    isObject ? type.props : NO_PROPS,
    isObject ? type.open : true,
    (left & KIND.array) !== 0 ? type.items : ANY,
  )
}

export function has(type: ValueType, ...kinds: Kind[]): boolean {
  return kinds.some((kind) => (type.kinds & KIND[kind]) !== 0)
}

export function conforms(value: JsonValue, type: ValueType): boolean {
  return misfitIn(value, type) === null
}

/** The first part of a value that is not of the type claimed for it; null if all of it is. */
export function misfitIn(value: JsonValue, type: ValueType): Misfit | null {
  if (type === ANY) return null
  const kind = kindOf(value)
  if (!has(type, kind)) return { path: [], claimed: wordsFor(type), found: wordsFor(ofKind(kind)) }
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const misfit = misfitIn(item, type.items)
      if (misfit) return { ...misfit, path: [at, ...misfit.path] }
    }
    return null
  }
  return isJsonObject(value) ? misfitOfObject(value, type) : null
}

/** A part of a value that is not of the type claimed for it, in words that do not have the value. */
export interface Misfit {
  path: (string | number)[]
  claimed: string
  found: string
}

function misfitOfObject(value: JsonObject, type: ValueType): Misfit | null {
  for (const [name, known] of type.props)
    if (known.always && !Object.hasOwn(value, name))
      return { path: [name], claimed: wordsFor(known.type), found: NOTHING }
  for (const [name, item] of Object.entries(value)) {
    const known = type.props.get(name)
    // The name of a field that nothing declares may itself be data.
    if (!known && !type.open)
      return { path: [], claimed: 'an object without further fields', found: 'an object with others' }
    const misfit = known ? misfitIn(item, known.type) : null
    if (misfit) return { ...misfit, path: [name, ...misfit.path] }
  }
  return null
}

function kindOf(value: JsonValue): Kind {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : (typeof value as 'string' | 'number' | 'boolean' | 'object')
}

/** What stands where a value is missing, in words. */
export const NOTHING = 'nothing'

const WORDS: readonly [Kind, one: string][] = [
  ['boolean', 'true or false'],
  ['number', 'a number'],
  ['string', 'a string'],
  ['array', 'a list'],
  ['object', 'an object'],
  ['null', 'null'],
]

/** A type in words for people: `a number or null`. */
export function wordsFor(type: ValueType): string {
  if (type.kinds === ALL_KINDS) return 'anything'
  const words = WORDS.filter(([kind]) => has(type, kind)).map(([, word]) => word)
  const last = words.pop() ?? NOTHING
  return words.length === 0 ? last : `${words.join(', ')} or ${last}`
}
