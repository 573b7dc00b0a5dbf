import type { Page } from '@playwright/test'
import { and, eq } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'
import { database, type Workspace } from './support/workspace'

// Controls that start work are pressed by impatient people, on slow machines, and with keys that are held.

test('two quick clicks start one run', async ({ page, workspace }) => {
  const id = await published(workspace)
  await slowDown(page)
  await page.goto(`/${workspace.slug}/workflows`)
  await page.getByRole('button', { name: 'Actions for Pressed' }).click()
  await page.getByRole('menuitem', { name: 'Start', exact: true }).click()
  await page.getByRole('button', { name: 'Start run' }).dblclick({ delay: 40 })
  await expect(page).toHaveURL(/\/runs\/run_/)
  expect(await runsOf(workspace, id)).toHaveLength(1)
})

for (const again of ['With the same input', 'From the failed step']) {
  test(`two quick clicks on “${again}” start one more run`, async ({ page, workspace }) => {
    const id = await published(workspace)
    const runId = await failed(workspace, id)
    await page.goto(`/${workspace.slug}/runs/${runId}`)
    await slowDown(page)
    await page.getByRole('button', { name: 'Run again' }).click()
    const item = page.getByRole('menuitem', { name: again })
    const box = await item.boundingBox()
    if (!box) throw new Error('the menu has no such item')
    // The item's place, whether or not it is still there.
    await page.mouse.dblclick(box.x + 20, box.y + 10, { delay: 30 })
    await expect(page).not.toHaveURL(new RegExp(runId))
    expect(await runsOf(workspace, id)).toHaveLength(2)
  })
}

test('a held Enter starts one run', async ({ page, workspace }) => {
  const id = await published(workspace)
  const runId = await failed(workspace, id)
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await page.getByRole('button', { name: 'Run again' }).click()
  await page.getByRole('menuitem', { name: 'With another input…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Run again' }).focus()
  // A key that is held repeats.
  for (let press = 0; press < 12; press++) await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  await expect(page).not.toHaveURL(new RegExp(runId))
  expect(await runsOf(workspace, id)).toHaveLength(2)
})

test('shortcuts work with a Russian keyboard', async ({ page, workspace }) => {
  await openEditor(page, workspace)
  await page.locator('.react-flow__node').filter({ hasText: 'Second' }).click()
  await page.keyboard.press('Delete')
  await expect(page.locator('.react-flow__node').filter({ hasText: 'Second' })).toHaveCount(0)
  await press(page, { ctrlKey: true, key: 'я', code: 'KeyZ' })
  await expect(page.locator('.react-flow__node').filter({ hasText: 'Second' })).toHaveCount(1)
  await press(page, { ctrlKey: true, key: 'а', code: 'KeyF' })
  await expect(page.getByRole('dialog').getByRole('combobox')).toBeVisible()
})

test('the Enter that accepts a word of an input method does nothing else', async ({ page, workspace }) => {
  await openEditor(page, workspace)
  await page.keyboard.press('Control+f')
  const search = page.getByRole('dialog').getByRole('combobox')
  await search.pressSequentially('S')
  await press(page, { key: 'Enter', code: 'Enter', isComposing: true, keyCode: 229 })
  await expect(search).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(search).toBeHidden()
})

async function openEditor(page: Page, workspace: Workspace) {
  const id = await published(workspace)
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await expect(page.locator('.react-flow__node').filter({ hasText: 'Second' })).toBeVisible()
}

async function published({ ctx }: Workspace): Promise<string> {
  const { id } = await createWorkflow(ctx, {
    name: 'Pressed',
    steps: [
      { id: 'first', type: 'set-data', name: 'First', values: { a: 1 } },
      { id: 'second', type: 'run-script', name: 'Second', code: "throw new Error('It always fails.')" },
    ],
    edges: [{ from: 'first', to: 'second' }],
    initialStep: 'first',
  })
  await publishWorkflow(ctx, { id })
  return id
}

async function failed(workspace: Workspace, workflowId: string): Promise<string> {
  const runId = await startRun(workspace, workflowId, {})
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  return runId
}

const runsOf = ({ tenantId }: Workspace, workflowId: string) =>
  database()
    .db.select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.tenantId, tenantId), eq(runs.workflowId, workflowId)))

/** Six times slower, like the machine of a person who clicks again because nothing seems to happen. */
async function slowDown(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 6 })
}

interface Press {
  key: string
  code: string
  ctrlKey?: boolean
  isComposing?: boolean
  keyCode?: number
}

/** A key press as another layout or an input method sends it. */
async function press(page: Page, event: Press) {
  await page.evaluate((init) => {
    const event = new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init })
    if (init.keyCode !== undefined) Object.defineProperty(event, 'keyCode', { value: init.keyCode })
    ;(document.activeElement ?? document.body).dispatchEvent(event)
  }, event)
}
