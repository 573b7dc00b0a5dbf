import { and, eq } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'
import { database, newPerson, PASSWORD, type Workspace } from './support/workspace'

async function newProcess({ ctx }: Workspace, more: object = {}): Promise<string> {
  const { id } = await createWorkflow(ctx, {
    name: 'Order a van',
    description: 'For deliveries to customers. Purchasing answers within two days.',
    payload: { article: { type: 'string', label: 'Article' }, rush: { type: 'boolean', label: 'Rush' } },
    steps: [
      { id: 'more', type: 'collect-inputs', title: 'Details of ${article}', output: { colour: { type: 'string' } } },
    ],
    ...more,
  } as never)
  await publishWorkflow(ctx, { id })
  return id
}

const runsOf = ({ tenantId }: Workspace, workflowId: string) =>
  database()
    .db.select()
    .from(runs)
    .where(and(eq(runs.tenantId, tenantId), eq(runs.workflowId, workflowId)))

test('an operator lands in the inbox, starts a workflow from its page, and continues with the first task', async ({
  browserOf,
  workspace,
}) => {
  await newCompany(workspace.ctx)
  const id = await newProcess(workspace)
  const operator = await newPerson(workspace.ctx, 'operator', 'Mary Jackson')
  const page = await browserOf('nobody')
  await page.goto('/')
  await page.getByLabel('Email').fill(operator.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page).toHaveURL(new RegExp(`/${workspace.slug}/inbox$`))

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Start' }).click()
  await page.getByLabel('Search what you may start').fill('deliveries')
  await expect(page.getByRole('list', { name: 'Workflows' }).getByRole('link')).toHaveCount(1)
  await page.getByRole('link', { name: /Order a van/ }).click()
  await expect(page).toHaveURL(new RegExp(`/start/${id}$`))
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Order a van')
  await expect(page.getByText('Purchasing answers within two days.')).toBeVisible()
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  await expect(page.getByText('Required')).toBeVisible()
  expect(await runsOf(workspace, id)).toHaveLength(0)
  await page.getByLabel('Article').fill('Van 7')
  // After a press without effect, the button ignores others for as long as a double-click may take.
  await page.waitForTimeout(600)
  await page.getByRole('button', { name: 'Start', exact: true }).dblclick({ delay: 40 })
  await expect(page.getByRole('heading', { name: 'It was started' })).toBeFocused()
  await expect(page.getByText('The next step is yours: Details of Van 7')).toBeVisible()
  expect(await runsOf(workspace, id)).toMatchObject([{ startedBy: operator.userId, startedVia: 'user' }])
  await page.getByRole('link', { name: 'Continue' }).click()
  await expect(page.getByLabel(/^colour/)).toBeVisible()
})

test('the second click of a double-click does not reach what replaced the button', async ({ page, workspace }) => {
  const id = await newProcess(workspace)
  await page.goto(`/${workspace.slug}/start/${id}`)
  await page.getByLabel('Article').fill('Van 8')
  const box = await page.getByRole('button', { name: 'Start', exact: true }).boundingBox()
  await page.mouse.click((box?.x ?? 0) + 10, (box?.y ?? 0) + 10)
  const heading = page.getByRole('heading', { name: 'It was started' })
  await expect(heading).toBeFocused()
  await page.mouse.down({ clickCount: 2 })
  await page.mouse.up({ clickCount: 2 })
  await expect(heading).toBeFocused()
  await page.getByRole('button', { name: 'Start another' }).click()
  await expect(page.getByLabel('Article')).toBeVisible()
})

test('an editor starts the published version beside Publish, or learns that there is none', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Hello',
    steps: [{ id: 'end', type: 'end-flow' }],
  } as never)
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  const start = page.getByRole('button', { name: 'Start', exact: true })
  await start.click()
  await expect(page.getByRole('dialog')).toContainText('It has no published version yet')
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await publishWorkflow(workspace.ctx, { id })
  await page.reload()
  await start.click()
  await expect(page.getByRole('dialog', { name: 'Start “Hello”' })).toContainText('Version 1 runs')
  await page.getByRole('dialog').getByRole('button', { name: 'Start run' }).click()
  await expect(page).toHaveURL(/\/runs\/run_/)
})

test('start pages say why they are empty, and viewers have none', async ({ page, browserOf, workspace }) => {
  await page.goto(`/${workspace.slug}/start`)
  await expect(page.getByText('There is nothing to start yet')).toBeVisible()
  const { onboarding } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/start/${onboarding}`)
  await expect(page.getByText('It has not been published yet')).toBeVisible()
  const viewer = await browserOf('viewer')
  await viewer.goto(`/${workspace.slug}/start`)
  await expect(viewer.getByText('This needs the role operator or above')).toBeVisible()
  await expect(viewer.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Start' })).toHaveCount(0)
})

test('a public form starts one run per form, and only when a person sends it', async ({
  page,
  browserOf,
  workspace,
}) => {
  const id = await newProcess(workspace, {
    payload: {
      article: { type: 'string', label: 'Article' },
      offer: { type: 'file', label: 'Offer', required: false },
    },
  })
  await page.goto(`/${workspace.slug}/start/${id}`)
  await page.getByRole('button', { name: 'Public form' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Label').fill('On the website')
  await dialog.getByRole('button', { name: 'Make a link' }).click()
  const address = /\/public\/start#[\w.-]+/.exec((await dialog.locator('pre').first().textContent()) ?? '')?.[0] ?? ''
  const token = address.split('#')[1] ?? ''
  await expect(dialog.getByText(/On the website · Made by Ada Lovelace/)).toBeVisible()

  const base = process.env.BASE_URL ?? ''
  for (const method of ['GET', 'HEAD']) {
    for (const headers of [{}, { 'sec-purpose': 'prefetch;prerender' }, { 'next-router-prefetch': '1', rsc: '1' }]) {
      for (const path of [address, `/public/start?${token}`, `/public/start/${token}`]) {
        const response = await fetch(`${base}${path}`, { method, headers })
        expect(response.headers.get('referrer-policy')).toBe('no-referrer')
        expect(await response.text()).not.toContain('Order a van')
      }
      const input = encodeURIComponent(JSON.stringify({ token, formId: 'form-of-a-scanner', data: { article: 'x' } }))
      const read = await fetch(`${base}/api/trpc/auth.startByLink?input=${input}`, { method, headers })
      expect([403, 405]).toContain(read.status)
    }
  }
  const guest = await browserOf('nobody')
  await guest.setViewportSize({ width: 390, height: 844 })
  await guest.goto(address)
  await expect(guest.getByRole('heading', { level: 1 })).toHaveText('Order a van')
  await expect(guest.getByText(/Northwind|Ada Lovelace/)).toHaveCount(0)
  expect(await runsOf(workspace, id)).toHaveLength(0)
  await guest.getByRole('button', { name: 'Send' }).click()
  await expect(guest.getByText('Required')).toBeVisible()
  await guest.getByLabel('Article').fill('Van 7')
  await guest
    .locator('input[type=file]')
    .setInputFiles({ name: 'offer.txt', mimeType: 'text/plain', buffer: Buffer.alloc(1_500_000, 'x') })
  await guest.getByRole('button', { name: 'Send' }).dblclick({ delay: 40 })
  const heading = guest.getByRole('heading', { level: 1 })
  await expect(heading).toHaveText('Your form was sent')
  await expect(heading).toBeFocused()
  const [run, ...others] = await runsOf(workspace, id)
  expect(others).toEqual([])
  expect(run?.input).toMatchObject({ article: 'Van 7', offer: expect.any(String) })
  await guest.getByRole('button', { name: 'Send another' }).click()
  await guest.getByLabel('Article').fill('Van 8')
  await guest.getByRole('button', { name: 'Send' }).click()
  await expect(heading).toHaveText('Your form was sent')
  expect(await runsOf(workspace, id)).toHaveLength(2)

  await page.reload()
  await page.getByRole('button', { name: 'Public form' }).click()
  await expect(dialog.getByText(/2 runs started/)).toBeVisible()
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await expect(dialog.getByText(/^Revoked/)).toBeVisible()
  await guest.goto('/sign-in')
  await guest.goto(address)
  await expect(heading).toHaveText('This link was withdrawn')
})

test('the inbox opens with Mine when it has something, and keeps the tab that people choose', async ({
  page,
  workspace,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  const mine = await newProcess(workspace, {
    name: 'Mine',
    payload: {},
    steps: [
      {
        ...{ id: 'ask', type: 'collect-inputs', title: 'For Ada', output: { n: { type: 'string' } } },
        assignees: [`user:${workspace.owner.email}`],
      },
    ],
  })
  const other = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, other, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox`)
  await expect(page.getByRole('radio', { name: /^All/ })).toBeChecked()
  const runId = await startRun(workspace, mine, {})
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox`)
  await expect(page.getByRole('radio', { name: /^Mine/ })).toBeChecked()
  await expect(page.getByRole('button', { name: /For Ada/ })).toBeVisible()
  await expect(page.getByRole('button', { name: /Okafor/ })).toHaveCount(0)
  await page.getByText('All', { exact: true }).click()
  await expect(page.getByRole('button', { name: /Okafor/ })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('radio', { name: /^All/ })).toBeChecked()
})
