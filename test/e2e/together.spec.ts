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

test('two people on one draft lose nothing: what differs is put together', async ({ page, browserOf, workspace }) => {
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

test('two people who change the same are asked, and neither is overwritten in silence', async ({
  page,
  browserOf,
  workspace,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  const tom = await browserOf('editor')
  await open(page, workspace, approval, 'order')
  await open(tom, workspace, approval, 'order')
  // An editor that has nothing of its own looks for others' changes now and then; Tom's is to be late.
  await tom.route('**/api/trpc/workflows.get?**', (route) => route.abort())
  await rename(page, 'As Ada wants it')
  await saved(page)
  await type(tom, 'As Tom wants it')
  await tom.unroute('**/api/trpc/workflows.get?**')
  await tom.keyboard.press('ControlOrMeta+s')
  await chooseTom(tom, workspace, approval)
})

test('what is typed while others’ changes arrive is asked about as well', async ({ page, browserOf, workspace }) => {
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

/** The editor shows both sides, has overwritten nothing yet, and does as Tom chooses. */
async function chooseTom(tom: Page, workspace: Workspace, approval: string): Promise<void> {
  const dialog = tom.getByRole('dialog')
  await expect(dialog).toContainText('saved version')
  expect(await namesOf(workspace, approval)).toContain('As Ada wants it')
  await expect(dialog).toContainText('As Ada wants it')
  await expect(dialog).toContainText('As Tom wants it')
  await dialog.getByRole('button', { name: 'Use these choices' }).click()
  await expect.poll(() => namesOf(workspace, approval)).toContain('As Tom wants it')
}

test('what was not saved is kept on this device, and offered again', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  await open(page, workspace, approval, 'order')
  await page.route('**/api/trpc/workflows.save**', (route) => route.abort())
  await rename(page, 'Written without a network')
  await expect(
    page
      .getByRole('status')
      .filter({ hasText: /not saved|offline|kept/i })
      .first(),
  ).toBeVisible()
  page.on('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await expect(page.getByRole('dialog')).toContainText('Restore unsaved changes?')
  await page.unroute('**/api/trpc/workflows.save**')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /restore/i })
    .click()
  await expect.poll(() => namesOf(workspace, approval), { timeout: 15_000 }).toContain('Written without a network')
})
