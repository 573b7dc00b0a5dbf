import type { Page } from '@playwright/test'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { reached, resumeRun, startRun } from './support/runs'
import type { Workspace } from './support/workspace'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

// A purchase approval changes while runs of it are open: they are checked, moved to the new version, and back.

const details = { id: 'details', type: 'collect-inputs', name: 'Details', output: { item: { type: 'string' } } }
const approve = (label: string) => ({
  id: 'approve',
  type: 'request-user-action',
  name: 'Approve',
  actions: [
    { id: 'yes', label },
    { id: 'no', label: 'Reject' },
  ],
})
const note = (id: string) => ({ id, type: 'collect-inputs', name: 'Receipt', output: { receipt: { type: 'string' } } })

const purchase = (when: string, label: string, small: string) => ({
  payload: { amount: { type: 'number', required: true } },
  businessKey: 'P-${amount}',
  steps: [
    details,
    { id: 'check', type: 'condition', name: 'Check amount', when },
    approve(label),
    note(small),
    { id: 'end', type: 'end-flow', name: 'Paid', output: { paid: '${amount}' } },
  ],
  edges: [
    { from: 'details', to: 'check' },
    { from: 'check', to: 'approve', on: 'true' },
    { from: 'check', to: small, on: 'false' },
    { from: 'approve', to: 'end', on: 'yes' },
    { from: 'approve', to: 'end', on: 'no' },
    { from: small, to: 'end' },
  ],
})

async function shot(page: Page, name: string): Promise<void> {
  if (!process.env.SHOTS) return
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme })
    await page.screenshot({ path: `${process.env.SHOTS}/${name}-${scheme}.png`, fullPage: true })
  }
  await page.emulateMedia({ colorScheme: 'light' })
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.screenshot({ path: `${process.env.SHOTS}/${name}-phone.png`, fullPage: true })
  if (size) await page.setViewportSize(size)
}

/** Four open runs: one at the details, two at the approval, and one at the receipt. */
async function opened(workspace: Workspace) {
  const body = purchase('${amount} > 1000', 'Approve', 'receipt')
  const { id } = await createWorkflow(workspace.ctx, { name: 'Purchase', ...body } as never)
  await publishWorkflow(workspace.ctx, { id })
  const runIds: string[] = []
  for (const amount of [5_000, 2_000, 10, 700]) {
    const runId = await startRun(workspace, id, { amount })
    runIds.push(runId)
    await reached(workspace, runId, ({ status }) => status === 'paused')
    if (amount === 700) continue
    await resumeRun(workspace, runId, { type: 'collect_inputs', data: { item: 'Desk' } })
    const next = amount > 1_000 ? 'approve' : 'receipt'
    await reached(workspace, runId, (run) => run.status === 'paused' && run.currentStepId === next)
  }
  await updateWorkflow(workspace.ctx, { id, body: purchase('${amount} >= 1000', 'Pay', 'invoice') as never })
  return { id, runIds }
}

test('open runs are checked and moved after a publication, a task is asked again, and they move back', async ({
  page,
  workspace,
}) => {
  const { runIds } = await (async () => {
    const made = await opened(workspace)
    await page.goto(`/${workspace.slug}/workflows/${made.id}`)
    return made
  })()
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Publish v2/ })
    .click()
  await expect(page.getByText('4 runs are open on earlier versions.')).toBeVisible()
  await shot(page, 'published')
  await page.getByRole('link', { name: 'See which can move' }).click()

  await expect(page.getByText('4 runs are open on other versions than v2')).toBeVisible()
  const rows = page.getByRole('table', { name: 'Open runs by version and step' }).getByRole('row')
  await expect(rows.filter({ hasText: 'Approve' })).toHaveText(/v1Approve2–––/)
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shot(page, 'open-runs')
  await page.getByRole('button', { name: 'Check all' }).click()
  await expect(rows.filter({ hasText: 'Approve' })).toHaveText(/v1Approve2020/)
  await expect(rows.filter({ hasText: 'Details' })).toHaveText(/v1Details1100/)
  await expect(rows.filter({ hasText: 'Receipt' })).toHaveText(/v1Receipt1001/)
  const cannot = page.getByRole('region', { name: 'Cannot continue on v2' })
  await expect(cannot).toContainText('The step where they are is gone')
  await expect(cannot.getByRole('link', { name: 'P-10', exact: true })).toHaveAttribute(
    'href',
    new RegExp(`${runIds[2]}$`),
  )
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shot(page, 'checked')

  await page.getByRole('button', { name: 'Move 3 of 4 runs to v2…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Move runs to version 2?' })
  await expect(dialog.getByRole('button', { name: 'Move 1 run to v2' })).toBeVisible()
  await expect(dialog).toContainText('Different: the choices.')
  await expect(dialog).toContainText('Approve → Pay')
  await dialog.getByRole('switch', { name: 'Ask 2 tasks again' }).click()
  await expect(dialog.getByRole('switch', { name: 'Ask 2 tasks again' })).toBeChecked()
  await dialog.getByLabel('Note').fill('Approvals from 1,000 on.')
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shot(page, 'dialog')
  await dialog.getByRole('button', { name: 'Move 3 runs to v2' }).click()
  await expect(dialog.getByText('3 runs were moved to version 2. In 2 of them, tasks were asked again.')).toBeVisible()
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shot(page, 'moved')
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await expect(page.getByText('1 run is open on another version than v2')).toBeVisible()
  await shot(page, 'last-move')

  const colleague = await page.context().newPage()
  await colleague.goto(`/${workspace.slug}/inbox`)
  await expect(colleague.getByText('Asked again since v2').first()).toBeVisible()
  await colleague.getByRole('button', { name: /Approve.*P-5000/ }).click()
  await expect(colleague.getByText(/Asked again since v2,.*: the choices changed\./)).toBeVisible()
  await expect(colleague.getByRole('button', { name: /Pay/ })).toBeVisible()
  expect(await violationsOf(colleague, WCAG)).toEqual([])
  await shot(colleague, 'inbox')
  await colleague.goto(`/${workspace.slug}/runs/${runIds[0]}`)
  await expect(colleague.getByText('Ada Lovelace moved it from v1 to v2; Approve was asked again')).toBeVisible()
  const timeline = colleague.getByRole('region', { name: 'Timeline' })
  await expect(timeline.getByText('Moved from v1 to v2 by Ada Lovelace, Approve asked again')).toBeVisible()
  await expect(timeline.getByRole('button', { name: /^Details/ })).toBeVisible()
  expect(await violationsOf(colleague, WCAG)).toEqual([])
  await shot(colleague, 'run')
  await colleague.close()

  await page.getByRole('radiogroup', { name: 'View' }).getByText('History').click()
  await page.getByRole('radiogroup', { name: 'View' }).getByText('Open runs').click()
  await page.getByRole('button', { name: 'Move back' }).click()
  await expect(page.getByText('3 runs were moved back.')).toBeVisible()
  await expect(page.getByText('4 runs are open on other versions than v2')).toBeVisible()
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shot(page, 'moved-back')
  await resumeRun(workspace, runIds[0] ?? '', { type: 'request_user_action', actionId: 'yes' })
  await reached(workspace, runIds[0] ?? '', ({ outcome, workflowVersion }) => {
    return outcome === 'succeeded' && workflowVersion === 1
  })
})

test('a viewer sees which runs can move, and cannot move them', async ({ browserOf, workspace }) => {
  const { id } = await opened(workspace)
  await publishWorkflow(workspace.ctx, { id })
  const page = await browserOf('viewer')
  await page.goto(`/${workspace.slug}/workflows/${id}/versions?view=open-runs`)
  await page.getByRole('button', { name: 'Check all' }).click()
  await expect(page.getByRole('button', { name: 'Check again' })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Cannot continue on v2' })).toBeVisible()
  await expect(page.getByRole('button', { name: /^Move/ })).toHaveCount(0)
})

test('without open runs on other versions, the list says so', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Idle',
    ...purchase('${amount} > 1000', 'Approve', 'receipt'),
  } as never)
  await page.goto(`/${workspace.slug}/workflows/${id}/versions?view=open-runs`)
  await expect(page.getByRole('heading', { name: 'No version is published' })).toBeVisible()
  await publishWorkflow(workspace.ctx, { id })
  await page.reload()
  await expect(page.getByRole('heading', { name: 'No open run is on another version than v1' })).toBeVisible()
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shot(page, 'none')
})
