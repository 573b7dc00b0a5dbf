import { print } from '@/cli/print'
import { BUDGETS, SLACK } from './support/budgets'
import { firstLoad } from './support/first-load'
import { expect, test } from './support/fixture'
import { furnish } from './support/furnish'
import { INSIDE, OUTSIDE } from './support/routes'

test('no page initially loads more JavaScript than its budget', async ({ page, browserOf, workspace }) => {
  test.slow()
  const made = await furnish(workspace)
  const guest = await browserOf('nobody')
  const found: Record<string, number> = {}
  for (const [path, seen] of Object.entries({ ...OUTSIDE, ...INSIDE })) {
    const [address = ''] = seen(workspace.slug, made)
    found[path] = await firstLoad(path in OUTSIDE ? guest.request : page.request, address)
  }
  const lines = Object.entries(found).map(
    ([path, size]) => `${size.toFixed(1).padStart(8)} kB of ${BUDGETS[path] ?? '?'}  ${path}`,
  )
  print(['First load of JavaScript, gzip:', ...lines].join('\n'))
  expect(
    Object.keys(found).filter((path) => BUDGETS[path] === undefined),
    'pages without a budget',
  ).toEqual([])
  const over = Object.entries(found).filter(([path, size]) => size > (BUDGETS[path] ?? 0) * SLACK)
  expect(over.map(([path, size]) => `${path}: ${size.toFixed(1)} kB of ${BUDGETS[path]}`)).toEqual([])
})

test('no other page is requested until a person points at its link, moves the focus there or presses G', async ({
  page,
  workspace,
}) => {
  await furnish(workspace)
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (searchParams.has('_rsc')) asked.push(pathname)
  })
  await page.goto(`/${workspace.slug}/workflows`)
  await expect(page.getByRole('link', { name: 'Purchase approval' }).first()).toBeVisible()
  const link = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true })
  await link('Agents').hover()
  await expect.poll(() => asked).toContain(`/${workspace.slug}/agents`)
  await link('Tools').focus()
  await expect.poll(() => asked).toContain(`/${workspace.slug}/tools`)
  expect([...new Set(asked)].sort()).toEqual(['agents', 'tools'].map((name) => `/${workspace.slug}/${name}`))
  await page.keyboard.press('g')
  await expect.poll(() => asked).toContain(`/${workspace.slug}/schedules`)
})
