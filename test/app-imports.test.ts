import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'app'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.tsx?$/.test(file) && existsSync(file))
const known = new Set(files)

/** What each file imports of `app`: values, types, and what it loads later. */
const imports = new Map(files.map((file) => [file, importsOf(file)]))

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const named = text.matchAll(/from\s+'([^']+)'|import\(\s*'([^']+)'|\nimport\s+'([^']+)'|new URL\('(\.[^']+)'/g)
  return [...named].flatMap((match) => {
    const name = match.slice(1).find((part) => part !== undefined) ?? ''
    const path = name.startsWith('.') ? normalize(join(dirname(file), name)) : name.replace(/^@\//, '')
    return [path, `${path}.ts`, `${path}.tsx`].filter((candidate) => known.has(candidate))
  })
}

/** The files on an import circle with the given one, in the order they import each other. */
function circleFrom(start: string): string[] | null {
  const cameFrom = new Map<string, string>()
  const open = [start]
  for (let file = open.shift(); file !== undefined; file = open.shift()) {
    for (const next of imports.get(file) ?? []) {
      if (next === start) {
        const path = [file]
        for (let at = cameFrom.get(file); at !== undefined; at = cameFrom.get(at)) path.unshift(at)
        return path
      }
      if (cameFrom.has(next)) continue
      cameFrom.set(next, file)
      open.push(next)
    }
  }
  return null
}

test('no file of app imports itself through others', () => {
  expect(files.flatMap((file) => circleFrom(file) ?? [])).toEqual([])
})

/** The rooms of the workflow editor, from the ground up: each may import only from rooms on lower floors. */
const EDITOR = 'app/(dashboard)/[tenant]/workflows/[id]/'
const FLOORS = [
  ['model'],
  ['parts', 'draft'],
  ['actions', 'widgets'],
  ['canvas', 'views', 'inspector', 'panels', 'dialogs'],
  ['editor'],
]

describe('the rooms of the workflow editor', () => {
  const roomOf = (file: string) => /^[^/]+(?=\/)/.exec(file.slice(EDITOR.length))?.[0] ?? null
  const floorOf = (file: string) => {
    const room = roomOf(file)
    return room === null ? FLOORS.length : FLOORS.findIndex((floor) => floor.includes(room))
  }
  const ours = files.filter((file) => file.startsWith(EDITOR))

  test('hold every file but those that Next looks for', () => {
    expect(ours.filter((file) => floorOf(file) === -1)).toEqual([])
    expect(ours.filter((file) => roomOf(file) === null && !/\/(page|loading|error)\.tsx$/.test(file))).toEqual([])
  })

  test('import only from the floors below', () => {
    const upward = ours.flatMap((file) =>
      (imports.get(file) ?? [])
        .filter((to) => to.startsWith(EDITOR) && roomOf(to) !== roomOf(file) && floorOf(to) >= floorOf(file))
        .map((to) => `${file} -> ${to}`),
    )
    expect(upward).toEqual([])
  })
})
