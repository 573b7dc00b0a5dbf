import type { Page } from '@playwright/test'
import type { RunOptions } from 'axe-core'
import { getWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { sampled } from '../support/sample.mjs'
import { violationsOf } from './support/axe'
import { LOADS } from './support/calls'
import { newCompany } from './support/company'
import { DIALOGS } from './support/dialogs'
import { test as base, expect } from './support/fixture'
import { type Furnished, furnish } from './support/furnish'
import { ELSEWHERE, INSIDE, OUTSIDE, pages } from './support/routes'
import { go, newTour, type Tour } from './support/tour'
import { newPerson, newWorkspace, signIn, type Workspace } from './support/workspace'

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** Most operations and schemas of the reference. They all look alike, and axe would take minutes for all of them. */
const ALIKE_IN_REFERENCE = 'main section section:not(:nth-of-type(16n + 1))'
/** Rules that depend on the theme. */
const OF_COLOUR = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } satisfies RunOptions['runOnly']
const WIDE = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }
interface Look {
  size: typeof WIDE
  theme: 'light' | 'dark'
  rules: RunOptions['runOnly']
}
/**
 * How a page is checked: its content depends on the width but not on the theme, so all rules run once per width, and
 * those about colours in both themes. Each commit checks one look of each page; `SOAK=1` checks every one.
 */
const LOOKS: Look[] = [
  { size: WIDE, theme: 'light', rules: RULES },
  { size: WIDE, theme: 'dark', rules: OF_COLOUR },
  { size: PHONE, theme: 'dark', rules: RULES },
]
/** With `SOAK=1`. */
const EVERY_LOOK: Look[] = [WIDE, PHONE].flatMap((size) => [
  { size, theme: 'light', rules: RULES },
  { size, theme: 'dark', rules: RULES },
])
/** How a state of a page is checked that differs little from the page itself. */
const LOOKS_OF_STATE: Look[] = [
  { size: WIDE, theme: 'light', rules: RULES },
  { size: PHONE, theme: 'dark', rules: OF_COLOUR },
]

const test = base.extend<object, { tour: Tour }>({ tour: [newTour, { scope: 'worker' }] })

let furnished: Promise<{ workspace: Workspace; made: Furnished }> | undefined
/** Shared by all tests of this process, because none changes it. */
function filled() {
  furnished ??= newWorkspace().then(async (workspace) => ({ workspace, made: await furnish(workspace) }))
  return furnished
}

/**
 * Checks the page in both themes and widths: axe must find nothing, and it must not scroll sideways.
 * @param how.without a selector of elements that axe skips
 */
async function look(
  page: Page,
  state: string,
  { looks = LOOKS_OF_STATE, without }: { looks?: Look[]; without?: string | undefined } = {},
): Promise<void> {
  for (const { size, theme, rules } of process.env.SOAK ? EVERY_LOOK : looks) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await still(page, theme)
    const at = `${state}, ${theme}, ${size.width}`
    expect.soft(await violationsOf(page, rules, without), at).toEqual([])
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect.soft(wide, `${at} scrolls sideways`).toBeLessThanOrEqual(0)
  }
  await page.setViewportSize(WIDE)
}

/** Waits until nothing is loading, the page has its title and the theme (if a script sets it), and nothing moves. */
async function still(page: Page, theme: 'light' | 'dark'): Promise<void> {
  const isStill = (theme: string) =>
    !document.querySelector('.mantine-Skeleton-root, [data-loading="true"]') &&
    document.title !== '' &&
    (document.documentElement.dataset.mantineColorScheme ?? theme) === theme &&
    document.getAnimations().every((animation) => animation.playState !== 'running')
  await page.waitForFunction(isStill, theme, { polling: 50 })
}

test('every page has a case here', () => {
  const cases = [...Object.keys(INSIDE), ...Object.keys(OUTSIDE), ...ELSEWHERE]
  expect(pages().filter((path) => !cases.includes(path))).toEqual([])
  expect(cases.filter((path) => !pages().includes(path))).toEqual([])
})

for (const [nth, [path, seen]] of Object.entries(INSIDE).entries()) {
  test(`${path} is accessible with content`, async ({ tour, trouble }) => {
    test.slow()
    const { workspace, made } = await filled()
    await tour.begin(workspace, trouble)
    const [first = '', ...others] = seen(workspace.slug, made)
    await go(tour.page, first)
    await look(tour.page, first, { looks: sampled(LOOKS, LOOKS.length, nth) })
    for (const address of sampled(others, 3, nth)) {
      await go(tour.page, address)
      await look(tour.page, address)
    }
  })
}

for (const [nth, [path, seen]] of Object.entries(OUTSIDE).entries()) {
  test(`${path} is accessible`, async ({ browserOf }) => {
    test.slow()
    const { workspace, made } = await filled()
    const page = await browserOf('nobody')
    for (const address of seen(workspace.slug, made)) {
      const answer = await page.goto(address)
      expect(answer?.status(), address).toBeLessThan(500)
      await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
      const looks = sampled(LOOKS, LOOKS.length, nth)
      await look(page, address, { looks, without: address === '/reference' ? ALIKE_IN_REFERENCE : undefined })
    }
  })
}

const LISTS = [
  '',
  '/start',
  '/workflows',
  '/runs',
  '/inbox',
  '/schedules',
  '/inbound-webhooks',
  '/agents',
  '/tools',
  '/settings/signing-secrets',
  '/settings/vault',
  '/settings/webhooks',
  '/settings/groups',
  '/settings/audit?action=run.cancelled',
]

test('an empty workspace is accessible', async ({ page, workspace }) => {
  test.slow()
  for (const list of sampled(LISTS, 3)) {
    await go(page, `/${workspace.slug}${list}`)
    await look(page, `empty ${list}`)
  }
})

test('"not found" and "not allowed" screens are accessible', async ({ page, browserOf, workspace }) => {
  test.slow()
  const missing = ['/runs/run_none', '/workflows/wf_none', '/agents/agt_none', '/tools/tool_none', '/nowhere']
  for (const nothing of sampled(missing, 3)) {
    await page.goto(`/${workspace.slug}${nothing}`)
    await expect(page.getByRole('heading').first()).toBeVisible()
    await look(page, nothing)
  }
  const viewer = await browserOf('viewer')
  const sections = ['api-keys', 'webhooks', 'vault', 'members', 'groups', 'workspace', 'audit']
  for (const closed of sampled(sections, 3).map((section) => `/settings/${section}`)) {
    await viewer.goto(`/${workspace.slug}${closed}`)
    await expect(viewer.getByRole('heading').first()).toBeVisible()
    await look(viewer, `${closed} for a viewer`)
  }
})

test('a list that fails to refresh says so with the request’s id, and keeps its rows', async ({ context, page }) => {
  test.slow()
  const { workspace } = await filled()
  await signIn(context, workspace.owner)
  for (const list of ['/workflows', '/runs', '/inbox']) {
    await page.goto(`/${workspace.slug}${list}`)
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
    const before = await page.getByText('Purchase approval').count()
    expect(before, list).toBeGreaterThan(0)
    await page.route('**/api/trpc/**', (route) => {
      const calls = decodeURIComponent(new URL(route.request().url()).pathname).split(',').length
      return route.fulfill({ status: 500, json: Array(calls).fill(FAILURE) })
    })
    // A person who returns to a tab reads again; otherwise the inbox waits for a notification.
    await expect(async () => {
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
      await expect(page.getByText('request-of-a-test').first(), list).toBeVisible({ timeout: 5_000 })
    }).toPass()
    expect(await page.getByText('Purchase approval').count(), `rows of ${list}`).toBeGreaterThan(0)
    await look(page, `${list} while it cannot be refreshed`)
    await page.unroute('**/api/trpc/**')
  }
})

const FAILURE = {
  error: {
    message: 'Internal server error',
    code: -32603,
    data: {
      code: 'INTERNAL_SERVER_ERROR',
      httpStatus: 500,
      error: { code: 'INTERNAL', message: 'Internal server error', details: [], requestId: 'request-of-a-test' },
    },
  },
}

for (const { what, at, first, opener, next, closer } of sampled(DIALOGS, 4)) {
  test(`the dialog of ${what} is accessible and returns the focus`, async ({ tour, trouble }) => {
    test.slow()
    const { workspace, made } = await filled()
    const { page } = tour
    await tour.begin(workspace, trouble)
    await go(page, `/${workspace.slug}${at(made)}`)
    const dialog = page.getByRole('dialog').first()
    const open = async () => {
      await first?.(page)
      await opener(page).click()
      await next?.(page)
      await expect(dialog).toBeVisible()
      await expect.poll(() => dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true)
    }
    const close = async () => {
      await page.keyboard.press('Escape')
      if (closer !== undefined) await dialog.getByRole('button', { name: closer }).click()
      await expect(dialog).toBeHidden()
    }
    await open()
    await look(page, what)
    await expect(dialog, 'still open after a change of width').toBeVisible()
    await close()
    // Again, because another width may have another opener.
    await go(page, `/${workspace.slug}${at(made)}`)
    await open()
    await close()
    await expect(opener(page)).toBeFocused()
  })
}

test('the dialog of a conflict is accessible, and returns the focus to the button that opens it again', async ({
  page,
  workspace,
}) => {
  test.slow()
  const { approval } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/workflows/${approval}?step=order`)
  await expect(page.getByLabel('Id', { exact: true })).toHaveValue('order')
  // An editor without unsaved changes checks for others' changes now and then; this one must not notice yet.
  await page.route(LOADS, (route) => route.abort())
  const { steps } = await getWorkflow(workspace.ctx, { id: approval })
  const renamed = steps.map((step) => (step.id === 'order' ? { ...step, name: 'As somebody else wants it' } : step))
  await updateWorkflow(workspace.ctx, { id: approval, body: { steps: renamed } as never })
  await page.getByLabel('Name', { exact: true }).first().fill('As Ada wants it')
  await page.keyboard.press('Tab')
  await page.unroute(LOADS)
  await page.keyboard.press('ControlOrMeta+s')
  const dialog = page.getByRole('dialog')
  // The specs' own calls are hers.
  await expect(dialog).toContainText('You saved other changes in another tab or browser')
  await look(page, 'a conflict')
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  const resolve = page.getByRole('button', { name: 'Resolve' })
  await resolve.click()
  await expect(dialog).toContainText('As somebody else wants it')
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await expect(resolve).toBeFocused()
})

test('the dialog of changing one’s own role is accessible and returns the focus', async ({ page, workspace }) => {
  test.slow()
  // A workspace's only owner stays one.
  await newPerson(workspace.ctx, 'owner', 'Grace Hopper')
  await page.goto(`/${workspace.slug}/settings/members`)
  const role = page.getByRole('combobox', { name: 'Role of Ada Lovelace' })
  await role.focus()
  await role.selectOption('admin')
  const dialog = page.getByRole('dialog', { name: 'Change your own role' })
  await expect(dialog.getByRole('button', { name: 'Become admin' })).toBeVisible()
  await look(page, 'changing one’s own role')
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await expect(role).toBeFocused()
  await expect(role).toHaveValue('owner')
})

test('the search box and the shortcut list are accessible', async ({ page, workspace }) => {
  await page.goto(`/${workspace.slug}/workflows`)
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
  // Keys work only after the page's script has loaded, which is not visible.
  await expect(async () => {
    await page.keyboard.press('ControlOrMeta+k')
    await expect(page.getByRole('dialog').first()).toBeVisible({ timeout: 5_000 })
  }).toPass()
  await look(page, 'search box')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog').first()).toBeVisible()
  await look(page, 'list of keys')
})
