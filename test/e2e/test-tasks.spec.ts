import { createWorkflow } from '@/server/workflows/lifecycle'
import { expect, test } from './support/fixture'

test('a task of a test run shows the votes it has, takes no second one, and stays in view', async ({
  page,
  workspace,
}) => {
  const names = Array.from({ length: 12 }, (_, at) => `field${at}`)
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Refunds',
    payload: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    steps: [
      {
        ...{ id: 'ok', type: 'request-user-action', title: 'The refund', needs: { approve: 2 } },
        actions: [
          { id: 'approve', label: 'Approve' },
          { id: 'reject', label: 'Reject' },
        ],
      },
    ],
  })
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await page.getByRole('button', { name: 'Test run' }).click()
  const form = page.getByRole('form', { name: 'Test run' })
  for (const name of names) await form.getByLabel(new RegExp(`^${name}( |$)`)).fill('x')
  await form.getByRole('button', { name: 'Run this draft' }).click()
  // The button is far below the place of the task.
  const task = page.getByRole('region', { name: 'Waits: The refund' })
  await expect(task).toContainText('0 of 2 for Approve')
  await expect(task.getByRole('button', { name: 'Approve' })).toBeInViewport()
  await task.getByRole('button', { name: 'Approve' }).click()
  await expect(task).toContainText('1 of 2 for Approve')
  await expect(task).toContainText('You: Approve')
  await expect(task).toContainText('You have voted.')
  await expect(task.getByRole('button', { name: 'Approve' })).toBeDisabled()
  for (const to of ['top', 'bottom'])
    await page.getByRole('region', { name: 'Test run', exact: true }).evaluate((panel, end) => {
      panel.scrollTop = end === 'top' ? 0 : panel.scrollHeight
    }, to)
  await expect(task.getByText('1 of 2 for Approve')).toBeInViewport()
})
