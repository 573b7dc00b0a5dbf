import { describe, expect, test } from 'vitest'
import { files, imports } from './support/imports'

/**
 * The rooms of `server`, top to bottom: a room imports only from rooms below it, types included. `.` stands for the
 * loose files. docs/journeys.md shows how calls pass through them.
 */
const FLOORS = [
  'trpc',
  'rest',
  'mcp',
  'typed-api',
  'metrics',
  'subjects',
  'views',
  'live',
  'members',
  'tenants',
  'credentials',
  'audit-log',
  'webhooks',
  'mail',
  'as-code',
  'schedules',
  'inbound',
  'events',
  'links',
  'talk',
  'runs',
  'workflows',
  'interpreter',
  'run-store',
  'steps',
  'agents',
  'tools',
  'models',
  'versioned',
  'vault',
  'audit',
  'files',
  'account',
  'openapi',
  'auth',
  'http',
  'net',
  'query',
  'telemetry',
  'host',
  'help',
  '.',
  'definition',
]

const known = new Set(files)

/** The file that an import refers to; null for a package. */
function target(to: string, ours: boolean): string | null {
  if (!ours) return null
  return (
    ['', '.ts', '.tsx', '.mjs', '/index.ts'].map((ending) => `${to}${ending}`).find((file) => known.has(file)) ?? null
  )
}

const edges = imports.flatMap(({ from, to, ours }) => {
  const file = target(to, ours)
  return file === null ? [] : [{ from, to: file }]
})

/** The room of a file in `server`; null for any other file. */
function roomOf(file: string): string | null {
  const [top, room, rest] = file.split('/')
  if (top !== 'server' || room === undefined) return null
  return rest === undefined ? '.' : room
}

describe('the floors of server', () => {
  test('every room is listed', () => {
    const rooms = new Set(files.map(roomOf).filter((room) => room !== null))
    expect([...rooms].sort()).toEqual([...FLOORS].sort())
  })

  test('a room imports only from the floors below it', () => {
    const up = edges.filter(({ from, to }) => {
      const [above, below] = [roomOf(from), roomOf(to)]
      return above !== null && below !== null && FLOORS.indexOf(below) < FLOORS.indexOf(above)
    })
    expect(up.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })
})

test('no file imports itself through others', () => {
  const next = new Map<string, string[]>()
  for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to])
  expect(circles([...next.keys()], (file) => next.get(file) ?? [])).toEqual([])
})

/** Groups of files that reach each other (Tarjan's strongly connected components), each sorted. */
function circles(nodes: string[], next: (node: string) => string[]): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (node: string): number => {
    const at = index.size
    index.set(node, at)
    low.set(node, at)
    stack.push(node)
    for (const other of next(node)) {
      if (!index.has(other)) low.set(node, Math.min(low.get(node) ?? at, visit(other)))
      else if (stack.includes(other)) low.set(node, Math.min(low.get(node) ?? at, index.get(other) ?? at))
    }
    const lowest = low.get(node) ?? at
    if (lowest === at) {
      const group = stack.splice(stack.indexOf(node))
      if (group.length > 1 || next(node).includes(node)) found.push(group.sort())
    }
    return lowest
  }
  for (const node of nodes) if (!index.has(node)) visit(node)
  return found.sort()
}
