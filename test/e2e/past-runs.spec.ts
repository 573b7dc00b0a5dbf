import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { reached, resumeRun, startRun } from './support/runs'

const actions = [
  { id: 'yes', label: 'Yes' },
  { id: 'no', label: 'No' },
]
const purchase = (when: string, payload = {}) => ({
  payload: { amount: { type: 'number', required: true }, ...payload },
  steps: [
    { id: 'check', type: 'condition', name: 'Check amount', when },
    { id: 'approve', type: 'request-user-action', name: 'Approve', actions },
    { id: 'pay', type: 'set-data', name: 'Pay', values: { paid: '${amount}' } },
    { id: 'refused', type: 'end-flow', name: 'Refused', output: { paid: 0 } },
    { id: 'end', type: 'end-flow', name: 'Paid', output: { paid: '${paid}' } },
  ],
  edges: [
    { from: 'check', to: 'approve', on: 'true' },
    { from: 'check', to: 'pay', on: 'false' },
    { from: 'approve', to: 'pay', on: 'yes' },
    { from: 'approve', to: 'refused', on: 'no' },
    { from: 'pay', to: 'end' },
  ],
})

test('publishing says what the draft would have done to past runs, in groups that open', async ({
  page,
  workspace,
}) => {
  const { ctx } = workspace
  const { id } = await createWorkflow(ctx, { name: 'Purchase', ...purchase('${amount} > 1000') } as never)
  await publishWorkflow(ctx, { id })
  for (const amount of [400, 1_000, 1_000, 2_000]) {
    const runId = await startRun(workspace, id, { amount })
    await reached(workspace, runId, ({ status }) => status !== 'running')
    if (amount > 1_000) await resumeRun(workspace, runId, { type: 'request_user_action', actionId: 'yes' })
    await reached(workspace, runId, ({ status }) => status === 'completed')
  }
  await updateWorkflow(ctx, { id, body: purchase('${amount} >= 1000') as never })
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  const past = page.getByRole('dialog').getByRole('region', { name: 'Past runs' })
  await expect(past).toContainText('2 go the same way to the same result. 2 go another way.')
  await expect(past).toContainText('These are all 4 runs that ended by themselves.')
  const group = past.getByText('At Check amount, False to Pay becomes True to Approve')
  await group.click()
  await expect(past.getByRole('link', { name: 'Try changes' })).toHaveCount(2)
  await past.getByRole('button', { name: 'Show on the graph' }).first().click()
  await expect(past.getByText('Only now', { exact: false }).first()).toBeVisible()
  await expect(past.getByRole('button', { name: 'Hide the graph' })).toBeVisible()
  expect(await violationsOf(page, ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])).toEqual([])
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/past-runs.png` })
  await expect(page.getByRole('button', { name: 'Publish v2', exact: true })).toBeVisible()
})

test('a draft that would fail past runs is published anyway, or not', async ({ page, workspace }) => {
  const { ctx } = workspace
  const { id } = await createWorkflow(ctx, { name: 'Purchase', ...purchase('${amount} > 1000') } as never)
  await publishWorkflow(ctx, { id })
  const runId = await startRun(workspace, id, { amount: 400 })
  await reached(workspace, runId, ({ status }) => status === 'completed')
  await updateWorkflow(ctx, {
    id,
    body: purchase('${amount} > 1000', { reason: { type: 'string', required: true } }) as never,
  })
  await page.goto(`/${workspace.slug}/workflows/${id}/versions`)
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  const past = page.getByRole('dialog').getByRole('region', { name: 'Past runs' })
  await expect(past).toContainText('1 would fail.')
  await expect(past).toContainText('Fails: ')
  await expect(page.getByRole('button', { name: 'Publish v2 anyway' })).toBeVisible()
})
