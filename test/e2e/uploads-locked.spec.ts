import type { Locator, Page } from '@playwright/test'
import { eq } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { createStartLink } from '@/server/links/start/create'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'
import { large, MIB, openUploads, slow, workflow } from './support/uploads'
import { database, type Workspace } from './support/workspace'

const PLANS = {
  payload: {
    note: { type: 'string', label: 'Note', required: false },
    plan: { type: 'file', label: 'Plan', required: false },
  },
  steps: [{ id: 'end', type: 'end-flow' }],
}

/**
 * Sends a form with a large file slowly, and cancels the upload with the keyboard: meanwhile no field can be edited, and
 * afterwards all is as before.
 */
async function expectLocked(page: Page, workspace: Workspace, form: Locator, send: Locator): Promise<void> {
  const note = form.getByLabel('Note', { exact: true })
  const fields = [note, form.getByRole('button', { name: 'Plan', exact: true })]
  await note.fill('Before')
  await form.locator('input[type="file"]').setInputFiles(large)
  await slow(page, MIB)
  await send.click()
  await expect(form.getByRole('progressbar', { name: 'Upload progress of site plan.bin' })).toBeVisible()
  for (const one of [...fields, send]) await expect(one).toBeDisabled()
  await expect(form.getByText('Sending site plan.bin', { exact: true })).toHaveCount(1)
  const cancel = form.getByRole('button', { name: 'Cancel upload' })
  await cancel.focus()
  await page.keyboard.press('Enter')
  await expect(cancel).toBeHidden()
  for (const one of [...fields, send]) await expect(one).toBeEnabled()
  await expect(send).toBeFocused()
  await expect(form.getByRole('alert')).toHaveCount(0)
  await expect.poll(() => openUploads(workspace), 'the place of a cancelled upload is free').toBe(0)
  await slow(page, 0)
  await page.waitForTimeout(600)
}

const inputsOf = (workflowId: string) =>
  database().db.select({ input: runs.input, via: runs.startedVia }).from(runs).where(eq(runs.workflowId, workflowId))

test('nobody can edit the page that starts a run, or the dialog, while its file is sent', async ({
  page,
  workspace,
}) => {
  const id = await workflow(workspace, PLANS)
  await page.goto(`/${workspace.slug}/start/${id}`)
  const start = page.getByRole('button', { name: 'Start', exact: true })
  const main = page.getByRole('main')
  await expectLocked(page, workspace, main, start)
  await main.getByLabel('Note', { exact: true }).fill('After')
  await start.click()
  await expect(page.getByRole('heading', { name: 'It was started' })).toBeVisible()
  await expect.poll(() => inputsOf(id)).toMatchObject([{ input: { note: 'After' } }])

  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await expectLocked(page, workspace, dialog, dialog.getByRole('button', { name: 'Start run' }))
})

test('nobody can edit a run that is started again while its file is sent', async ({ page, workspace }) => {
  const id = await workflow(workspace, PLANS)
  const runId = await startRun(workspace, id, { note: 'First' })
  await reached(workspace, runId, ({ status }) => status === 'completed')
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await page.getByRole('button', { name: 'Run again' }).click()
  await page.getByRole('menuitem', { name: /^With another input/ }).click()
  const dialog = page.getByRole('dialog')
  const again = dialog.getByRole('button', { name: 'Run again' })
  await expectLocked(page, workspace, dialog, again)
  await again.click()
  await expect(page).not.toHaveURL(new RegExp(runId))
  await expect.poll(() => inputsOf(id)).toHaveLength(2)
})

test('nobody can edit a test run while its file is sent', async ({ page, workspace }) => {
  const id = await workflow(workspace, PLANS)
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await page.getByRole('button', { name: 'Test run' }).click()
  const form = page.getByRole('form', { name: 'Test run' })
  const run = form.getByRole('button', { name: 'Run this draft' })
  await expectLocked(page, workspace, form, run)
  await run.click()
  await expect.poll(() => inputsOf(id)).toMatchObject([{ via: 'test' }])
})

test('nobody can edit a task while its file is sent', async ({ page, workspace }) => {
  const output = PLANS.payload
  const id = await workflow(workspace, { steps: [{ id: 'ask', type: 'collect-inputs', title: 'The plan', output }] })
  const runId = await startRun(workspace, id, {})
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox`)
  await page.getByRole('button', { name: /The plan/ }).click()
  const task = page.getByRole('article')
  const submit = task.getByRole('button', { name: 'Submit' })
  await expectLocked(page, workspace, task, submit)
  await submit.click()
  await reached(workspace, runId, ({ status }) => status === 'completed')
})

test('nobody can edit a public form while its file is sent', async ({ browserOf, workspace }) => {
  const id = await workflow(workspace, PLANS)
  const { url } = await createStartLink(workspace.ctx, { workflowId: id, body: {}, origin: process.env.BASE_URL ?? '' })
  const page = await browserOf('nobody')
  await page.goto(`/public/start${new URL(url).hash}`)
  const main = page.getByRole('main')
  const send = main.getByRole('button', { name: 'Send' })
  await expectLocked(page, workspace, main, send)
  await send.click()
  await expect(page.getByRole('heading', { name: 'Your form was sent' })).toBeVisible()
  await expect.poll(() => inputsOf(id)).toMatchObject([{ input: { note: 'Before' } }])
})

test('an uploaded file gives its place back when another is chosen, when it is removed, and when the form is left', async ({
  page,
  workspace,
}) => {
  const id = await workflow(workspace, PLANS)
  await page.goto(`/${workspace.slug}/start/${id}`)
  const start = page.getByRole('button', { name: 'Start', exact: true })
  const choose = (name: string) => page.locator('input[type="file"]').setInputFiles({ ...large, name })
  // The file arrives, and the start does not.
  await page.route('**/api/trpc/runs.start**', (route) => route.abort())
  const uploadInVain = async () => {
    await start.click()
    await expect(page.getByRole('alert', { name: 'It was not started' })).toBeVisible()
    await expect.poll(() => openUploads(workspace)).toBe(1)
    await page.waitForTimeout(600)
  }
  await choose('first.bin')
  await uploadInVain()
  // Again: it is not sent twice.
  await uploadInVain()
  await choose('second.bin')
  await expect.poll(() => openUploads(workspace)).toBe(0)
  await uploadInVain()
  await page.getByRole('button', { name: 'Remove the file of Plan' }).click()
  await expect.poll(() => openUploads(workspace)).toBe(0)
  await choose('third.bin')
  await uploadInVain()
  await page.getByRole('link', { name: 'Start', exact: true }).first().click()
  await expect.poll(() => openUploads(workspace)).toBe(0)
})
