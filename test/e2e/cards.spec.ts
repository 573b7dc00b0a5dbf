import type { Locator, Page } from '@playwright/test'
import { createWorkflow, getWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'
import type { Workspace } from './support/workspace'

const MESSAGE = [
  'Please look at the **total**.',
  'See [the terms](https://terms.example.com/a).',
  '',
  '- first',
  '- second',
  '',
  '![plan](https://files.example.com/p.png) <img src="https://files.example.com/q.png"> [x](javascript:alert(1))',
].join('\n')

const ORDER = {
  name: 'Order',
  payload: {
    customer: { type: 'object' },
    total: { type: 'number' },
    notes: { type: 'string' },
  },
  steps: [
    {
      ...{ id: 'decide', type: 'request-user-action', title: 'Order of ${customer.name}', message: MESSAGE },
      show: [
        { label: 'Total', value: '${total}' },
        { label: 'Notes', value: '${notes}', markdown: true },
        { label: 'Customer', value: '${customer.name}, ${customer.city}' },
      ],
      actions: [
        { id: 'approve', label: 'Approve' },
        { id: 'reject', label: 'Reject' },
      ],
    },
  ],
}
const DATA = { customer: { name: 'Okafor', city: 'Lagos' }, total: 12.5, notes: 'For **Tuesday**' }

async function waiting(workspace: Workspace, definition: object, data = {}): Promise<string> {
  const { id } = await createWorkflow(workspace.ctx, definition as never)
  await publishWorkflow(workspace.ctx, { id })
  const runId = await startRun(workspace, id, data)
  await reached(workspace, runId, ({ status }) => status === 'paused')
  return runId
}

/** Labels with their values. */
const rows = (card: Locator) =>
  card.locator('dl > div').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)))

const SHOWN = [
  ['Total', '12.5'],
  ['Notes', 'For Tuesday'],
  ['Customer', 'Okafor, Lagos'],
]

/** The Markdown that a page may show. */
async function expectSafeMessage(page: Page, within: Locator, asked: string[]) {
  await expect(within.locator('strong', { hasText: 'total' })).toBeVisible()
  await expect(within.getByRole('listitem').filter({ hasText: /^second$/ })).toBeVisible()
  const link = within.getByRole('link', { name: 'the terms' })
  await expect(link).toHaveAttribute('rel', /noopener noreferrer nofollow/)
  await expect(within.getByText('(terms.example.com)')).toBeVisible()
  await expect(within.locator('img')).toHaveCount(0)
  await expect(within.locator('a[href^="javascript"]')).toHaveCount(0)
  await expect(within.getByText('<img src="https://files.example.com/q.png">')).toBeVisible()
  expect(asked, 'nothing is loaded from elsewhere').toEqual([])
  expect(await page.locator('a[href="https://files.example.com/p.png"]').count()).toBe(1)
}

function requestsElsewhere(page: Page): string[] {
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('example.com')) asked.push(request.url())
  })
  return asked
}

test('a task shows the card that its author chose, and its message as Markdown that loads nothing', async ({
  page,
  workspace,
  browserOf,
}) => {
  const asked = requestsElsewhere(page)
  const runId = await waiting(workspace, ORDER, DATA)
  await page.goto(`/${workspace.slug}/inbox`)
  const queued = page.getByRole('button', { name: /Order of Okafor/ })
  await expect(queued).toContainText('Total 12.5')
  await queued.click()
  const task = page.getByRole('article')
  const card = task.getByRole('region', { name: 'Values' })
  await expect.poll(() => rows(card)).toEqual(SHOWN)
  await expect(card.locator('strong')).toHaveText('Tuesday')
  await expectSafeMessage(page, task, asked)
  await expect(task.getByText('"Lagos"')).toHaveCount(0)
  // All of the run's data is behind a button.
  await card.getByRole('button', { name: 'JSON' }).click()
  await expect(task.getByRole('region', { name: 'Run data', exact: true })).toContainText('notes: "For **Tuesday**"')
  await task.getByRole('button', { name: 'Values' }).click()
  await expect.poll(() => rows(card)).toEqual(SHOWN)

  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect.poll(() => rows(page.getByRole('main'))).toEqual(expect.arrayContaining(SHOWN))

  const answer = await fetch(`${process.env.BASE_URL}/api/workflow/task-links/${runId}`, {
    method: 'POST',
    headers: { 'x-api-key': workspace.apiKey, 'x-tenant-id': workspace.tenantId, 'content-type': 'application/json' },
    body: '{}',
  })
  const { url } = (await answer.json()) as { url: string }
  const guest = await browserOf('nobody')
  const guestAsked = requestsElsewhere(guest)
  await guest.goto(`/task${new URL(url).hash}`)
  await expect(guest.getByRole('heading', { level: 1 })).toHaveText('Order of Okafor')
  await expect.poll(() => rows(guest.getByRole('main'))).toEqual(SHOWN)
  await expectSafeMessage(guest, guest.getByRole('main'), guestAsked)
})

test('an author chooses the values that a task shows: by name, with labels, in an order', async ({
  page,
  workspace,
}) => {
  const { show: _none, ...plain } = ORDER.steps[0] as (typeof ORDER.steps)[0]
  const { id } = await createWorkflow(workspace.ctx, { ...ORDER, steps: [plain] } as never)
  await page.goto(`/${workspace.slug}/workflows/${id}?step=decide`)
  const card = page.getByRole('group', { name: 'Values to show' })
  await card.getByRole('button', { name: 'Add a value' }).click()
  await card.getByRole('button', { name: 'Insert a value into Value of value 1' }).click()
  await page.getByRole('option', { name: /\$\{total\}/ }).click()
  // The chosen item names its row.
  await expect(card.getByLabel('Label of Total')).toHaveValue('Total')
  await card.getByRole('button', { name: 'Add a value' }).click()
  await card.getByLabel('Label of value 2').fill('Remarks')
  await card.getByRole('textbox', { name: 'Value of Remarks' }).fill('${notes}')
  await card.getByLabel('Markdown in Remarks').click()
  await card.getByRole('button', { name: 'Move Remarks up' }).click()
  await expect
    .poll(async () => (await getWorkflow(workspace.ctx, { id })).steps[0]?.show)
    .toEqual([
      { label: 'Remarks', value: '${notes}', markdown: true },
      { label: 'Total', value: '${total}' },
    ])
  await card.getByRole('button', { name: 'Remove Remarks' }).click()
  await card.getByRole('button', { name: 'Remove Total' }).click()
  await expect
    .poll(async () => Object.keys((await getWorkflow(workspace.ctx, { id })).steps[0] ?? {}))
    .not.toContain('show')
})

test('a problem that arrives late moves neither the field in use nor the list beside it', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, ORDER as never)
  await publishWorkflow(workspace.ctx, { id })
  // The check, which finds the missing end step, answers while the list is open.
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  await page.route(/workflows\.check/, async (route) => {
    await opened
    await route.continue()
  })
  await page.goto(`/${workspace.slug}/workflows/${id}?step=decide`)
  const total = page.getByRole('textbox', { name: 'Value of Total' })
  await page.getByRole('button', { name: 'Insert a value into Value of Total' }).click()
  const list = page.getByRole('listbox', { name: 'Values for Value of Total' })
  await expect(list).toBeVisible()
  const before = await total.boundingBox()
  open()
  await expect(page.getByText('without an end step')).toBeAttached()
  await expect(page.getByRole('button', { name: 'Problems 1' })).toBeVisible()
  await expect(list).toBeVisible()
  expect((await total.boundingBox())?.y).toBeCloseTo(before?.y ?? 0, 0)
})

test('a task’s message does not look like an input', async ({ page, workspace }) => {
  await waiting(workspace, {
    name: 'Form',
    steps: [
      {
        ...{ id: 'ask', type: 'collect-inputs', title: 'Size', message: 'How large is it?' },
        output: { size: { type: 'string' } },
      },
    ],
  })
  await page.goto(`/${workspace.slug}/inbox`)
  await page.getByRole('button', { name: /Size/ }).click()
  const look = (at: Locator) =>
    at.evaluate((element) => {
      const boxes: string[] = []
      for (let up: Element | null = element; up && up.tagName !== 'ARTICLE'; up = up.parentElement) {
        const { borderTopWidth, backgroundColor, cursor } = getComputedStyle(up)
        boxes.push(`${borderTopWidth} ${backgroundColor} ${cursor}`)
      }
      return boxes
    })
  const message = await look(page.getByText('How large is it?'))
  expect(new Set(message)).toEqual(new Set(['0px rgba(0, 0, 0, 0) auto']))
  expect((await look(page.getByRole('textbox', { name: 'size' })))[0]).not.toContain('0px rgba(0, 0, 0, 0)')
})
