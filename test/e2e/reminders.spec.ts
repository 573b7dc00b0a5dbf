import { createGroup } from '@/server/members/groups/create'
import { sweepReminders } from '@/server/runs/remind'
import { getRunStatus } from '@/server/runs/status'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { publishInEditor } from './support/publish'
import { reached, startRun } from './support/runs'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const HOUR = 3_600_000

test('a step reminds people and then gives its task to others, as its form says; inbox and run show it', async ({
  page,
  workspace,
}) => {
  await createGroup(workspace.ctx, { name: 'Finance' })
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Refunds',
    steps: [
      {
        ...{ id: 'ok', type: 'request-user-action', name: 'The decision', title: 'Refund of AX-210' },
        ...{ assignees: ['role:operator'], actions: [{ id: 'approve', label: 'Approve' }] },
      },
    ],
  })
  await page.goto(`/${workspace.slug}/workflows/${id}?step=ok`)
  await page.locator('.react-flow__node-step').filter({ hasText: 'The decision' }).click()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  const reminders = page.getByRole('group', { name: 'Reminders' })
  await reminders.getByLabel('Remind after', { exact: true }).fill('1')
  await reminders.getByLabel('Again every', { exact: true }).fill('12')
  await reminders.getByLabel('Unit of again every').click()
  await page.getByRole('option', { name: 'hours' }).click()
  await reminders.getByLabel('Number of reminders').fill('2')
  const others = reminders.getByRole('combobox', { name: 'Then give it to' })
  await others.fill('fin')
  await expect(page.getByRole('option', { name: 'Finance' })).toBeVisible()
  await others.press('Enter')
  await others.blur()
  expect(await violationsOf(page, WCAG)).toEqual([])
  await publishInEditor(page)

  const runId = await startRun(workspace, id, {})
  await reached(workspace, runId, ({ status }) => status === 'paused')
  const { pauseSignal } = await getRunStatus(workspace.ctx, { runId })
  expect(pauseSignal).toMatchObject({
    reminders: { after: 'P1D', every: 'PT12H', times: 2, handTo: ['group:finance'] },
  })
  await page.goto(`/${workspace.slug}/inbox`)
  await page.getByRole('button', { name: /Refund of AX-210/ }).click()
  const task = page.getByRole('article')
  await expect(task.getByText('anybody with the role operator or higher')).toBeVisible()
  const sweepIn = (hours: number) =>
    sweepReminders({
      ...{ db: workspace.ctx.db as Parameters<typeof sweepReminders>[0]['db'], log: workspace.ctx.log },
      now: () => new Date(Date.now() + hours * HOUR + 60_000),
    })
  await sweepIn(24)
  // The open page follows.
  await expect(task.getByText('Reminded anybody with the role operator or higher (1 of 2)')).toBeVisible()
  await sweepIn(37)
  await sweepIn(50)
  await expect(task.getByText('Handed to anybody in the group Finance after 2 reminders')).toBeVisible()
  expect(await violationsOf(page, WCAG)).toEqual([])

  await page.goto(`/${workspace.slug}/runs/${runId}?step=ok`)
  await expect(page.getByText(/After 2 reminders, it was handed to anybody in the group Finance/)).toBeVisible()
  await expect(page.getByText('Reminded anybody with the role operator or higher (2 of 2)').first()).toBeVisible()
  expect(await violationsOf(page, WCAG)).toEqual([])
})
