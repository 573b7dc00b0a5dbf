import type { BrowserContext, Page } from '@playwright/test'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'

// The browser's network goes before a screen's code is there. `test/architecture.test.ts` says that all code that is
// loaded on demand behaves like the code here.

const notice = (page: Page) => page.getByText(/^No network connection/)
const broken = (page: Page) => page.getByText(/went wrong on our side|could not be (loaded|shown)/)

/** Opens something without a network. Only that says so, and offers to try again. */
async function openOffline(context: BrowserContext, page: Page, open: () => Promise<unknown>): Promise<void> {
  await context.setOffline(true)
  await open()
  await expect(notice(page).first()).toBeVisible()
  await expect(page.getByRole('button', { name: 'Try again' }).first()).toBeVisible()
  await expect(broken(page)).toHaveCount(0)
}

async function backOnline(context: BrowserContext, page: Page): Promise<void> {
  await context.setOffline(false)
  await expect(notice(page)).toHaveCount(0)
  await expect(broken(page)).toHaveCount(0)
}

test('a view of the editor waits in its place, and what was typed beside it stays', async ({
  context,
  page,
  workspace,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/workflows/${approval}?step=order`)
  const name = page.getByLabel('Name', { exact: true }).first()
  await expect(page.getByLabel('Id', { exact: true })).toHaveValue('order')
  await openOffline(context, page, async () => {
    await name.fill('Typed without a network')
    await page.getByText('Outline', { exact: true }).click()
  })
  await expect(page.getByText('This part appears when the connection is back.')).toBeVisible()
  await expect(name).toHaveValue('Typed without a network')
  await backOnline(context, page)
  await expect(
    page
      .getByRole('tree')
      .or(page.getByRole('list', { name: /outline|steps/i }))
      .first(),
  ).toBeVisible()
  await expect(name).toHaveValue('Typed without a network')
})

test('a dialog opens as soon as the network is back, without a click', async ({ context, page, workspace }) => {
  await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/schedules`)
  await openOffline(context, page, () => page.getByRole('button', { name: 'New schedule' }).first().click())
  await expect(page.getByText('The dialog opens when the connection is back.')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Schedules', level: 1 })).toBeVisible()
  await backOnline(context, page)
  await expect(page.getByRole('dialog')).toBeVisible()
})

test('without an event of the browser, the code is found again by trying', async ({ page, workspace }) => {
  await page.goto(`/${workspace.slug}`)
  // The service is away, but not the network.
  await page.route(/\/_next\/static\/|\/icon\.svg/, (route) => route.abort())
  await page.keyboard.press('ControlOrMeta+k')
  await expect(page.getByText('The dialog opens when the connection is back.')).toBeVisible()
  await page.unroute(/\/_next\/static\/|\/icon\.svg/)
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await expect(notice(page)).toHaveCount(0)
})

test('a page that is not loaded yet waits, and the one before it keeps what was typed', async ({
  context,
  page,
  workspace,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox`)
  await page.getByRole('button', { name: /The order.*Okafor/ }).click()
  const article = page.getByLabel(/^Article/)
  await article.fill('AX-210')
  await openOffline(context, page, () =>
    page.getByRole('navigation').getByRole('link', { name: 'Agents' }).first().click(),
  )
  await expect(article).toHaveValue('AX-210')
  await backOnline(context, page)
  await expect(page.getByRole('heading', { name: 'Agents', level: 1 })).toBeVisible()
  await page.goBack()
  await expect(article).toHaveValue('AX-210')
})

test('a page whose code was lost on the way appears when the network is back', async ({ page, workspace }) => {
  await page.goto(`/${workspace.slug}`)
  await page.route(/\/_next\/static\/|\/icon\.svg/, (route) => route.abort())
  await page.getByRole('navigation').getByRole('link', { name: 'Tools' }).first().click()
  await expect(page.getByRole('heading', { name: 'No network connection' })).toBeVisible()
  await expect(page.getByRole('navigation').getByRole('link', { name: 'Tools' }).first()).toBeVisible()
  await expect(broken(page)).toHaveCount(0)
  await page.unroute(/\/_next\/static\/|\/icon\.svg/)
  await expect(page.getByRole('heading', { name: 'Tools', level: 1 })).toBeVisible()
  await expect(broken(page)).toHaveCount(0)
})

test('a part whose code is gone says so in its place, and the screen stays', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/workflows/${approval}?step=order`)
  await expect(page.getByLabel('Id', { exact: true })).toHaveValue('order')
  await page.route(/\/_next\/static\//, (route) => route.fulfill({ status: 404, body: '' }))
  await page.getByText('Outline', { exact: true }).click()
  await expect(page.getByText('This part could not be loaded.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Reload' })).toBeVisible()
  await expect(page.getByLabel('Id', { exact: true })).toHaveValue('order')
})
