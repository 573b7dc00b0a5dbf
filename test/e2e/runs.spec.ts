import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { reached } from './support/furnish'

test('a run page updates live, and a paused run can be answered there', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const { runId } = await startRun(workspace.ctx, { workflowId: approval, body: { customer: 'Okafor' } })
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByText('Waiting', { exact: true }).first()).toBeVisible()
  const data = { article: 'AX-210', amount: 4 }
  // Answer from elsewhere: the open page must follow without a reload.
  await resumeRun(workspace.ctx, { runId, body: { type: 'collect_inputs', data } })
  await expect(page.getByRole('button', { name: 'Approve' })).toBeVisible({ timeout: 15_000 })
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect(page.getByText('Completed').first()).toBeVisible({ timeout: 15_000 })
})

test('one paused run is cancelled, and another terminated', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const start = async () =>
    (await startRun(workspace.ctx, { workflowId: approval, body: { customer: 'Okafor' } })).runId
  const [first, second] = [await start(), await start()]
  for (const runId of [first, second]) await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/runs/${first}`)
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /cancel/i })
    .click()
  await expect(page.getByText('Cancelled').first()).toBeVisible({ timeout: 15_000 })
  await page.goto(`/${workspace.slug}/runs/${second}`)
  await page.getByRole('button', { name: 'More ways to stop the run' }).click()
  await page.getByRole('menuitem', { name: /terminate/i }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /terminate/i })
    .click()
  await expect(page.getByText('Terminated').first()).toBeVisible({ timeout: 15_000 })
  for (const runId of [first, second]) await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
})

test('a failed run says why, and a new run continues from the failed step', async ({ page, workspace }) => {
  const { refund } = await newCompany(workspace.ctx)
  const { runId } = await startRun(workspace.ctx, { workflowId: refund, body: { order: 'N-1', amount: 5 } })
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByText('Failed').first()).toBeVisible()
  await expect(page.getByText('the card has expired').first()).toBeVisible()
  await page
    .getByRole('button', { name: /again|retry/i })
    .first()
    .click()
  await page
    .getByRole('menuitem')
    .filter({ hasText: /From the failed step/ })
    .first()
    .click()
  await expect(page).not.toHaveURL(new RegExp(runId))
  await expect(page.getByRole('link', { name: 'an earlier run' })).toHaveAttribute('href', new RegExp(runId))
})

test('viewers are offered no actions', async ({ browserOf, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const { runId } = await startRun(workspace.ctx, { workflowId: approval, body: { customer: 'Okafor' } })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  const page = await browserOf('viewer')
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByText('Waiting', { exact: true }).first()).toBeVisible()
  const usable = page
    .getByRole('main')
    .getByRole('button', { name: /^(Cancel|Submit|Approve|More ways to stop the run)$/, disabled: false })
  await expect(usable).toHaveCount(0)
  await page.goto(`/${workspace.slug}/workflows/${approval}`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expect(page.getByRole('button', { name: /^(Publish|Add step|Delete step)$/, disabled: false })).toHaveCount(0)
})

test('new runs wait behind a button until they are requested', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const start = async () =>
    (await startRun(workspace.ctx, { workflowId: approval, body: { customer: 'Okafor' } })).runId
  await start()
  // The page asks again once its script has loaded.
  const looked = page.waitForResponse(/runs\.countNew/)
  await page.goto(`/${workspace.slug}/runs`)
  await looked
  const rows = page.getByRole('main').getByRole('link', { name: 'Purchase approval' })
  await expect(rows).toHaveCount(1)
  await start()
  const button = page.getByRole('button', { name: '1 new run' })
  await expect(button).toBeVisible({ timeout: 30_000 })
  await expect(rows).toHaveCount(1)
  await button.click()
  await expect(rows).toHaveCount(2)
  await expect(button).toBeHidden()
})
