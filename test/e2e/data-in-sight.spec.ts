import type { Locator, Page } from '@playwright/test'
import { createWorkflow, getWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'
import type { Workspace } from './support/workspace'

const DEFINITION = {
  name: 'Refund',
  payload: { customer: { type: 'string' }, amount: { type: 'number' } },
  initialStep: 'check',
  steps: [
    { id: 'check', type: 'condition', when: '${amount} > 100' },
    {
      id: 'ask',
      type: 'request-user-action',
      title: 'Approve ${amount} for ${customer}?',
      actions: [{ id: 'yes', label: 'Yes' }],
    },
    { id: 'end', type: 'end-flow' },
  ],
  edges: [
    { from: 'check', on: 'true', to: 'ask' },
    { from: 'ask', to: 'end' },
  ],
}

async function withRuns(workspace: Workspace): Promise<{ id: string; runIds: string[] }> {
  const { id } = await createWorkflow(workspace.ctx, DEFINITION as never)
  await publishWorkflow(workspace.ctx, { id })
  const runIds: string[] = []
  for (const [customer, amount] of [
    ['Ada', 250],
    ['Bob', 50],
  ] as const) {
    const runId = await startRun(workspace, id, { customer, amount })
    await reached(workspace, runId, ({ status }) => status !== 'running')
    runIds.push(runId)
  }
  return { id, runIds }
}

const open = (page: Page, workspace: Workspace, id: string, step: string) =>
  page.goto(`/${workspace.slug}/workflows/${id}?step=${step}`)

test('a form shows what its expressions give with the values of a run that somebody chooses', async ({
  page,
  workspace,
}) => {
  const { id, runIds } = await withRuns(workspace)
  await open(page, workspace, id, 'ask')
  const form = page.getByRole('complementary', { name: 'Inspector' })
  const title = form.getByRole('textbox', { name: 'Title' })
  // Only the first run came to this step.
  await expect(form.getByText('Gives Approve 250 for Ada?')).toBeVisible()
  await expect(form.getByRole('button', { name: 'Insert customer' })).toContainText('"Ada"')
  await title.fill('Approve ${amount} for ${customer}, ${missing}?')
  await expect(form.getByText('${missing} has no value here')).toBeVisible()
  await title.fill('For ${customer ?? "nobody"}')
  await expect(form.getByText('Gives For Ada')).toBeVisible()
  expect(await violationsOf(page, undefined)).toEqual([])

  await form.getByRole('combobox', { name: 'Values of' }).click()
  await page.getByRole('option', { name: new RegExp(runIds[1] ?? '') }).click()
  await expect(form.getByText('Gives For Bob')).toBeVisible()
  await form.getByRole('combobox', { name: 'Values of' }).click()
  await page.getByRole('option', { name: 'Sample values' }).click()
  await expect(form.getByText('Gives For text')).toBeVisible()
  // The choice stays for the next step, whose condition is shown as rules.
  await page.locator('.react-flow__node[data-id="check"]').click()
  await expect(form.getByText('Gives false')).toBeVisible()
})

test('a click inserts a value into the field used last, behind what was typed', async ({ page, workspace }) => {
  const { id } = await withRuns(workspace)
  await open(page, workspace, id, 'ask')
  const form = page.getByRole('complementary', { name: 'Inspector' })
  const title = form.getByRole('textbox', { name: 'Title' })
  await expect(form.getByText('Gives Approve 250 for Ada?')).toBeVisible()
  await title.fill('About ')
  await form.getByRole('button', { name: 'Insert customer' }).click()
  await expect(title).toHaveValue('About ${customer}')
  await expect(title).toBeFocused()
  await form.getByRole('textbox', { name: 'Message' }).click()
  await form.getByRole('button', { name: 'Insert amount' }).click()
  await expect
    .poll(async () => (await getWorkflow(workspace.ctx, { id })).steps[1])
    .toMatchObject({
      title: 'About ${customer}',
      message: '${amount}',
    })
})

test('an unfinished path is no problem before the first attempt to publish', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'New',
    steps: [{ id: 'wait', type: 'delay', for: 'PT1S' }],
  } as never)
  await open(page, workspace, id, 'wait')
  await expect(page.getByRole('button', { name: 'Problems 0' })).toBeVisible()
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await expect(page.getByRole('dialog')).toContainText('without an end step')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'Problems 1' })).toBeVisible()
})

test('the keyboard reaches the graph past the toolbar, and boxes keep their names when zoomed out', async ({
  page,
  workspace,
}) => {
  const { id } = await withRuns(workspace)
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  const graph = page.getByLabel('Workflow graph')
  await expect(graph).toBeVisible()
  const skip = page.getByRole('link', { name: 'Skip to the graph' })
  await skip.focus()
  await expect(skip).toBeInViewport()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await expect(page.locator('.react-flow__node:focus')).toHaveCount(1)
  const out = page.getByRole('button', { name: 'Zoom out' })
  const zoom = async () =>
    Number(/\d+/.exec((await page.getByRole('button', { name: /^Zoom \d+%/ }).textContent()) ?? '')?.[0])
  while ((await zoom()) > 45) {
    const before = await zoom()
    await out.click()
    await expect.poll(zoom).toBeLessThan(before)
  }
  await expect.poll(zoom).toBeGreaterThan(25)
  const name = page.locator('.react-flow__node[data-id="check"]').getByText('check', { exact: true })
  await expect(name).toBeVisible()
  const size = await name.evaluate((element) => {
    const scale = element.getBoundingClientRect().height / (element as HTMLElement).offsetHeight
    return Number.parseFloat(getComputedStyle(element).fontSize) * scale
  })
  expect(size, 'CSS pixels on the screen').toBeGreaterThan(8)
})

test('J opens a task with its first field in focus, Escape leaves it, and a phone shows the form before the data', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Ask',
    payload: { note: { type: 'string' } },
    steps: [{ id: 'ask', type: 'collect-inputs', title: 'Ask ${note}', output: { answer: { type: 'string' } } }],
  } as never)
  await publishWorkflow(workspace.ctx, { id })
  for (const note of ['one', 'two']) {
    const runId = await startRun(workspace, id, { note })
    await reached(workspace, runId, ({ status }) => status === 'paused')
  }
  await page.goto(`/${workspace.slug}/inbox`)
  await expect(page.getByText('2 waiting')).toBeVisible()
  const heading = page.getByRole('article').getByRole('heading', { level: 2 })
  await page.keyboard.press('j')
  await expect(heading).toHaveText('Ask one')
  await expect(page.getByLabel('answer')).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(page.getByLabel('answer')).not.toBeFocused()
  await page.keyboard.press('j')
  await expect(heading).toHaveText('Ask two')
  await expect(page.getByLabel('answer')).toBeFocused()
  await page.setViewportSize({ width: 390, height: 800 })
  const task = page.getByRole('article')
  const top = async (part: Locator) => (await part.boundingBox())?.y ?? 0
  const [field, data] = [task.getByLabel('answer'), task.getByRole('region', { name: 'Run data' })]
  await expect.poll(async () => (await top(field)) < (await top(data))).toBe(true)
})
