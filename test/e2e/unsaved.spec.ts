import type { Page } from '@playwright/test'
import { getWorkflow } from '@/server/workflows/lifecycle'
import { SAVES } from './support/calls'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { saved } from './support/saved'
import type { Workspace } from './support/workspace'

async function open(page: Page, workspace: Workspace, workflowId: string): Promise<void> {
  await page.goto(`/${workspace.slug}/workflows/${workflowId}?step=order`)
  await expect(page.getByLabel('Id', { exact: true })).toHaveValue('order')
}

const nameField = (page: Page) => page.getByLabel('Name', { exact: true }).first()

async function namesOf(workspace: Workspace, workflowId: string): Promise<(string | undefined)[]> {
  const { steps } = (await getWorkflow(workspace.ctx, { id: workflowId })) as unknown as { steps: { name?: string }[] }
  return steps.map(({ name }) => name)
}

/** Accepts the offer after a reload; the server then has this name. */
async function restore(page: Page, workspace: Workspace, workflowId: string, name: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('Restore unsaved changes?')
  // Enter must not discard unsaved text.
  await expect(dialog.getByRole('button', { name: 'Restore' })).toBeFocused()
  await page.unroute(SAVES)
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await expect.poll(() => namesOf(workspace, workflowId)).toContain(name)
}

test('unsaved changes are kept on this device and offered again', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  await open(page, workspace, approval)
  await page.route(SAVES, (route) => route.abort())
  await nameField(page).fill('Written without a network')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ControlOrMeta+s')
  await expect(
    page
      .getByRole('status')
      .filter({ hasText: /not saved|offline|kept/i })
      .first(),
  ).toBeVisible()
  page.on('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await restore(page, workspace, approval, 'Written without a network')
})

test('a reload right after the last keystroke loses nothing', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  await open(page, workspace, approval)
  await page.route(SAVES, (route) => route.abort())
  await nameField(page).fill('Typed a moment ago')
  await page.reload()
  await restore(page, workspace, approval, 'Typed a moment ago')
})

test('an edit that was undone is not offered after a reload', async ({ context, page, workspace }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const { approval } = await newCompany(workspace.ctx)
  await open(page, workspace, approval)
  // The save waits, so that the undo comes first; meanwhile this device stores a copy.
  await page.route(SAVES, (route) => route.abort())
  const nodes = page.locator('.react-flow__node-step')
  const before = (await namesOf(workspace, approval)).length
  await expect(nodes).toHaveCount(before)
  await nodes.first().click()
  await page.keyboard.press('ControlOrMeta+c')
  await page.keyboard.press('ControlOrMeta+v')
  await expect(nodes).toHaveCount(before + 1)
  await expect.poll(() => copiesOnDevice(page)).toBe(1)
  await page.getByRole('button', { name: /^Undo: / }).click()
  await expect(nodes).toHaveCount(before)
  await page.unroute(SAVES)
  await saved(page)
  // The editor offers the copy once it has read the newest version from the server.
  const loaded = page.waitForResponse(
    (response) => response.url().includes('workflows.get') && response.request().method() === 'POST',
  )
  await page.reload()
  await loaded
  await expect(page.getByRole('button', { name: /^Problems/ })).toBeVisible()
  expect(await copiesOnDevice(page)).toBe(0)
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('what the release before kept on this device is offered', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const { version, ...base } = await getWorkflow(workspace.ctx, { id: approval })
  const steps = base.steps.map((step) => (step.id === 'order' ? { ...step, name: 'From before' } : step))
  const row = {
    ...{ tenantId: workspace.ctx.tenantId, workflowId: approval, baseVersion: version },
    ...{ base, definition: { ...base, steps }, layout: {}, savedAt: Date.now() },
  }
  await page.goto(`/${workspace.slug}/workflows`)
  await page.evaluate(
    (text) =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.open('millrace-editor', 1)
        request.onerror = () => reject(request.error)
        request.onupgradeneeded = () =>
          request.result
            .createObjectStore('copies', { keyPath: ['tenantId', 'workflowId', 'baseVersion'] })
            .put(JSON.parse(text))
        request.onsuccess = () => {
          request.result.close()
          resolve()
        }
      }),
    JSON.stringify(row),
  )
  await open(page, workspace, approval)
  await restore(page, workspace, approval, 'From before')
})

function copiesOnDevice(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const request = indexedDB.open('millrace-editor')
        request.onerror = () => reject(request.error)
        request.onsuccess = () => {
          const database = request.result
          if (!database.objectStoreNames.contains('drafts')) {
            database.close()
            resolve(0)
            return
          }
          const count = database.transaction('drafts').objectStore('drafts').count()
          count.onsuccess = () => {
            database.close()
            resolve(count.result)
          }
        }
      }),
  )
}
