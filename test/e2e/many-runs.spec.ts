import { execFileSync } from 'node:child_process'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { createWebhook } from '@/server/webhooks/create'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'
import { database } from './support/workspace'

test('open runs are cancelled together, after their number was said, and each shows the reason', async ({
  page,
  workspace,
}) => {
  const { approval, onboarding } = await newCompany(workspace.ctx)
  const open = []
  for (const customer of ['Okafor', 'Baker']) open.push(await startRun(workspace, approval, { customer }))
  const other = await startRun(workspace, onboarding, {})
  for (const runId of [...open, other]) await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/runs?workflow=${approval}`)
  await page.getByRole('button', { name: 'Actions for these runs' }).click()
  await page.getByRole('menuitem', { name: /^Cancel open runs/ }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('2 runs will be asked to stop.')
  await dialog.getByLabel('Reason').fill('The shop is closed.')
  await dialog.getByRole('button', { name: 'Cancel 2 runs' }).click()
  await expect(dialog).toContainText('2 runs were cancelled.')
  for (const runId of open) await reached(workspace, runId, ({ outcome }) => outcome === 'cancelled')
  await reached(workspace, other, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/runs/${open[0]}`)
  await expect(page.getByRole('main')).toContainText('The shop is closed.')
})

test('failed runs are retried together, each once', async ({ page, workspace }) => {
  const { refund } = await newCompany(workspace.ctx)
  for (const order of ['N-1', 'N-2']) {
    const runId = await startRun(workspace, refund, { order, amount: 1 })
    await reached(workspace, runId, ({ outcome }) => outcome === 'failed')
  }
  const retry = async () => {
    await page.goto(`/${workspace.slug}/runs?status=failed`)
    await page.getByRole('button', { name: 'Actions for these runs' }).click()
    await page.getByRole('menuitem', { name: /^Retry failed runs/ }).click()
  }
  await retry()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Retry 2 runs' }).click()
  await expect(dialog).toContainText('2 runs were retried.')
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  // The first two are excluded from now on; their retries may fail too.
  await retry()
  await expect(dialog).toContainText(/2 runs failed|No failed run matches/)
})

test('the command on the empty Runs page starts a run when it is sent', async ({ page, workspace }) => {
  await newCompany(workspace.ctx)
  const { key } = await createApiKey(workspace.ctx, { name: 'Terminal', role: 'operator' })
  await page.goto(`/${workspace.slug}/runs`)
  await expect(page.getByText('No runs yet')).toBeVisible()
  await page.getByText('For developers').click()
  const command = await page.getByRole('main').locator('pre').innerText()
  const answer = execFileSync('sh', ['-c', command], { env: { ...process.env, API_KEY: key } }).toString()
  expect(JSON.parse(answer)).toMatchObject({ runId: expect.stringMatching(/^run_/) })
  await expect(page.getByText('No runs yet')).toHaveCount(0)
})

test('the code of a failure leads to its meaning, from a failed run and from a failed save', async ({
  page,
  workspace,
  trouble,
}) => {
  const { refund } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, refund, { order: 'N-1', amount: 1 })
  await reached(workspace, runId, ({ outcome }) => outcome === 'failed')
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  const follow = async (name: RegExp) => {
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name }).first().click(),
    ])
    await expect(opened.getByRole('heading', { name: 'What to do' })).toBeVisible()
    expect(opened.url()).toMatch(/\/errors\/[A-Z_]+$/)
    await opened.close()
  }
  await follow(/^[A-Z]+(_[A-Z]+)+$/)
  // Another member deletes the webhook while its dialog is open.
  const { id } = await createWebhook(workspace.ctx, { url: 'https://hooks.example.com/x', events: ['run.failed'] })
  await page.goto(`/${workspace.slug}/settings/webhooks`)
  await page.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await database().sql`delete from webhook_endpoints where id = ${id}`
  await page.getByRole('dialog').getByRole('button', { name: /^Save/ }).click()
  await follow(/^[A-Z]+(_[A-Z]+)+$/)
  trouble.splice(0)
})
