import type { Page } from '@playwright/test'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { saveLayout } from '@/server/workflows/save-layout'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import type { Workspace } from './support/workspace'

const ask = { id: 'ask', type: 'collect-inputs', name: 'The order', output: { amount: { type: 'number' } } }
const check = { id: 'check', type: 'condition', name: 'Large?', when: '${amount} > 100' }
const set = (id: string, name: string) => ({ id, type: 'set-data', name, values: { [id]: true } })
const end = { id: 'end', type: 'end-flow', name: 'The end', output: { amount: '${amount}' } }

const PUBLISHED = {
  name: 'Orders',
  initialStep: 'ask',
  payload: { customer: { type: 'string' } },
  steps: [ask, check, set('approve', 'Approve it'), set('book', 'Book it'), end],
  edges: [
    { from: 'ask', to: 'check' },
    { from: 'check', to: 'approve', on: 'true' },
    { from: 'check', to: 'book', on: 'false' },
    { from: 'approve', to: 'end' },
    { from: 'book', to: 'end' },
  ],
}
/** *Approve it* is gone, *Check the stock* is new before *Book it*, and the order asks for more. */
const DRAFT = {
  payload: { customer: { type: 'string' }, country: { type: 'string' } },
  steps: [
    { ...ask, message: 'What do you need?' },
    check,
    set('stock', 'Check the stock'),
    set('book', 'Book it'),
    end,
  ],
  edges: [
    { from: 'ask', to: 'check' },
    { from: 'check', to: 'end', on: 'true' },
    { from: 'check', to: 'stock', on: 'false' },
    { from: 'stock', to: 'book' },
    { from: 'book', to: 'end' },
  ],
}

async function changed({ ctx }: Workspace): Promise<string> {
  const { id } = await createWorkflow(ctx, PUBLISHED as never)
  await saveLayout(ctx, {
    id,
    layout: {
      '#start': { x: 0, y: 0 },
      ask: { x: 0, y: 136 },
      check: { x: 0, y: 272 },
      approve: { x: -200, y: 440 },
      book: { x: 200, y: 440 },
      end: { x: 0, y: 576 },
    },
  })
  await publishWorkflow(ctx, { id })
  await updateWorkflow(ctx, { id, body: DRAFT as never })
  return id
}

/** A step's card: its type comes first, and where it leads last. */
const node = (page: Page, name: string) => page.getByRole('group', { name: new RegExp(`^[^,]+, ${name}`) })

test('a publisher sees on the graph what was added, removed and changed, one change after the other', async ({
  page,
  workspace,
}) => {
  const id = await changed(workspace)
  await page.goto(`/${workspace.slug}/workflows/${id}/versions`)
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await expect(node(page, 'Approve it')).toContainText('Removed')
  await expect(node(page, 'Check the stock')).toContainText('Added')
  await expect(node(page, 'The order')).toContainText('Changed: message')
  await expect(node(page, 'Book it')).not.toContainText(/Changed|Added|Removed|Moved/)
  await expect(node(page, 'Approve it').locator('[data-mark="removed"]').first()).toHaveCSS('border-style', 'dashed')
  // What no box shows is below, above all what breaks for callers.
  await expect(dialog.getByText('Callers that do not send country get 400.')).toBeVisible()
  const next = dialog.getByRole('button', { name: 'Next change' })
  const told = dialog.getByRole('status').filter({ hasText: ' of ' })
  await next.click()
  await expect(told).toHaveText('1 of 4: START, changed: 1 field')
  await page.keyboard.press('n')
  await expect(told).toHaveText('2 of 4: The order, changed: message')
  await expect(dialog.getByRole('region', { name: 'What differs about The order' })).toContainText('What do you need?')
  // With the focus on a step, it goes along.
  await node(page, 'The order').focus()
  await page.keyboard.press('n')
  await expect(dialog.locator('.react-flow__node:focus')).toHaveAccessibleName(/Added|Removed/)
  expect(await violationsOf(page, undefined)).toEqual([])
  await dialog.getByRole('radiogroup', { name: 'Show the changes as' }).getByText('List').click()
  await expect(dialog.getByText('Check the stock', { exact: true })).toBeVisible()
  await dialog.getByRole('radiogroup', { name: 'Show the changes as' }).getByText('JSON').click()
  await expect(dialog.getByRole('textbox', { name: /^Changes from version 1/ })).toBeVisible()
})

test('the graph of a version shows what restoring it would change, also on a phone', async ({ page, workspace }) => {
  const id = await changed(workspace)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`/${workspace.slug}/workflows/${id}/versions`)
  const history = page.getByRole('list', { name: 'Versions' })
  await history.getByRole('button', { name: /^Version 1/ }).click()
  // The other way round: the version brings back what the draft has removed.
  await expect(node(page, 'Approve it')).toContainText('Added')
  await expect(node(page, 'Check the stock')).toContainText('Removed')
  await page.getByRole('button', { name: 'Next change' }).click()
  await expect(page.getByRole('status').filter({ hasText: '1 of 4' })).toBeVisible()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  expect(await violationsOf(page, undefined)).toEqual([])
})
