import { mkdirSync } from 'node:fs'
import { and, eq } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import { runs } from '@/db/schema/runs'
import { createStartLink } from '@/server/links/start/create'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'
import { large, MIB, slow, workflow } from './support/uploads'
import { database, type Workspace } from './support/workspace'

const huge = { ...large, name: 'too large.bin', buffer: Buffer.alloc(26 * MIB) }

const storedFor = ({ tenantId }: Workspace, runId: string) =>
  database()
    .db.select()
    .from(files)
    .where(and(eq(files.tenantId, tenantId), eq(files.runId, runId)))

test('a file of 10 MB answers a task: with its progress, cancelled once, and refused when it is too large', async ({
  page,
  workspace,
}) => {
  const steps = [
    { id: 'ask', type: 'collect-inputs', title: 'The site plan', output: { plan: { type: 'file', label: 'Plan' } } },
  ]
  const id = await workflow(workspace, { steps })
  const runId = await startRun(workspace, id, {})
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox`)
  await page.getByRole('button', { name: /The site plan/ }).click()
  const task = page.getByRole('article')
  await expect(task.getByText('At most 25 MB')).toBeVisible()
  const choose = (file: typeof large) => task.locator('input[type="file"]').setInputFiles(file)
  await choose(huge)
  await task.getByRole('button', { name: 'Submit' }).click()
  await expect(task.getByText('The file is too large: at most 25 MB')).toBeVisible()

  await choose(large)
  await slow(page, 2 * MIB)
  await task.getByRole('button', { name: 'Submit' }).click()
  const progress = task.getByRole('progressbar', { name: 'Upload progress of site plan.bin' })
  await expect(progress).toBeVisible()
  await expect(task.getByText(/Sending site plan\.bin: .* of 10\.0 MB/)).toBeVisible()
  await expect.poll(async () => Number(await progress.getAttribute('value'))).toBeGreaterThan(MIB)
  expect(await violationsOf(page, undefined)).toEqual([])
  mkdirSync('screenshots', { recursive: true })
  await page.screenshot({ path: 'screenshots/upload-in-task.png' })
  await task.getByRole('button', { name: 'Cancel upload' }).click()
  await expect(progress).toBeHidden()
  await expect(task.getByRole('alert')).toHaveCount(0)
  expect(await storedFor(workspace, runId)).toEqual([])

  await slow(page, 0)
  await task.getByRole('button', { name: 'Submit' }).click()
  await reached(workspace, runId, ({ status }) => status === 'completed')
  expect(await storedFor(workspace, runId)).toMatchObject([{ name: large.name, size: large.buffer.byteLength }])
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByText(large.name).first()).toBeVisible()
})

test('a broken upload says so, and the form can be sent again', async ({ page, workspace }) => {
  const id = await workflow(workspace, {
    payload: { plan: { type: 'file', label: 'Plan' } },
    steps: [{ id: 'end', type: 'end-flow' }],
  })
  await page.goto(`/${workspace.slug}/start/${id}`)
  await page.locator('input[type="file"]').setInputFiles(large)
  const content = '**/api/files/*/content'
  await page.route(content, (route) => route.abort())
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  await expect(page.getByRole('alert', { name: 'It was not started' })).toBeVisible()
  await page.unroute(content)
  await page.waitForTimeout(600)
  await slow(page, 4 * MIB)
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  await expect(page.getByRole('progressbar')).toBeVisible()
  await expect(page.getByRole('alert', { name: 'It was not started' })).toHaveCount(0)
  await expect(page.getByRole('heading', { name: 'It was started' })).toBeVisible()
})

test('a dialog that is closed during an upload starts nothing', async ({ page, workspace }) => {
  const id = await workflow(workspace, {
    payload: { plan: { type: 'file', label: 'Plan' } },
    steps: [{ id: 'end', type: 'end-flow' }],
  })
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('input[type="file"]').setInputFiles(large)
  await slow(page, 2 * MIB)
  const begun = page.waitForRequest('**/api/files/*/content')
  await dialog.getByRole('button', { name: 'Start run' }).click()
  const upload = await begun
  await expect(dialog.getByRole('progressbar', { name: 'Upload progress of site plan.bin' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click()
  await expect(dialog).toBeHidden()
  await expect.poll(() => upload.failure()?.errorText).toBe('net::ERR_ABORTED')
  await slow(page, 0)
  await page.reload()
  const started = database()
    .db.select()
    .from(runs)
    .where(and(eq(runs.tenantId, workspace.tenantId), eq(runs.workflowId, id)))
  expect(await started).toEqual([])
})

test('a public form sends 10 MB, and shows its progress on a phone', async ({ browserOf, workspace }) => {
  const id = await workflow(workspace, {
    payload: { plan: { type: 'file', label: 'Plan' } },
    steps: [{ id: 'end', type: 'end-flow' }],
  })
  const { url } = await createStartLink(workspace.ctx, { workflowId: id, body: {}, origin: process.env.BASE_URL ?? '' })
  const page = await browserOf('nobody')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`/public/start${new URL(url).hash}`)
  await expect(page.getByText('A file of at most 25 MB')).toBeVisible()
  await page.locator('input[type="file"]').setInputFiles(large)
  await slow(page, 4 * MIB)
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('progressbar', { name: 'Upload progress of site plan.bin' })).toBeVisible()
  await page.screenshot({ path: 'screenshots/upload-in-form.png' })
  await expect(page.getByRole('heading', { name: 'Your form was sent' })).toBeVisible({ timeout: 30_000 })
})
