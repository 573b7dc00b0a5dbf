import { COLUMNS } from './columns'
import * as fences from './fences'
import * as parts from './parts'
import { statementOf } from './statement'
import type { Changes, Fence, Output, Part } from './types'

const all: readonly (Fence | Part | Output)[] = [fences, parts, parts.SEND].flatMap((of) =>
  Object.values<unknown>(of).filter((one) => isNamed(one)),
)
const byName = new Map(all.map((one) => [nameOf(one), one]))
const KEY = 'known caller'

/**
 * The parts of a statement, by the names in the comment at its end, in their order.
 * @throws RangeError if a name is unknown, or if the names contain no fence or several
 */
export function changesOf(names: readonly string[]): Changes {
  const found = names.filter((name) => name !== KEY).map((name) => byName.get(name) ?? unknown(name))
  const [fence, ...others] = found.filter((one) => 'fence' in one)
  if (!fence || others.length > 0) throw new RangeError('Name one fence.')
  return {
    checksKey: names.includes(KEY),
    fence,
    parts: found.filter((one) => 'part' in one),
    outputs: found.filter((one) => 'output' in one),
  }
}

/**
 * The text of a statement with one row in place of its parameter, for `explain`. A text value in the row is the name of
 * its column.
 * @throws RangeError as `changesOf`
 */
export function explainable(names: readonly string[]): string {
  const { waitForLock } = statementOf(changesOf(names))
  const row = [...COLUMNS.places].map(([name, place]) => EXAMPLES[COLUMNS.types[place] ?? ''] ?? name)
  return waitForLock.replace('$1', `'${JSON.stringify([row])}'`)
}

const EXAMPLES: Record<string, unknown> = {
  int: 1,
  integer: 1,
  boolean: true,
  timestamptz: '2026-01-01T00:00:00.000Z',
  'timestamp (3) with time zone': '2026-01-01T00:00:00.000Z',
  json: '{}',
  jsonb: {},
}

function isNamed(one: unknown): one is Fence | Part | Output {
  return typeof one === 'object' && one !== null && ('fence' in one || 'part' in one || 'output' in one)
}

function nameOf(one: Fence | Part | Output): string {
  return 'fence' in one ? one.fence : 'part' in one ? one.part : one.output
}

function unknown(name: string): never {
  throw new RangeError(`There is no “${name}”. There are: ${[KEY, ...byName.keys()].join(', ')}.`)
}
