import { startRun } from '@/server/runs/start'
import { createWorkflow } from '@/server/workflows/create'
import { publishWorkflow } from '@/server/workflows/publish'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { reached } from './support/furnish'

test('counts follow an answer at once, and never contradict the queue', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const start = async (customer: string) =>
    (await startRun(workspace.ctx, { workflowId: approval, body: { customer } })).runId
  const [first, second] = [await start('Okafor'), await start('Rossi')]
  for (const runId of [first, second]) await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox`)
  const badge = page.getByRole('navigation', { name: 'Main' }).getByLabel('2 waiting')
  await expect(badge).toBeVisible()
  await expect(page.getByText('2 waiting', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: /The order.*Okafor/ }).click()
  await page.getByLabel(/article/).fill('AX-210')
  await page.getByLabel(/amount/).fill('4')
  await page.getByRole('button', { name: 'Submit' }).click()
  // The answer closed one task; the run's decision is the next.
  await expect(page.getByRole('button', { name: /Order of AX-210.*Okafor/ })).toBeVisible({ timeout: 5_000 })
  await expect(badge).toBeVisible()
  await expect(page.getByText('2 waiting', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: /Order of AX-210.*Okafor/ }).click()
  await page.getByRole('button', { name: 'Reject' }).click()
  await expect(page.getByRole('navigation', { name: 'Main' }).getByLabel('1 waiting')).toBeVisible({ timeout: 5_000 })
  await expect(page.getByText('1 waiting', { exact: true })).toBeVisible()
})

test('runs are found by their key, in the list, the palette and the address', async ({ page, workspace }) => {
  const { refund } = await newCompany(workspace.ctx)
  for (const order of ['N-20417', 'N-30000']) {
    const { runId } = await startRun(workspace.ctx, { workflowId: refund, body: { order, amount: 5 } })
    await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  }
  await page.goto(`/${workspace.slug}/runs?q=n-204`)
  const rows = page.getByRole('main').getByRole('row')
  await expect(rows).toHaveCount(2)
  await expect(rows.last()).toContainText('N-20417')
  await page.getByRole('link', { name: 'Refund' }).click()
  await page.getByRole('link', { name: 'N-20417', exact: true }).click()
  await expect(page).toHaveURL(/key=N-20417/)
  await expect(rows).toHaveCount(2)
  await page.keyboard.press('Control+k')
  await page
    .getByPlaceholder(/search|find/i)
    .last()
    .fill('N-300')
  await page.getByText('N-30000 · Refund').click()
  await expect(page.getByRole('heading', { name: 'Refund' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'N-30000', exact: true })).toBeVisible()
})

test('a start that takes a file has a file picker', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Paper',
    payload: { paper: { type: 'file' }, copies: { type: 'integer', default: 1 } },
    steps: [{ id: 'end', type: 'end-flow', output: { paper: '${paper}', copies: '${copies}' } }],
  })
  await publishWorkflow(workspace.ctx, { id })
  await page.goto(`/${workspace.slug}/workflows`)
  await page
    .getByRole('button', { name: /Actions of Paper|More.*Paper|Paper/ })
    .first()
    .click()
  await page.getByRole('menuitem', { name: /^Run/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('input[type="file"]').setInputFiles({
    name: 'paper.txt',
    mimeType: 'text/plain',
    buffer: Buffer.alloc(2_000_000, 'a'),
  })
  await dialog.getByRole('button', { name: 'Start run' }).click()
  await expect(page.getByRole('region', { name: 'Result', exact: true })).toContainText(/[0-9a-f]{8}-[0-9a-f]{4}-/)
})

test('the command on an empty runs page starts a run', async ({ page, workspace }) => {
  const { refund } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/runs`)
  const command = (await page.getByRole('main').locator('pre').first().textContent()) ?? ''
  const [, workflowId = ''] = /start-async\/([\w-]+)/.exec(command) ?? []
  const [, body = ''] = /-d '(.*)'$/s.exec(command) ?? []
  expect([refund, workflowId]).toContain(workflowId)
  const answer = await page.request.post(`/api/workflow/start-async/${workflowId}`, {
    headers: { 'x-api-key': workspace.apiKey, 'x-tenant-id': workspace.tenantId, 'content-type': 'application/json' },
    data: body,
  })
  expect(answer.status(), body).toBeLessThan(300)
})
