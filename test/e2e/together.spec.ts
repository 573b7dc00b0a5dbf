import type { Page } from '@playwright/test'
import { getWorkflow } from '@/server/workflows/get'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import type { Workspace } from './support/workspace'

const saved = (page: Page) => expect(page.getByRole('status').filter({ hasText: /(^|\s)Saved/ })).toBeVisible()

async function open(page: Page, workspace: Workspace, workflowId: string, step: string): Promise<void> {
  await page.goto(`/${workspace.slug}/workflows/${workflowId}?step=${step}`)
  await expect(page.getByLabel('Id', { exact: true })).toHaveValue(step)
}

async function type(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name', { exact: true }).first().fill(name)
  await page.keyboard.press('Tab')
}

async function rename(page: Page, name: string): Promise<void> {
  await type(page, name)
  await page.keyboard.press('ControlOrMeta+s')
}

async function namesOf(workspace: Workspace, workflowId: string): Promise<(string | undefined)[]> {
  const { steps } = (await getWorkflow(workspace.ctx, { id: workflowId })) as unknown as { steps: { name?: string }[] }
  return steps.map(({ name }) => name)
}

test('edits by two people are merged', async ({ page, browserOf, workspace }) => {
  const { onboarding: _other, approval } = await newCompany(workspace.ctx)
  const tom = await browserOf('editor')
  await open(page, workspace, approval, 'order')
  await open(tom, workspace, approval, 'decision')
  await rename(page, 'What is ordered')
  await saved(page)
  await rename(tom, 'Whether it may be')
  await expect
    .poll(() => namesOf(workspace, approval))
    .toEqual(expect.arrayContaining(['What is ordered', 'Whether it may be']))
  await expect(tom.getByText('What is ordered').first()).toBeVisible()
})

test('when two people change the same thing, a person decides and nothing is overwritten', async ({
  page,
  browserOf,
  workspace,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  const tom = await browserOf('editor')
  await open(page, workspace, approval, 'order')
  await open(tom, workspace, approval, 'order')
  // An editor without unsaved changes checks for others' changes now and then; Tom's must not notice yet.
  await tom.route('**/api/trpc/workflows.get?**', (route) => route.abort())
  await rename(page, 'As Ada wants it')
  await saved(page)
  await type(tom, 'As Tom wants it')
  await tom.unroute('**/api/trpc/workflows.get?**')
  await tom.keyboard.press('ControlOrMeta+s')
  await chooseTom(tom, workspace, approval)
})

test('text typed while another person’s changes arrive is part of the conflict', async ({
  page,
  browserOf,
  workspace,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  const tom = await browserOf('editor')
  await open(page, workspace, approval, 'order')
  await open(tom, workspace, approval, 'order')
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await rename(page, 'As Ada wants it')
  const looked = new Promise<void>((resolve) => {
    void tom.route('**/api/trpc/workflows.get?**', async (route) => {
      resolve()
      await held
      await route.continue()
    })
  })
  await saved(page)
  await tom.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await looked
  await tom.getByLabel('Name', { exact: true }).first().fill('As Tom wants it')
  release()
  await chooseTom(tom, workspace, approval)
})

/** The editor shows both sides, has overwritten nothing, and saves what Tom chooses. */
async function chooseTom(tom: Page, workspace: Workspace, approval: string): Promise<void> {
  const dialog = tom.getByRole('dialog')
  await expect(dialog).toContainText('saved version')
  expect(await namesOf(workspace, approval)).toContain('As Ada wants it')
  await expect(dialog).toContainText('As Ada wants it')
  await expect(dialog).toContainText('As Tom wants it')
  await dialog.getByRole('button', { name: 'Use these choices' }).click()
  await expect.poll(() => namesOf(workspace, approval)).toContain('As Tom wants it')
}
