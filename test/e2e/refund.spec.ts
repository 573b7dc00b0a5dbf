import type { Locator, Page } from '@playwright/test'
import { getRunStatus } from '@/server/runs/status'
import { startEffects } from '@/test/support/effects'
import { expect, test } from './support/fixture'
import { reached } from './support/runs'
import { newPerson, signIn } from './support/workspace'

const MOST = 60

/** A new user's hands: the mouse for everything but the text of fields, and every click counts. */
function handsOn(page: Page) {
  const clicks: string[] = []
  const click = async (target: Locator) => {
    await target.click()
    clicks.push(String(target))
  }
  return {
    clicks,
    click,
    async type(target: Locator, text: string) {
      await click(target)
      await target.fill(text)
    },
    /** Into a field that has the focus already, which takes no click. */
    async typeOn(target: Locator, text: string) {
      await expect(target).toBeFocused()
      await target.fill(text)
    },
    async drag(from: Locator, to: Locator) {
      const centre = async (of: Locator) => {
        const box = await of.boundingBox()
        if (!box) throw new Error(`${of} is not visible`)
        return [box.x + box.width / 2, box.y + box.height / 2] as const
      }
      await page.mouse.move(...(await centre(from)))
      await page.mouse.down()
      await page.mouse.move(...(await centre(to)), { steps: 12 })
      await page.mouse.up()
      clicks.push(`drag ${from}`)
    },
  }
}

const node = (page: Page, name: string) => page.locator('.react-flow__node-step').filter({ hasText: name })
const exit = (page: Page, step: string, label: string) =>
  node(page, step).locator('.react-flow__handle.source').filter({ hasText: label })

test(`the refund process is drawn from nothing, published and run with at most ${MOST} clicks`, async ({
  page,
  browserOf,
  workspace,
}) => {
  test.setTimeout(480_000)
  const payments = await startEffects()
  const mary = await newPerson(workspace.ctx, 'operator', 'Mary Jackson')
  await newPerson(workspace.ctx, 'operator', 'Tom Ford')
  const { clicks, click, type, typeOn, drag } = handsOn(page)
  const dialog = page.getByRole('dialog')
  const form = page.getByRole('complementary', { name: 'Inspector' })
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const after = (step: string) => button(new RegExp(`^Add step between ${step} and`))
  const choose = async (type: string) => {
    await click(dialog.getByRole('option', { name: new RegExp(`^${type}`) }))
    await expect(dialog).toHaveCount(0)
  }
  const create = async (noun: string) => {
    await click(dialog.getByRole('button', { name: `Create ${noun}` }))
    await expect(dialog).toHaveCount(0)
  }

  await page.goto(`/${workspace.slug}/workflows`)
  await click(button('New workflow').first())
  await typeOn(dialog.getByLabel('Name'), 'Refund')
  await click(dialog.getByRole('button', { name: 'Create and open' }))

  // What a customer sends: the order, how much, and a receipt.
  const label = form.getByRole('textbox', { name: /^Label of field/ })
  await click(button('Add field'))
  await typeOn(label, 'Order')
  for (const [name, kind] of [
    ['Amount', 'Number'],
    ['Receipt', 'File'],
  ] as const) {
    await click(button('Add a field of another type'))
    await click(page.getByRole('menuitem', { name: kind, exact: true }))
    await typeOn(label, name)
  }

  // A lookup, with a tool that does not exist yet.
  await click(button('Call a tool'))
  await click(form.getByRole('button', { name: 'New tool' }))
  await typeOn(dialog.getByLabel('Name'), 'Look up order')
  await click(dialog.getByRole('textbox', { name: 'Code' }))
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('return { customer: "Grace Hopper", order: args.order }')
  await create('tool')
  await type(form.getByRole('group', { name: 'Arguments' }).getByRole('textbox', { name: /^order/ }), '${order}')

  // Large amounts need two of three people, who are reminded; then admins decide.
  await click(after('Look up order'))
  await choose('Condition')
  await click(button('Add rule'))
  await click(page.getByRole('option', { name: 'amount', exact: true }))
  await form.getByRole('combobox', { name: 'Operator of rule 1 of If' }).selectOption('is more than')
  clicks.push('the operator’s list', 'the operator')
  await type(form.getByRole('textbox', { name: 'Value of rule 1 of If' }), '1000')
  await click(exit(page, 'Condition', 'True'))
  await choose('Request a decision')
  await click(form.getByRole('combobox', { name: 'Who may answer' }))
  for (const name of [workspace.owner.name, 'Mary Jackson', 'Tom Ford']) await click(page.getByRole('option', { name }))
  await click(form.getByRole('button', { name: 'More', exact: true }))
  await type(form.getByRole('group', { name: 'Votes needed' }).getByLabel('Approve'), '2')
  const reminders = form.getByRole('group', { name: 'Reminders' })
  await type(reminders.getByLabel('Remind after', { exact: true }), '1')
  await click(reminders.getByRole('combobox', { name: 'Then give it to' }))
  await click(page.getByRole('option', { name: 'Admins and owners' }))
  await click(exit(page, 'Request a decision', 'Reject'))
  await choose('Fail')

  // An agent writes the letter, and a person edits it.
  await click(exit(page, 'Request a decision', 'Approve'))
  await choose('Call an agent')
  await click(form.getByRole('button', { name: 'New agent' }))
  await typeOn(dialog.getByRole('textbox', { name: 'Name', exact: true }), 'Letter writer')
  await type(dialog.getByLabel('Instructions'), 'Write a short letter to the customer.')
  await create('agent')
  await type(form.locator('#step-field-message'), 'The refund of ${order} is approved.')
  await click(after('Letter writer'))
  await choose('Collect inputs')
  await type(form.getByRole('textbox', { name: /^Label of/ }), 'Letter')
  await type(form.getByRole('textbox', { name: /^Default of/ }), '${summary}')

  // The payment, which may fail.
  await click(after('Collect inputs'))
  await choose('HTTP request')
  await type(form.locator('#step-field-url'), `${payments.url}refunds`)
  await click(node(page, 'HTTP request').getByTitle(/^On error: /))
  await choose('Fail')
  await click(button('Tidy'))
  await expect(exit(page, 'Condition', 'False')).toBeInViewport()
  await expect(node(page, 'HTTP request')).toBeInViewport()
  await drag(exit(page, 'Condition', 'False'), node(page, 'HTTP request').locator('.react-flow__handle.target'))
  await expect(button('Problems 0')).toBeVisible()

  await click(button('Publish'))
  await click(dialog.getByRole('button', { name: /^Publish/ }))
  await expect(dialog).toHaveCount(0)
  await click(button('Start'))
  await typeOn(dialog.getByLabel(/^Order/), 'A-1')
  await type(dialog.getByLabel(/^Amount/), '1200')
  await dialog
    .locator('input[type=file]')
    .setInputFiles({ name: 'receipt.txt', mimeType: 'text/plain', buffer: Buffer.from('Paid: 1,200') })
  clicks.push('the receipt')
  await click(dialog.getByRole('button', { name: 'Start run' }))
  await expect(page).toHaveURL(/\/runs\/run_/)
  const runId = page.url().match(/run_\w+/)?.[0] ?? ''

  await click(button('Approve'))
  const hers = await browserOf('nobody')
  await signIn(hers.context(), mary)
  await hers.goto(`/${workspace.slug}/inbox`)
  await click(hers.getByRole('button', { name: /^Request a decision/ }))
  await click(hers.getByRole('button', { name: 'Approve', exact: true }))
  await reached(workspace, runId, ({ currentStepId }) => currentStepId === 'collect_inputs')
  await type(page.getByRole('textbox', { name: /^Letter/ }), 'Dear Grace, your refund is on its way.')
  await click(button('Submit'))
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  await payments.stop()
  expect(await getRunStatus(workspace.ctx, { runId })).toMatchObject({ outcome: 'succeeded' })
  expect(payments.seen.map(({ path }) => path)).toEqual(['/refunds'])
  expect(clicks.length, clicks.join('\n')).toBeLessThanOrEqual(MOST)
})
