import type { Page } from '@playwright/test'
import { createAgent } from '@/server/agents/lifecycle'
import { getRunStatus } from '@/server/runs/status'
import { getAgentLimits } from '@/server/tenants/agent-limits'
import { openAgent } from '@/server/views/agents/open'
import { createWorkflow, getWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'
import type { Workspace } from './support/workspace'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

test('an agent at a limit asks in the inbox, and continues once somebody says so', async ({ page, workspace }) => {
  const workflowId = await newWorkflow(workspace)
  const runId = await startRun(workspace, workflowId, {})
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox`)
  await page.getByRole('button', { name: /Clerk has reached a limit/ }).click()
  const task = page.getByRole('article')
  await expect(task).toContainText('Clerk has reached a limit: One call may have 10 tokens')
  await expect(task).toContainText('Used by this message')
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shot(page, 'limit-task')
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByText('Clerk has reached a limit: One call may have 10 tokens').first()).toBeVisible()
  await shot(page, 'limit-run')
  await page.getByRole('button', { name: 'Go on' }).click()
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  expect((await getRunStatus(workspace.ctx, { runId })).status).toBe('completed')
  await page.reload()
  await expect(page.getByRole('region', { name: 'Decisions' })).toContainText('Go on')
  await shot(page, 'limit-decided')
})

test('an admin chooses whom agents ask at the limits of the workspace, and an editor at those of an agent', async ({
  page,
  workspace,
}) => {
  await page.goto(`/${workspace.slug}/settings/agents`)
  await page.getByLabel('US dollars a day').fill('5')
  await page.getByLabel('At a limit').selectOption('ask')
  await expect(page.getByText('Who may answer')).toBeVisible()
  await page.getByLabel('Due in', { exact: true }).fill('4')
  await shot(page, 'limit-settings')
  expect(await violationsOf(page, WCAG)).toEqual([])
  const people = page.getByRole('combobox', { name: 'Who may answer' })
  await people.press('Backspace')
  await page.getByRole('button', { name: 'Save limits' }).click()
  await expect(page.getByText('Needs at least one person, group or role', { exact: true })).toBeVisible()
  await people.fill('admin')
  await people.press('Enter')
  await people.press('Escape')
  await page.getByRole('button', { name: 'Save limits' }).click()
  await expect(page.getByText('The limits are saved.')).toBeVisible()
  expect((await getAgentLimits(workspace.ctx)).limits).toEqual({
    day: { cost: 5 },
    at: { ask: ['role:admin'], dueIn: 'PT4H' },
  })
  const { id } = await createAgent(workspace.ctx, { name: 'Clerk' })
  await page.goto(`/${workspace.slug}/agents/${id}`)
  await page.getByText('Limits', { exact: true }).click()
  await page.getByLabel('Tokens for a message').fill('5000')
  await page.getByLabel('At a limit').selectOption('ask')
  await expect(page.getByText(/Draft saved/)).toBeVisible()
  await shot(page, 'limit-agent')
  expect((await openAgent(workspace.ctx, { id })).draft).toMatchObject({
    content: { limits: { turn: { tokens: 5_000 }, at: { ask: ['role:admin'] } } },
  })
})

test('the settings of a workflow limit what the agents of a run use together', async ({ page, workspace }) => {
  const id = await newWorkflow(workspace)
  await page.goto(`/${workspace.slug}/workflows/${id}/settings`)
  await page.getByLabel('Tokens of all agents of a run').fill('100000')
  await page.getByLabel('US dollars of all agents of a run').fill('0.5')
  await expect(page.getByRole('status').filter({ hasText: /Saved \d/ })).toBeVisible()
  await expect
    .poll(async () => (await getWorkflow(workspace.ctx, { id })).limits)
    .toEqual({ agents: { tokens: 100_000, cost: 0.5 } })
  await shot(page, 'limit-workflow')
  expect(await violationsOf(page, WCAG)).toEqual([])
})

async function newWorkflow({ ctx }: Workspace): Promise<string> {
  const { id: agentId } = await createAgent(ctx, {
    name: 'Clerk',
    outputSchema: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
    limits: { call: { tokens: 10 }, at: { ask: ['role:admin'], dueIn: 'PT4H' } },
  })
  const { id } = await createWorkflow(ctx, {
    name: 'Orders',
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'Which chairs?' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  await publishWorkflow(ctx, { id })
  return id
}

async function shot(page: Page, name: string): Promise<void> {
  if (!process.env.SHOTS) return
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.waitForTimeout(300)
    await page.screenshot({ path: `${process.env.SHOTS}/${name}-${colorScheme}.png`, fullPage: true })
  }
  await page.emulateMedia({ colorScheme: 'light' })
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.waitForTimeout(300)
  await page.screenshot({ path: `${process.env.SHOTS}/${name}-phone.png`, fullPage: true })
  if (size) await page.setViewportSize(size)
}
