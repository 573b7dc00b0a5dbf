import { execFileSync } from 'node:child_process'
import type { Page } from '@playwright/test'
import { createTool } from '@/server/tools/lifecycle'
import { startService } from '@/test/support/service'
import { newCompany } from './support/company'
import { expect, test, watch } from './support/fixture'
import { saved } from './support/saved'

interface Caller {
  url: string
  apiKey: string
  tenantId: string
}

/** Starts a run as a customer's server would. */
function startByCurl({ url, apiKey, tenantId }: Caller, workflowId: string): string {
  const headers = [`x-api-key: ${apiKey}`, `x-tenant-id: ${tenantId}`, 'content-type: application/json']
  const answer = execFileSync('curl', [
    ...['-s', '-X', 'POST', `${url}/api/workflow/start-async/${workflowId}`, '-d', '{}'],
    ...headers.flatMap((header) => ['-H', header]),
  ])
  return (JSON.parse(answer.toString()) as { runId: string }).runId
}

const workflowIn = (page: Page) => /\/workflows\/([^/?]+)/.exec(page.url())?.[1] ?? ''

test('from the first visit to a completed run, by mouse', async ({ browser, trouble }) => {
  test.setTimeout(240_000)
  const service = await startService({ env: { LOG_LEVEL: 'warn' } })
  const context = await browser.newContext({ baseURL: service.url, viewport: { width: 1440, height: 900 } })
  try {
    const page = await context.newPage()
    watch(page, trouble)
    // The first visit leads to set-up, and on to a workspace.
    await page.goto('/')
    await expect(page).toHaveURL(/\/setup$/)
    await page.getByLabel('Your name').fill('Ada Lovelace')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByRole('textbox', { name: 'Password' }).fill('a-long-enough-password')
    await page.getByLabel('Workspace name').fill('Northwind Supply')
    await page.getByRole('button', { name: 'Create workspace' }).click()
    await expect(page).toHaveURL(/\/northwind-supply/)
    expect((await page.request.get('/setup')).status(), 'the set-up, once there is an owner').toBe(404)

    // Draw four steps.
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Workflows' }).click()
    await page.getByRole('button', { name: 'New workflow' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill('Delivery')
    await page.getByRole('dialog').getByRole('button', { name: 'Create and open' }).click()
    await page.getByRole('button', { name: 'Collect inputs' }).click()
    for (const type of ['Request a decision', 'Call a tool', 'End']) {
      await page.getByRole('button', { name: 'Add step', exact: true }).click()
      await page
        .getByRole('dialog')
        .getByRole('option', { name: new RegExp(`^${type}`) })
        .click()
      await expect(page.getByRole('dialog')).toHaveCount(0)
      if (type !== 'Call a tool') continue
      await page.getByRole('combobox', { name: 'Tool' }).click()
      await page.getByRole('option', { name: /^Greet/ }).click()
      // A step is named after its tool until a person names it.
      await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue(/^Greet/)
      await page.getByRole('group', { name: 'Arguments' }).getByLabel(/^name/).fill('Ada')
    }
    await saved(page)
    const workflowId = workflowIn(page)
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Publish v/ })
      .click()
    await expect(page.getByText(/v\d+ published/).first()).toBeVisible()

    // A run pauses, and a person answers.
    const runId = startByCurl(service, workflowId)
    await page.goto('/northwind-supply/inbox')
    await answerBoth(page)
    await page.goto(`/r/${runId}`)
    await expect(page).toHaveURL(new RegExp(`/northwind-supply/runs/${runId}`))
    await expect(page.getByRole('main')).toContainText(/Completed\s*after/)
  } finally {
    await context.close()
    await service.stop()
  }
})

async function answerBoth(page: Page): Promise<void> {
  const queue = page.getByRole('main')
  await queue.getByText('Delivery').first().click()
  await queue.getByLabel('answer').fill('Ground floor')
  await queue.getByRole('button', { name: 'Submit' }).click()
  // The run's next task appears in the queue.
  await queue.getByRole('button', { name: /^Request a decision/ }).click()
  await queue.getByRole('button', { name: 'Approve' }).click()
}

test('from an empty canvas to a completed run, with the keyboard alone', async ({ page, workspace }) => {
  test.setTimeout(180_000)
  await newCompany(workspace.ctx)
  await createTool(workspace.ctx, { name: 'Greet', kind: 'script', config: { code: "return 'Good day'" } })
  // Using the mouse anywhere would be a mistake in this test.
  const press = (...keys: string[]) =>
    keys.reduce((done, key) => done.then(() => page.keyboard.press(key)), Promise.resolve())
  await page.goto(`/${workspace.slug}/workflows`)
  await expect(page.getByRole('heading', { name: 'Workflows', exact: true })).toBeVisible()
  // Keys work only after the page's script has loaded, which is not visible.
  await expect(async () => {
    if ((await page.getByRole('dialog').count()) === 0) await press('c')
    await expect(page.getByRole('dialog')).toBeVisible({ timeout: 5_000 })
  }).toPass()
  await expect(page.getByRole('dialog').getByLabel('Name')).toBeFocused()
  await page.keyboard.type('Delivery')
  await press('Enter')
  await expect(page).toHaveURL(/\/workflows\/wf_/)
  await expect(page.getByRole('button', { name: 'Add first step' })).toBeVisible()
  await tabTo(page, 'Add first step')
  await press('Enter')
  for (const type of ['collect-inputs', 'request-user-action', 'call-tool', 'end-flow']) {
    await expect(page.getByRole('combobox', { name: 'Search step types' })).toBeFocused()
    await page.keyboard.type(type)
    await press('Enter')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    // The dialog returns the focus to its previous place; the new step takes it a moment later.
    await expect(page.locator('.react-flow__node:focus')).toHaveAttribute('data-id', type.replaceAll('-', '_'))
    if (type === 'end-flow') break
    await toGraph(page)
    await press('a')
  }
  // Set the third step's tool in its form.
  await toGraph(page)
  await press('ArrowUp', 'Enter')
  await tabTo(page, 'Tool')
  await page.keyboard.type('Greet')
  await expect(page.getByRole('option', { name: /^Greet/ })).toBeVisible()
  await press('ArrowDown', 'Enter')
  await expect(page.getByRole('combobox', { name: 'Tool' })).toHaveValue(/^Greet/)
  await press('Control+s')
  await saved(page)
  const workflowId = workflowIn(page)
  await tabTo(page, 'Publish')
  await press('Enter')
  await expect(page.getByRole('dialog').getByRole('button', { name: /^Publish v/ })).toBeVisible()
  await tabTo(page, /^Publish v\d+$/)
  await press('Enter')
  await expect(page.getByText(/v\d+ published/).first()).toBeVisible()

  const { tenantId, apiKey } = workspace
  const runId = startByCurl({ url: process.env.BASE_URL ?? '', tenantId, apiKey }, workflowId)
  await press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await press('g', 'i')
  await expect(page).toHaveURL(/\/inbox/)
  await expect(page.getByRole('button', { name: /^Collect inputs/ })).toBeVisible()
  await press('j')
  await expect(page.getByLabel('answer')).toBeFocused()
  await page.keyboard.type('Ground floor')
  await press('Control+Enter')
  await expect(page.getByRole('button', { name: /^Request a decision/ })).toBeVisible()
  await press('Escape', 'j')
  await expect(page.getByRole('button', { name: 'Approve' })).toBeVisible()
  await tabTo(page, 'Approve')
  await press('Enter')
  await page.goto(`/r/${runId}`)
  await expect(page.getByText('Completed').first()).toBeVisible()
})

/** Presses Tab until a control with this name has the focus. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    const focused = await page.evaluate(() => {
      const element = document.activeElement
      if (!element || element === document.body) return ''
      const label = (element as HTMLInputElement).labels?.[0]?.textContent
      return element.getAttribute('aria-label') ?? label ?? element.textContent ?? ''
    })
    const called = focused.replace(/[*\s]+$/, '').trim()
    if (typeof name === 'string' ? called === name : name.test(called)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`No control named ${name} was come to with the Tab key.`)
}

/** Presses Tab until the graph has the focus: a single stop for all its steps. */
async function toGraph(page: Page): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if (await page.evaluate(() => document.activeElement?.closest('.react-flow') != null)) return
    await page.keyboard.press('Tab')
  }
  throw new Error('The graph was not come to with the Tab key.')
}
