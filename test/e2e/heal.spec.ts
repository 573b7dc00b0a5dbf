import type { Page } from '@playwright/test'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'
import { database, type Workspace } from './support/workspace'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

// A renamed field breaks runs: they are found as one cause, tried on the draft that mends it, and retried on it.

/** Counts its calls, so that a second one would show. */
const order = { id: 'order', type: 'run-script', name: 'Order', code: 'return { total: 40 }', saveAs: 'order' }
const sum = (field: string) => ({
  id: 'sum',
  type: 'set-data',
  name: 'Add up',
  compute: { sum: `\${order.${field}} * 2` },
})
const definition = (field: string) => ({
  payload: { n: { type: 'number' } },
  initialStep: 'order',
  steps: [order, sum(field), { id: 'end', type: 'end-flow', output: { sum: '${sum}' } }],
  edges: [
    { from: 'order', to: 'sum' },
    { from: 'sum', to: 'end' },
  ],
})

async function shot(page: Page, name: string): Promise<void> {
  if (!process.env.SHOTS) return
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme })
    await page.screenshot({ path: `${process.env.SHOTS}/${name}-${scheme}.png` })
  }
  await page.emulateMedia({ colorScheme: 'light' })
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.screenshot({ path: `${process.env.SHOTS}/${name}-phone.png` })
  if (size) await page.setViewportSize(size)
}

async function broken(workspace: Workspace) {
  const { id } = await createWorkflow(workspace.ctx, { name: 'Orders', ...definition('amount') })
  await publishWorkflow(workspace.ctx, { id })
  const runIds: string[] = []
  for (let n = 1; n <= 3; n++) {
    const runId = await startRun(workspace, id, { n })
    await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
    runIds.push(runId)
  }
  await updateWorkflow(workspace.ctx, { id, body: definition('total') })
  return { id, runIds }
}

test('a cause is tried on the draft, the draft is published, and its runs are retried with four clicks', async ({
  page,
  workspace,
}) => {
  const { id, runIds } = await broken(workspace)
  await page.goto(`/${workspace.slug}/runs/${runIds[0]}`)
  let clicks = 0
  const click = async (name: string | RegExp) => {
    clicks++
    await page.getByRole('button', { name }).click()
  }
  await click('Heal…')
  const dialog = page.getByRole('dialog', { name: 'Heal failed runs' })
  await expect(dialog.getByRole('radio', { name: '3 runs at Add up, version 1' })).toBeChecked()
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shot(page, 'causes')
  await click('Try the draft on these')
  await expect(dialog.getByText('3 of 3 runs get past Add up.')).toBeVisible()
  await expect(dialog.getByText('3 go on to the end.')).toBeVisible()
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shot(page, 'tried')
  await click('Publish the draft')
  await click('Retry 3 runs on v2')
  await expect(dialog.getByText('3 runs were retried on version 2.')).toBeVisible()
  await shot(page, 'retried')
  expect(clicks).toBe(4)
  const { sql } = database()
  const made = await sql`
    select r.id, r.workflow_version, r.outcome, r.result,
      (select count(*)::int from step_records s where s.run_id = r.id and s.step_id = 'order' and s.start_time >= r.start_time) as calls
    from runs r where r.workflow_id = ${id} and r.retry_of is not null`
  await expect
    .poll(async () => (await sql`select id from runs where workflow_id = ${id} and outcome = 'succeeded'`).length)
    .toBe(3)
  expect(made.map(({ workflow_version, calls }) => [workflow_version, calls])).toEqual(Array(3).fill([2, 0]))
  await dialog.getByRole('link', { name: 'Show them' }).click()
  await expect(page.getByRole('link', { name: /Orders/ }).first()).toBeVisible()
})

test('runs that would make a completed call again are skipped, and retried on request', async ({ page, workspace }) => {
  const { id, runIds } = await broken(workspace)
  const later = {
    ...definition('total'),
    initialStep: 'sum',
    steps: [{ id: 'sum', type: 'set-data', values: { sum: 1 } }, order, { id: 'end', type: 'end-flow' }],
    edges: [
      { from: 'sum', to: 'order' },
      { from: 'order', to: 'end' },
    ],
  }
  await updateWorkflow(workspace.ctx, { id, body: later })
  await publishWorkflow(workspace.ctx, { id })
  await page.goto(`/${workspace.slug}/runs/${runIds[0]}`)
  await page.getByRole('button', { name: 'Heal…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Heal failed runs' })
  await dialog.getByRole('button', { name: 'Retry 3 runs on v2' }).click()
  await expect(dialog.getByText('0 runs were retried on version 2.')).toBeVisible()
  await expect(dialog.getByText('order would run a second time')).toBeVisible()
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shot(page, 'repeated-calls')
  await dialog.getByRole('button', { name: 'Retry 3 runs and repeat the call' }).click()
  await expect(dialog.getByText('3 runs were retried on version 2.')).toBeVisible()
  await expect(dialog.getByText('order would run a second time')).toHaveCount(0)
})

test('is offered in the list of a workflow’s failed runs, and names nothing to do without a mended version', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, { name: 'Still broken', ...definition('amount') })
  await publishWorkflow(workspace.ctx, { id })
  const runId = await startRun(workspace, id, { n: 1 })
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  await page.goto(`/${workspace.slug}/runs?workflow=${id}&status=failed`)
  await page.getByRole('button', { name: 'Actions for these runs' }).click()
  await page.getByRole('menuitem', { name: 'Heal failed runs…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Heal failed runs' })
  await expect(dialog.getByRole('radio', { name: '1 run at Add up, version 1' })).toBeChecked()
  await expect(dialog.getByRole('link', { name: 'Open the editor' })).toBeVisible()
  await expect(dialog.getByRole('button', { name: /^Retry/ })).toHaveCount(0)
})
