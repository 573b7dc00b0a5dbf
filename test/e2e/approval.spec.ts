import { createAgent } from '@/server/agents/lifecycle'
import { cancelRun } from '@/server/runs/cancel'
import { listRuns } from '@/server/runs/list'
import { resumeRun } from '@/server/runs/resume'
import { getRunStatus } from '@/server/runs/status'
import { addSamples } from '@/server/tenants/boot/add-samples'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

test('an agent asks before it refunds a large order; a person lowers the amount, and the run shows that', async ({
  page,
  workspace,
}) => {
  await addSamples(workspace.ctx)
  await page.goto(`/${workspace.slug}`)
  await page.getByRole('link', { name: 'Start a refund' }).click()
  await page.getByLabel('orderId').fill('A-17')
  await page.getByLabel('amount').fill('240')
  await page.getByRole('button', { name: /^Start/ }).click()
  await expect(page.getByRole('region', { name: 'Started' })).toBeVisible()

  await page.goto(`/${workspace.slug}/inbox`)
  await page.getByRole('button', { name: /Refund 240 for order A-17/ }).click()
  const task = page.getByRole('article')
  await expect(task).toContainText('Amount')
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shot('task')
  await task.getByRole('button', { name: 'Approve' }).click()
  const form = page.getByRole('region', { name: 'Approve' })
  await expect(form.getByLabel(/^Amount/)).toHaveValue('240')
  await form.getByLabel(/^Amount/).fill('120')
  await shot('form')
  await form.getByRole('button', { name: 'Approve' }).click()
  const [runId] = await runsOf()
  await reached(workspace, runId ?? '', ({ endTime }) => endTime !== undefined)
  const run = await getRunStatus(workspace.ctx, { runId: runId ?? '' })
  expect(run.result).toEqual({ orderId: 'A-17', asked: 240, refunded: 120 })
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByRole('region', { name: 'Decisions' })).toContainText('120')
  await shot('run')

  async function shot(name: string) {
    if (!process.env.SHOTS) return
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme })
      await page.waitForTimeout(300)
      await page.screenshot({ path: `${process.env.SHOTS}/${name}-${scheme}.png` })
    }
    await page.emulateMedia({ colorScheme: 'light' })
    const size = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.waitForTimeout(300)
    await page.screenshot({ path: `${process.env.SHOTS}/${name}-phone.png`, fullPage: true })
    if (size) await page.setViewportSize(size)
  }

  async function runsOf(): Promise<string[]> {
    return (await listRuns(workspace.ctx, {})).runs.map(({ runId }) => runId)
  }
})

test('a run waits for the decision with its step shown as waiting', async ({ page, workspace }) => {
  await addSamples(workspace.ctx)
  const runId = await startRun(workspace, 'wf_refund', { orderId: 'B-2', amount: 300 })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByText('Refund 300 for order B-2').first()).toBeVisible()
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/waiting.png`, fullPage: true })
})

test('a message in the playground waits for the decision too, and gets its answer', async ({ page, workspace }) => {
  await addSamples(workspace.ctx)
  await page.goto(`/${workspace.slug}/agents/agt_refund?tab=playground`)
  await page.getByLabel('Version', { exact: true }).selectOption('latest')
  await page.getByRole('textbox', { name: 'Message' }).fill('Please use tool_refund {"orderId": "C-3", "amount": 300}')
  await page.getByRole('button', { name: 'Send' }).click()
  const notice = page.getByRole('note').filter({ hasText: 'People decide first' })
  await expect(notice).toBeVisible()
  const log = page.getByRole('log', { name: 'Conversation' })
  await expect(log).toContainText('"orderId": "C-3"')
  expect(await violationsOf(page, WCAG)).toEqual([])
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/playground.png`, fullPage: true })
  const [run] = (await listRuns(workspace.ctx, {})).runs
  const body = { type: 'request_user_action', actionId: 'reject', remark: 'Too late.' }
  await resumeRun(workspace.ctx, { runId: run?.runId ?? '', body })
  await expect(notice).toBeHidden()
  await expect(log).toContainText('Too late.')
  await expect(page.getByRole('complementary', { name: 'Threads' })).toContainText('Please use tool_refund')
  await page.getByRole('tab', { name: 'Turns' }).click()
  await expect(page.getByRole('list', { name: 'Turns, newest first' })).toContainText('Completed')
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/turns.png`, fullPage: true })
  await page.goto(`/${workspace.slug}/runs/${run?.runId}`)
  await expect(page.getByText('Answer').first()).toBeVisible()
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/run-of-turn.png`, fullPage: true })
})

test('an agent that was handed a message asks too; its calls are shown below the call that handed it over', async ({
  page,
  workspace,
}) => {
  await addSamples(workspace.ctx)
  const desk = { name: 'Front desk', instructions: 'Hand refunds over.', supervisor: true, handoffs: ['agt_refund'] }
  const { id } = await createAgent(workspace.ctx, { ...desk, model: { provider: 'scripted', modelId: 'scripted' } })
  await page.goto(`/${workspace.slug}/agents/${id}?tab=playground`)
  await page.getByLabel('Version', { exact: true }).selectOption('latest')
  const refund = JSON.stringify({ message: 'use tool_refund {"orderId": "D-4", "amount": 300}' })
  await page.getByRole('textbox', { name: 'Message' }).fill(`use handoff_agt_refund ${refund}`)
  await page.getByRole('button', { name: 'Send' }).click()
  const notice = page.getByRole('note').filter({ hasText: 'People decide first' })
  await expect(notice).toBeVisible()
  const [run] = (await listRuns(workspace.ctx, {})).runs
  await resumeRun(workspace.ctx, {
    runId: run?.runId ?? '',
    body: { type: 'request_user_action', actionId: 'approve' },
  })
  await expect(notice).toBeHidden()
  await page.getByRole('tab', { name: 'Turns' }).click()
  await page
    .getByRole('button', { name: /Completed/ })
    .first()
    .click()
  const calls = page.getByRole('list', { name: 'Turns, newest first' }).getByRole('list')
  await expect(calls.getByRole('listitem')).toHaveText([
    /scripted/i,
    /Refund/,
    /Scripted/i,
    /Refund/,
    /Scripted/i,
    /Scripted/i,
  ])
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/handed-turns.png`, fullPage: true })
  await page.goto(`/${workspace.slug}/runs/${run?.runId}?step=answer~2.2`)
  await expect(page.getByRole('complementary')).toContainText('D-4')
  expect(await violationsOf(page, WCAG)).toEqual([])
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/handed-run.png`, fullPage: true })
  await page.goto(`/${workspace.slug}/agents/agt_refund?tab=turns`)
  await expect(page.getByRole('list', { name: 'Turns, newest first' })).toContainText('Completed')
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/handed-clerk.png`, fullPage: true })
})

test('the playground says that the run of a waiting message was cancelled', async ({ page, workspace }) => {
  await addSamples(workspace.ctx)
  await page.goto(`/${workspace.slug}/agents/agt_refund?tab=playground`)
  await page.getByRole('textbox', { name: 'Message' }).fill('use tool_refund {"orderId": "D-4", "amount": 300}')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('note').filter({ hasText: 'People decide first' })).toBeVisible()
  const [run] = (await listRuns(workspace.ctx, {})).runs
  await cancelRun(workspace.ctx, { runId: run?.runId ?? '' })
  await expect(page.getByRole('note').filter({ hasText: 'The run ended without an answer' })).toBeVisible()
  await expect(page.getByRole('note').filter({ hasText: 'People decide first' })).toBeHidden()
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/playground-cancelled.png` })
})
