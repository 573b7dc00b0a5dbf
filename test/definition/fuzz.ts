/** Pseudo-random numbers that are the same for the same seed (SplitMix32). */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed | 0
  return (below) => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    mixed ^= mixed >>> 15
    return (mixed >>> 0) % below
  }
}

type Kind = 'truth' | 'number' | 'text' | 'list' | 'object'
const KINDS: Kind[] = ['truth', 'number', 'text', 'list', 'object']

/** Paths to values of the data that the expressions are evaluated on. */
const PATHS: Record<Kind, string[]> = {
  truth: ['${yes}', '${customer.vip}', '${missing ?? false}'],
  number: ['${total}', '${_.total}', '${lines[1]["price"]}', '${["total"]}', '${missing ?? 3}', '${none ?? 1}'],
  text: ['${name}', '${long}', '${odd}', '${customer.vat}', '${customer["vat"]}', '${own.toString}', '${pattern}'],
  list: ['${tags}', '${many}', '${lines}', '${missing ?? [1, {"a": "}"}]}'],
  object: ['${customer}', '${own}', '${_}', '${missing ?? {"__proto__": {"inherited": 1}}}'],
}

/** Paths that must resolve to nothing: inherited properties, globals, and missing names. */
export const NOWHERE = [
  ...['${constructor}', '${__proto__.x}', '${name.__proto__}', '${customer.prototype}', '${own.constructor.x}'],
  ...['${toString}', '${customer.hasOwnProperty}', '${_.valueOf}', '${__defineGetter__}', '${own.__lookupGetter__}'],
  ...['${["constructor"]}', '${name["__proto__"]}', '${customer["valueOf"]}', '${["inherited"].x}'],
  ...['${inherited}', '${customer.inherited}', '${tags.inherited}', '${name.inherited}', '${total.inherited}'],
  ...['${tags.length}', '${name.length}', '${name[0]}', '${tags[99]}', '${customer[0]}', '${many.map}', '${none.x}'],
  ...['${process.env.HOME}', '${globalThis}', '${this.x}', '${secrets.TOKEN}', '${_.secrets.TOKEN}', '${missing}'],
]

const LITERALS: Record<Kind, string[]> = {
  truth: ['true', 'false'],
  number: ['0', '1', '2.5', '1e308', '1e-300', '9007199254740993', '-1'],
  text: ['""', '"a"', "'it\\'s'", '"$& $1"', '"${name}"', '"\\u0000\\ud800"', '"__proto__"', '"inherited"', '"(a+)+$"'],
  list: ['[]', '[1, "a", null]', '[[[[]]]]'],
  object: ['null'],
}

const SOUP = [
  ...['${name}', '${customer.vat}', '"a"', '1', '+', '==', '&&', '||', '!', '(', ')', '[', ']', ',', '?', ':', 'in'],
  ...['size(', 'has(', 'matches(', 'lower(', '-', '%', '/', '<', 'null', 'true', '${', '}', '$${', '??', '.', "'", '"'],
]

const PIECES = [
  ...['$', '{', '}', '"', "'", '\\', '\n', '\u0000', '\u2028', '.', '[', ']', '(', ')', ' ', '`', ';', '=', '&', '|'],
  ...[
    '__proto__',
    'constructor',
    '.inherited',
    '[0]',
    '[999999999]',
    '["',
    '"]',
    '["__proto__"]',
    '?? ',
    '${',
    '$${',
    '👍',
    '\ud800',
    '0x1',
    '1n',
  ],
]

/** Random expressions: about two in three are valid, and the rest are damaged ones and random tokens. */
export function fuzzedTexts(seed: number): () => string {
  const below = randomFrom(seed)
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const some = (kind: Kind, depth: number): string => {
    if (below(40) === 0) return one(NOWHERE)
    // Occasionally a value that does not fit.
    if (below(30) === 0) return some(one(KINDS), depth)
    if (depth <= 0 || below(4) === 0) return below(2) ? one(PATHS[kind]) : one(LITERALS[kind])
    const inner = (of: Kind) => some(of, depth - 1)
    if (below(8) === 0) return `(${inner('truth')} ? ${inner(kind)} : ${inner(kind)})`
    if (below(10) === 0) return `(${inner(kind)})`
    return made(kind, inner)
  }
  const made = (kind: Kind, inner: (of: Kind) => string): string => {
    if (kind === 'number') {
      if (below(4) === 0) return `size(${inner(one(['text', 'list', 'object']))})`
      return below(6) === 0
        ? `-${inner('number')}`
        : `${inner('number')} ${one(['+', '-', '*', '/', '%'])} ${inner('number')}`
    }
    if (kind === 'text')
      return below(2) ? `${inner('text')} + ${inner('text')}` : `${one(['lower', 'upper'])}(${inner('text')})`
    if (kind === 'list')
      return below(2) ? `${inner('list')} + ${inner('list')}` : `[${inner(one(KINDS))}, ${inner(one(KINDS))}]`
    if (kind === 'object') return one(PATHS.object)
    const of = one(KINDS)
    const makers = [
      () => `${inner(of)} ${one(['==', '!='])} ${inner(of)}`,
      () => `${inner('number')} ${one(['<', '<=', '>', '>='])} ${inner('number')}`,
      () => `${inner('text')} ${one(['<', '>='])} ${inner('text')}`,
      () => `${inner('truth')} ${one(['&&', '||'])} ${inner('truth')}`,
      () => `!${inner('truth')}`,
      () => `${inner(of)} in ${inner('list')}`,
      () => `${inner('text')} in ${inner('object')}`,
      () => `has(${below(2) ? one(PATHS[of]) : one(NOWHERE)})`,
      () => `${one(['contains', 'startsWith', 'endsWith'])}(${inner('text')}, ${inner('text')})`,
      () => `matches(${inner('text')}, ${inner('text')})`,
    ]
    return one(makers)()
  }
  const spoiled = (text: string): string => {
    const at = below(text.length + 1)
    const cut = below(3) === 0 ? below(4) : 0
    return text.slice(0, at) + (below(4) ? one(PIECES) : '') + text.slice(at + cut)
  }
  return () => {
    const kind = below(10)
    if (kind === 0) return Array.from({ length: 1 + below(14) }, () => one(SOUP)).join(below(2) ? ' ' : '')
    const text = some(one(KINDS), 1 + below(7))
    return kind < 4 ? spoiled(spoiled(text)) : text
  }
}
