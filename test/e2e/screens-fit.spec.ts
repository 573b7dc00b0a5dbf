import type { Page } from '@playwright/test'
import { sampled } from '../support/sample.mjs'
import { newCompany } from './support/company'
import { expect, loaded, test } from './support/fixture'
import { type Furnished, furnish } from './support/furnish'
import { INSIDE, OUTSIDE, type Seen } from './support/routes'
import { reached, resumeRun, startRun } from './support/runs'
import { newWorkspace, signIn, type Workspace } from './support/workspace'

/**
 * Each layout is checked at its narrowest width, and with `SOAK=1` also in between. Each commit checks a third of the
 * screens.
 */
const WIDTHS = process.env.SOAK
  ? [1920, 1440, 1280, 1152, 1024, 900, 768, 600, 390, 360]
  : [1440, 1280, 1024, 900, 768, 360]

let furnished: Promise<{ workspace: Workspace; made: Furnished }> | undefined
/** Shared by all tests of this process that change nothing. */
function filled() {
  furnished ??= newWorkspace().then(async (workspace) => ({ workspace, made: await furnish(workspace) }))
  return furnished
}

/**
 * Pages on which people work on runs, and the other pages of a workspace: two halves, so that two workers share them.
 */
const isOfRuns = (path: string) => /^\/\[tenant\](\/(runs|inbox|insights|workflows)(\/|$)|$)/.test(path)
const HALVES = [
  { name: 'of workflows and runs', routes: routesWhere(isOfRuns) },
  { name: 'of everything else in a workspace', routes: routesWhere((path) => !isOfRuns(path)) },
]

function routesWhere(chosen: (path: string) => boolean): Seen[] {
  return Object.entries(INSIDE).flatMap(([path, seen]) => (chosen(path) ? [seen] : []))
}

for (const { name, routes } of HALVES) {
  test(`no screen ${name} scrolls sideways or cuts off a column, from 360 to 1920 px`, async ({ page, workspace }) => {
    test.slow()
    const made = await furnish(workspace)
    const runId = await startRun(workspace, made.approval, { customer: 'A'.repeat(180) })
    await reached(workspace, runId, ({ status }) => status === 'paused')
    const long = [`/runs/${runId}`, `/inbox?task=${encodeURIComponent(`${runId}:main:order#1`)}`]
    const screens = [
      ...routes.flatMap((seen) => seen(workspace.slug, made)),
      ...(routes === HALVES[0]?.routes ? long.map((path) => `/${workspace.slug}${path}`) : []),
    ]
    for (const screen of sampled(screens, 3)) await expectToFit(page, screen)
  })
}

test('no screen outside of a workspace scrolls sideways or cuts off a column, from 360 to 1920 px', async ({
  browserOf,
}) => {
  test.slow()
  const { workspace, made } = await filled()
  const page = await browserOf('nobody')
  const screens = Object.values(OUTSIDE).flatMap((seen) => seen(workspace.slug, made))
  for (const screen of sampled(screens, 3)) await expectToFit(page, screen)
})

async function expectToFit(page: Page, screen: string): Promise<void> {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(screen)
  await loaded(page)
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    const out = await page.evaluate(() => {
      const beyond = [...document.querySelectorAll('main table, main section, main td, main header')]
        // Excludes content for screen readers, and boxes that scroll by themselves.
        .filter((element) => !element.closest('.visually-hidden, section[tabindex="0"]'))
        .filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1)
        .map((element) => `${element.tagName} ${element.className} ${element.textContent?.slice(0, 40)}`)
      const sideways = document.documentElement.scrollWidth - window.innerWidth
      return [...(sideways > 0 ? [`scrolls by ${sideways}`] : []), ...beyond.slice(0, 3)]
    })
    expect.soft(out, `${screen} at ${width}`).toEqual([])
  }
}

interface Shift extends PerformanceEntry {
  value: number
  hadRecentInput: boolean
  sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[]
}
interface Moved {
  by: number
  what: string[]
}

/** The first view of each page, and views that load other data. */
function loadedScreens(slug: string, made: Furnished): string[] {
  const { approval, asking, deciding, failed, completed, agent, stock } = made
  const first = Object.values(INSIDE).flatMap((seen) => seen(slug, made).slice(0, 1))
  const runs = [asking, deciding, failed, completed].map((runId) => `/runs/${runId}`)
  const others = [
    `/inbox?task=${encodeURIComponent(`${deciding}:main:decision#1`)}`,
    `/workflows/${approval}?step=decision`,
    `/agents/${agent}?tab=compare`,
    `/tools/${stock}?tab=test`,
  ]
  return [...new Set([...first, ...[...runs, ...others].map((path) => `/${slug}${path}`)])]
}

// One test for each width, so that two workers share them.
for (const width of [1440, 390]) {
  test(`nothing moves while a screen loads, at ${width} px`, async ({ page, context, browserOf }) => {
    test.slow()
    const { workspace, made } = await filled()
    await signIn(context, workspace.owner)
    await watchShifts(page)
    await page.setViewportSize({ width, height: 900 })
    for (const screen of sampled(loadedScreens(workspace.slug, made), 3)) await expectStill(page, screen)
    const outside = await browserOf('nobody')
    await watchShifts(outside)
    await outside.setViewportSize({ width, height: 900 })
    for (const seen of sampled(Object.values(OUTSIDE), 3)) {
      const [screen = ''] = seen(workspace.slug, made)
      await expectStill(outside, screen)
    }
  })
}

test.describe('far from the server', () => {
  test.use({ timezoneId: 'Asia/Kolkata' })

  test('the page of a run stands still at 390 px, because the server writes times in the zone of the browser', async ({
    page,
    context,
  }) => {
    const { workspace, made } = await filled()
    await signIn(context, workspace.owner)
    await watchShifts(page)
    await page.setViewportSize({ width: 390, height: 900 })
    // Any first page reports the browser's time zone to the server.
    await page.goto(`/${workspace.slug}/settings/account`)
    for (const runId of [made.asking, made.deciding, made.failed, made.completed])
      await expectStill(page, `/${workspace.slug}/runs/${runId}`)
  })
})

async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const moved = { by: 0, what: [] as string[] }
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as Shift[]) {
        if (entry.hadRecentInput) continue
        moved.by += entry.value
        for (const { node, previousRect, currentRect } of entry.sources)
          moved.what.push(
            `${node?.nodeName} "${node?.textContent?.slice(0, 40)}" from ${previousRect.y}+${previousRect.height} to ${currentRect.y}+${currentRect.height}`,
          )
      }
    }).observe({ type: 'layout-shift', buffered: true })
    Object.assign(window, { moved })
  })
}

async function expectStill(page: Page, screen: string): Promise<void> {
  await page.goto(screen)
  await loaded(page)
  await page.waitForTimeout(500)
  const { by, what } = await page.evaluate(() => (window as unknown as { moved: Moved }).moved)
  expect.soft(by, `${screen}: ${what.join(', ')}`).toBeLessThanOrEqual(0.02)
}

test('on a phone every place is reachable, and keys are not hinted at', async ({ page, workspace }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`/${workspace.slug}`)
  for (const place of ['Agents', 'Tools', 'Settings']) {
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: place }).click()
    await expect(page).toHaveURL(new RegExp(`/${place.toLowerCase()}`))
  }
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'API reference' }).click()
  await expect(page).toHaveURL(/\/reference/)
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByRole('button', { name: 'Submit' })).toBeVisible()
  await expect(page.locator('kbd:visible')).toHaveCount(0)
  await page.getByRole('button', { name: /^Account of/ }).click()
  await expect(page.getByRole('menuitem', { name: 'Preferences' })).toBeVisible()
  await expect(page.getByRole('menuitem', { name: 'Keyboard shortcuts' })).toHaveCount(0)
})

test('on a phone no key is hinted at in the inbox, in lists and in the editor', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const [form, decision] = [
    await startRun(workspace, approval, { customer: 'Okafor' }),
    await startRun(workspace, approval, { customer: 'Rossi' }),
  ]
  for (const runId of [form, decision]) await reached(workspace, runId, ({ status }) => status === 'paused')
  await resumeRun(workspace, decision, { type: 'collect_inputs', data: { article: 'AX-210', amount: 4 } })
  await reached(workspace, decision, ({ status, currentStepId }) => status === 'paused' && currentStepId === 'decision')
  const taskOf = (runId: string, step: string) => `/inbox?task=${encodeURIComponent(`${runId}:main:${step}#1`)}`
  const button = (name: string | RegExp) => page.getByRole('button', { name }).first()
  const search = (name: string) => page.getByLabel(name, { exact: true })
  const hints = page.locator('main').locator('kbd:visible, .with-keyboard:visible')
  for (const { address, shown, hinted } of [
    { address: taskOf(form, 'order'), shown: button('Submit'), hinted: true },
    { address: taskOf(decision, 'decision'), shown: button('Approve'), hinted: true },
    { address: '/inbox', shown: button(/The order.*Okafor/), hinted: true },
    { address: '/runs', shown: search('Search runs'), hinted: false },
    { address: '/workflows', shown: search('Search workflows'), hinted: true },
    { address: `/workflows/${approval}`, shown: button('Add step'), hinted: true },
    { address: `/workflows/${approval}?view=graph`, shown: button('Add step'), hinted: true },
  ]) {
    // They exist with a keyboard, so that their absence proves something.
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(`/${workspace.slug}${address}`)
    await expect(shown, address).toBeVisible()
    if (hinted) await expect(hints.first(), address).toBeVisible()
    await page.setViewportSize({ width: 390, height: 844 })
    await expect(shown, address).toBeVisible()
    await expect(page.locator('kbd:visible, .with-keyboard:visible'), address).toHaveCount(0)
  }
  // Nor in the dialog that adds a step after the chosen one.
  await page.goto(`/${workspace.slug}/workflows/${approval}?step=order`)
  // The address of a step opens its form.
  await expect(page.getByRole('dialog', { name: 'Step' }).getByLabel('Id', { exact: true })).toHaveValue('order')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await button('Add step').click()
  await expect(page.getByRole('dialog').getByRole('option', { name: /^Condition/ })).toBeVisible()
  await expect(page.locator('kbd:visible, .with-keyboard:visible')).toHaveCount(0)
})

test('on a phone the ways to begin a workflow fit beside each other', async ({ page, workspace }) => {
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(`/${workspace.slug}/workflows`)
  await page.getByRole('button', { name: 'Import JSON' }).click()
  const ways = page.getByRole('radiogroup', { name: 'How to begin' })
  await expect(ways.getByText('Import JSON')).toBeVisible()
  expect(await ways.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
})

test('on a phone the tools of the editor are one row, with a menu for those that have no room', async ({
  page,
  workspace,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  await page.setViewportSize({ width: 360, height: 740 })
  for (const view of ['outline', 'graph']) {
    await page.goto(`/${workspace.slug}/workflows/${approval}?view=${view}`)
    const more = page.getByRole('button', { name: 'More tools' })
    const [add, last] = [
      await page.getByRole('button', { name: 'Add step', exact: true }).boundingBox(),
      await more.boundingBox(),
    ]
    expect(Math.abs(middle(add) - middle(last)), view).toBeLessThan(4)
  }
  await page.getByRole('button', { name: 'More tools' }).click()
  for (const name of ['Redo', 'Tidy', 'Find a step', 'Simulate'])
    await expect(page.getByRole('menuitem', { name })).toBeVisible()
  await page.getByRole('menuitem', { name: /^Problems/ }).click()
  await expect(page.getByRole('dialog', { name: 'Problems' })).toBeVisible()
})

test('on a phone the filters of the inbox are behind a button, which counts those that are set', async ({
  page,
  workspace,
}) => {
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(`/${workspace.slug}/inbox?type=collect_inputs`)
  const filter = page.getByRole('button', { name: 'Filter (1)' })
  const workflow = page.getByRole('combobox', { name: 'Workflow' })
  await expect(filter).toBeVisible()
  await expect(workflow).toBeHidden()
  await filter.click()
  await expect(workflow).toBeVisible()
})

function middle(box: { y: number; height: number } | null): number {
  if (!box) throw new Error('[screens-fit] not on the screen')
  return box.y + box.height / 2
}

test('a missing page answers 404 in one frame, and does not offer a retry', async ({ page, workspace }) => {
  for (const link of ['/r/run_NONE', '/w/wf_none', '/task/run_NONE/step', '/invite/no-such-link', '/no-such-place']) {
    const answer = await page.goto(link)
    expect(answer?.status(), link).toBe(404)
    await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1)
    await expect(page.getByRole('main')).toHaveCount(1)
  }
  const nowhere = await page.goto(`/${workspace.slug}/no-such-page`)
  expect(nowhere?.status()).toBe(404)
  await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible()
  const ids = [
    '/workflows/wf_none',
    '/workflows/wf_none/runs',
    '/workflows/wf_none/insights',
    '/workflows/wf_none/settings',
  ]
  ids.push('/workflows/wf_none/versions', '/runs/run_NONE', '/tools/tool_none', '/inbox?task=run_NONE:main:a%231')
  for (const gone of ids) {
    await page.goto(`/${workspace.slug}${gone}`)
    await expect(page.getByRole('main')).toContainText(/not found|does not exist/i)
    await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0)
  }
})
