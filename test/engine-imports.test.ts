import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const folder = 'inngest/engine'

/** What each file of the engine imports of the engine, types included. */
const imports = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8')
      return [file, [...text.matchAll(/from '\.\/([\w-]+)'/g)].map((found) => `${found[1]}.ts`)] as const
    }),
)

function circleFrom(start: string, at = start, path: string[] = []): string[] | undefined {
  for (const next of imports.get(at) ?? []) {
    if (next === start) return [...path, at, start]
    if (path.includes(next) || next === at) continue
    const found = circleFrom(start, next, [...path, at])
    if (found) return found
  }
  return undefined
}

test('no file of the engine imports itself by way of others', () => {
  expect(imports.size).toBeGreaterThan(20)
  expect([...imports.keys()].map((file) => circleFrom(file)?.join(' -> ')).filter(Boolean)).toEqual([])
})
