import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ROUTES } from '@/app/api/routes'

/** Those of other protocols, and the one for unknown paths. */
const NEXT_ONLY = /^app\/api\/(auth|inngest|trpc|\[\[\.\.\.path\]\])\//

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'app/api'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file.endsWith('/route.ts') && !NEXT_ONLY.test(file))
const table: Record<string, object> = ROUTES

test('the table of the API listener lists every route file of REST under its folder, and nothing else', async () => {
  expect(files.length).toBeGreaterThan(40)
  const folder = (file: string) => file.replace(/^app|\/route\.ts$/g, '')
  expect(Object.keys(table).sort()).toEqual(files.map(folder).sort())
  for (const file of files) {
    const { GET, POST } = await import(`../../${file}`)
    // Each route makes its own handlers, so equal ones come from the same file.
    expect(table[folder(file)], file).toMatchObject({ GET, POST })
    // What its requests are counted by. A path would let callers grow the labels.
    expect(GET.route, file).toBe(folder(file))
    expect([GET === (table[folder(file)] as { GET: unknown }).GET, file]).toEqual([true, file])
  }
})
