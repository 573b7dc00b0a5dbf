import { createTaskLink } from '@/server/links/create'
import { getRunStatus } from '@/server/runs/status'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { publishInEditor } from './support/publish'
import { reached, startRun } from './support/runs'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

test('the fields of an action are declared in the step’s form, open when it is chosen, and reach the run', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Refunds',
    payload: { order: { type: 'string' } },
    steps: [
      {
        ...{ id: 'ok', type: 'request-user-action', name: 'The decision', title: 'Refund of ${order}' },
        ...{ remark: 'optional', show: [{ label: 'Order', value: '${order}' }] },
        actions: [
          { id: 'approve', label: 'Approve' },
          { id: 'reject', label: 'Reject' },
        ],
      },
      { id: 'told', type: 'set-data', values: { told: '${ok.reason ?? "-"}: ${ok.remark ?? "-"}' } },
    ],
    edges: [{ from: 'ok', to: 'told' }],
  })
  await page.goto(`/${workspace.slug}/workflows/${id}?step=ok`)
  await page.locator('.react-flow__node-step').filter({ hasText: 'The decision' }).click()
  await page.getByLabel('Fields of Reject').click()
  const reject = page.getByRole('group').filter({ has: page.getByLabel('Fields of Reject') })
  await reject.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Name of field 1').fill('reason')
  await page.getByLabel('Name of reason').blur()
  await page.getByLabel('Label of reason').fill('Why not?')
  await expect(page.getByText('1 field to fill in')).toBeVisible()
  await publishInEditor(page)

  const runId = await startRun(workspace, id, { order: 'AX-210' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox`)
  await page.getByRole('button', { name: /Refund of AX-210/ }).click()
  // A key opens the fields too, and then types into them.
  await expect(page.getByRole('article').getByRole('button', { name: 'Reject' })).toBeVisible()
  await page.keyboard.press('2')
  const why = page.getByLabel(/^Why not\?/)
  await expect(why).toBeFocused()
  const form = page.getByRole('region', { name: 'Reject' })
  await form.getByRole('button', { name: 'Reject' }).click()
  await expect(page.getByText('reason is required').or(page.getByText('Required', { exact: true }))).toBeVisible()
  await why.fill('Worn out')
  await page.getByLabel('Remark').fill('See the photo')
  expect(await violationsOf(page, WCAG)).toEqual([])
  // The device keeps the typed text, and which action was open.
  await page.reload()
  await expect(why).toHaveValue('Worn out')
  await form.getByRole('button', { name: 'Reject' }).click()
  // The task and the notification both offer it, in either order.
  await page.getByRole('button', { name: 'Undo' }).first().click()
  await expect(why).toHaveValue('Worn out')
  await form.getByRole('button', { name: 'Reject' }).click()
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  const run = await getRunStatus(workspace.ctx, { runId })
  expect(run.data).toMatchObject({ ok: { actionId: 'reject', reason: 'Worn out' }, told: 'Worn out: See the photo' })
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  const decisions = page.getByRole('region', { name: 'Decisions' })
  await expect(decisions).toContainText('Why not?')
  await expect(decisions).toContainText('Worn out')

  const linked = await startRun(workspace, id, { order: 'AX-211' })
  await reached(workspace, linked, ({ status }) => status === 'paused')
  const origin = new URL(page.url()).origin
  const { url } = await createTaskLink(workspace.ctx, { runId: linked, body: {}, origin })
  await page.goto(url)
  await page.getByRole('button', { name: 'Reject' }).click()
  await expect(page.getByLabel(/^Why not\?/)).toBeFocused()
  await page.keyboard.type('Too late')
  await page.getByLabel(/^Remark/).fill('Sorry')
  expect(await violationsOf(page, WCAG)).toEqual([])
  await page.getByRole('button', { name: 'Reject' }).click()
  await expect(page.getByText('Your answer is recorded')).toBeVisible()
  await expect(page.getByText('Too late')).toBeVisible()
  await reached(workspace, linked, ({ endTime }) => endTime !== undefined)
  const answered = await getRunStatus(workspace.ctx, { runId: linked })
  expect(answered.data).toMatchObject({ told: 'Too late: Sorry' })
})
