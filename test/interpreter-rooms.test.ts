import { describe, expect, test } from 'vitest'
import { files, imports } from './support/imports'

const INTERPRETER = 'server/interpreter/'

/**
 * The rooms of the interpreter from the bottom up: a room imports only from rooms below it. README.md explains each.
 */
const ROOMS = ['flow', 'notice', 'plan', 'recall', 'write', 'stop', 'fork', 'wait', 'move', 'walk', 'repair']
/** The files that others may import. The driver loads the SDK of Inngest, so it has a door of its own. */
const DOORS = ['index', 'driver', 'flow/index'].map((name) => `${INTERPRETER}${name}`)
/** How many files one call may pass through on its way down. */
const LONGEST_CHAIN = 12

const isInside = (path: string) => path.startsWith(INTERPRETER)
const isProduct = (path: string) => !/^(test|bench)\//.test(path)
const roomOf = (path: string) => /^[^/]+(?=\/)/.exec(path.slice(INTERPRETER.length))?.[0] ?? null
const floorOf = (path: string) => {
  const room = roomOf(path)
  return room === null ? ROOMS.length : ROOMS.indexOf(room)
}
const inner = imports.filter(({ from, to }) => isInside(from) && isInside(to))
const named = ({ from, to }: { from: string; to: string }) => `${from} -> ${to}`

describe('the rooms of the interpreter', () => {
  test('hold every file but the doors', () => {
    const ours = files.filter(isInside)
    expect(ours.length).toBeGreaterThan(50)
    expect(ours.filter((file) => floorOf(file) === -1)).toEqual([])
    const loose = ours.filter((file) => roomOf(file) === null).map((file) => file.replace(/\.ts$/, ''))
    expect(loose.sort()).toEqual(DOORS.filter((door) => roomOf(door) === null).sort())
  })

  test('import only from the rooms below', () => {
    const upward = inner.filter(({ from, to }) => floorOf(to) > floorOf(from))
    expect(upward.map(named)).toEqual([])
  })

  test('are entered through the doors alone', () => {
    const past = imports.filter(
      ({ from, to }) => isProduct(from) && !isInside(from) && isInside(to) && !DOORS.includes(to.replace(/\.ts$/, '')),
    )
    expect(past.map(named)).toEqual([])
  })

  test(`make no chain of more than ${LONGEST_CHAIN} files`, () => {
    const next = new Map<string, string[]>()
    for (const { from, to } of inner) next.set(from, [...(next.get(from) ?? []), to.endsWith('.ts') ? to : `${to}.ts`])
    const known = new Map<string, string[]>()
    const longest = (file: string): string[] => {
      const found = known.get(file)
      if (found) return found
      const below = (next.get(file) ?? []).map(longest).sort((a, b) => b.length - a.length)[0] ?? []
      const chain = [file, ...below]
      known.set(file, chain)
      return chain
    }
    const tooLong = [...next.keys()].map(longest).filter((chain) => chain.length > LONGEST_CHAIN)
    expect(tooLong.map((chain) => chain.join(' > '))).toEqual([])
  })
})
