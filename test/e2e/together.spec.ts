import type { Page } from '@playwright/test'
import { getWorkflow } from '@/server/workflows/lifecycle'
import { LOADS } from './support/calls'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { saved } from './support/saved'
import type { Workspace } from './support/workspace'

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

test('another person’s save is in an open editor within seconds', async ({ page, browserOf, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const vera = await browserOf('viewer')
  await vera.goto(`/${workspace.slug}/workflows/${approval}`)
  await open(page, workspace, approval, 'order')
  await expect(vera.getByRole('list', { name: 'Also here' }).getByRole('button')).toBeVisible()
  await rename(page, 'What is ordered')
  await saved(page)
  await expect(vera.getByText('What is ordered').first()).toBeVisible({ timeout: 5_000 })
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
  await tom.route(LOADS, (route) => route.abort())
  await rename(page, 'As Ada wants it')
  await saved(page)
  await type(tom, 'As Tom wants it')
  await tom.unroute(LOADS)
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
  let looks = () => {}
  const looked = new Promise<void>((resolve) => {
    looks = resolve
  })
  // Before Ada saves: Tom's page is notified at once.
  await tom.route(LOADS, async (route) => {
    looks()
    await held
    await route.continue()
  })
  await rename(page, 'As Ada wants it')
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
  await expect(dialog).toContainText('saved other changes while you were editing')
  expect(await namesOf(workspace, approval)).toContain('As Ada wants it')
  await expect(dialog).toContainText('As Ada wants it')
  await expect(dialog).toContainText('As Tom wants it')
  // Each side's changes stand out, beside the previous text.
  await expect(dialog.locator('mark')).toHaveText(['As Tom wants it', 'As Ada wants it'])
  await expect(dialog.getByRole('region', { name: 'Step The order, name' })).toContainText('Before: The order')
  await dialog.getByRole('button', { name: 'Use these choices' }).click()
  await expect.poll(() => namesOf(workspace, approval)).toContain('As Tom wants it')
}

test('two people see each other in one draft, and at which step; nothing moves when a person comes or leaves', async ({
  page,
  browserOf,
  workspace,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  await open(page, workspace, approval, 'order')
  // By then this person's own page has stopped moving.
  await expect(page.getByText(/unpublished change/)).toBeVisible()
  await expect(page.getByRole('button', { name: 'Problems 0' })).toBeVisible()
  await page.evaluate(() => {
    const seen = window as Window & { shift?: number }
    new PerformanceObserver((list) => {
      for (const { value = 0 } of list.getEntries() as (PerformanceEntry & { value?: number })[])
        seen.shift = (seen.shift ?? 0) + value
    }).observe({ type: 'layout-shift' })
  })
  const moved = () => page.evaluate(() => (window as Window & { shift?: number }).shift ?? 0)
  // A person who may only look.
  const vera = await browserOf('viewer')
  await vera.goto(`/${workspace.slug}/workflows/${approval}`)
  const here = (of: Page) => of.getByRole('list', { name: 'Also here' }).getByRole('button')
  await expect(here(page)).toHaveAccessibleName('viewer')
  await expect(here(vera)).toHaveAccessibleName('Ada Lovelace, at The order')
  await expect(vera.locator('[data-others-at="order"]')).toHaveText('AL')
  await vera.locator('.react-flow__node[data-id="decision"]').click()
  const mark = page.locator('[data-others-at="decision"]')
  await expect(mark).toHaveText('V')
  await expect(here(page)).toHaveAccessibleName(/^viewer, at /)
  expect(await moved()).toBeLessThan(0.001)
  await here(page).hover()
  await expect(page.getByRole('tooltip')).toContainText('viewer, at ')
  await here(page).click()
  await expect(page.getByLabel('Id', { exact: true })).toHaveValue('decision')
  // Of the form that this person has opened.
  const own = await moved()
  await vera.close()
  await expect(here(page)).toHaveCount(0, { timeout: 16_000 })
  await expect(mark).toHaveCount(0)
  expect((await moved()) - own).toBeLessThan(0.001)
})
