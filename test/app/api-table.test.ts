import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { RouteHandler } from '@/server/rest/route'
import { ROUTES } from '@/server/rest/routes'

/** Those of other protocols, and the one for unknown paths. */
const NEXT_ONLY = /^app\/api\/(auth|inngest|trpc|\[\[\.\.\.path\]\])\//

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'app/api'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file.endsWith('/route.ts') && !NEXT_ONLY.test(file))

test('the routes of the API are those of the route files of REST, method by method', async () => {
  expect(files.length).toBeGreaterThan(40)
  const folder = (file: string) => file.replace(/^app|\/route\.ts$/g, '')
  expect(Object.keys(ROUTES).sort()).toEqual(files.map(folder).sort())
  for (const file of files) {
    const { GET, OPTIONS } = await import(`../../${file}`)
    // The label under which its requests are counted. A path would let callers grow the labels.
    expect(GET.route, file).toBe(folder(file))
    const listed = ROUTES[folder(file)]?.OPTIONS
    expect(await allowed(OPTIONS), file).toBe(await allowed(listed))
  }
})

/** The methods that a path announces. */
async function allowed(options: RouteHandler | undefined): Promise<string | null | undefined> {
  const response = await options?.(new Request('http://localhost/', { method: 'OPTIONS' }), {
    params: Promise.resolve({}),
  })
  return response?.headers.get('allow')
}
