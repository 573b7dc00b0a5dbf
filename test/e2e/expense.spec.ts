import type { Locator, Page } from '@playwright/test'
import { getWorkflow } from '@/server/workflows/lifecycle'
import { expect, test } from './support/fixture'
import { saved } from './support/saved'
import type { Workspace } from './support/workspace'

const workflowIn = (page: Page) => /\/workflows\/([^/?]+)/.exec(page.url())?.[1] ?? ''
const picker = (page: Page) => page.getByRole('combobox', { name: 'Search step types' })
const node = (page: Page, name: string) => page.locator('.react-flow__node-step').filter({ hasText: name })
const exit = (page: Page, step: string, label: string) =>
  node(page, step).locator('.react-flow__handle.source').filter({ hasText: label })

/** START → large? true: a decision, approve: set data, reject: fail; false: set data → end. */
const EDGES = [
  'condition default',
  'condition true request_user_action',
  'condition false set_data',
  'request_user_action approve set_data',
  'request_user_action reject fail_flow',
  'set_data next end_flow',
]

async function expectDrawn(page: Page, { ctx }: Workspace): Promise<string> {
  await saved(page)
  const id = workflowIn(page)
  await expect
    .poll(async () => {
      const { edges, initialStep } = await getWorkflow(ctx, { id })
      return [`${initialStep} default`, ...edges.map(({ from, on = 'next', to }) => `${from} ${on} ${to}`)].toSorted()
    })
    .toEqual(EDGES.toSorted())
  await expect(page.getByRole('button', { name: 'Problems 0' })).toBeVisible()
  return id
}

test('an expense approval, drawn from nothing with the mouse, runs each of its ways', async ({ page, workspace }) => {
  test.setTimeout(480_000)
  const inspector = page.getByRole('complementary', { name: 'Inspector' })
  /** Fields are typed into; everything else uses the mouse. */
  const choose = async (type: string) => {
    await page
      .getByRole('dialog')
      .getByRole('option', { name: new RegExp(`^${type}`) })
      .click()
    await expect(page.getByRole('dialog')).toHaveCount(0)
  }
  await page.goto(`/${workspace.slug}/workflows`)
  await page.getByRole('button', { name: 'New workflow' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('Expense approval')
  await page.getByRole('dialog').getByRole('button', { name: 'Create and open' }).click()
  await page.getByRole('button', { name: 'Add first step' }).click()
  await choose('Condition')
  // The caller's input.
  await page.locator('.react-flow__node-start').click()
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByRole('textbox', { name: /^Name of/ }).fill('amount')
  await page.getByRole('combobox', { name: 'Type of amount' }).click()
  await page.getByRole('option', { name: 'Number', exact: true }).click()
  await node(page, 'Condition').click()
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.getByRole('combobox', { name: 'Field of rule 1 of If' }).click()
  await page.getByRole('option', { name: 'amount', exact: true }).click()
  await page.getByRole('combobox', { name: 'Operator of rule 1 of If' }).selectOption('is more than')
  await page.getByRole('textbox', { name: 'Value of rule 1 of If' }).fill('1000')

  await exit(page, 'Condition', 'True').click()
  await choose('Request a decision')
  await exit(page, 'Request a decision', 'Approve').click()
  await choose('Set data')
  await page.getByRole('button', { name: 'Add to values' }).click()
  await page.getByRole('textbox', { name: /^Name of/ }).fill('status')
  await page.getByRole('textbox', { name: 'Value of status' }).fill('approved')
  await exit(page, 'Request a decision', 'Reject').click()
  await choose('Fail')
  await page.getByRole('textbox', { name: 'Code' }).fill('EXPENSE_REJECTED')
  await page.getByRole('button', { name: 'Tidy' }).click()
  await expect(page.getByText('Graph tidied.').first()).toBeAttached()
  await drag(page, exit(page, 'Condition', 'False'), node(page, 'Set data').locator('.react-flow__handle.target'))
  await page.getByRole('button', { name: 'Add step between Set data and END' }).click()
  await choose('End')
  const id = await expectDrawn(page, workspace)

  // The people who decide.
  await node(page, 'Request a decision').click()
  // A form follows the selection, and the previous one has such a button too.
  await expect(inspector.getByRole('heading', { name: 'Request a decision' })).toBeVisible()
  await inspector.getByRole('combobox', { name: 'Who may answer' }).click()
  await page.getByRole('option', { name: workspace.owner.name }).click()
  await page.getByRole('option', { name: 'Admins and owners' }).click()
  await inspector.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('group', { name: 'Votes needed' }).getByLabel('Approve').fill('1')
  const decision = async () => (await getWorkflow(workspace.ctx, { id })).steps.find(({ needs }) => needs)
  const asked = { assignees: [`user:${workspace.owner.email}`, 'role:admin'], needs: { approve: 1 } }
  await expect.poll(decision).toMatchObject(asked)
  // The caller's result.
  await node(page, 'End').click()
  await page.getByRole('button', { name: 'Add to result' }).click()
  await page.getByRole('textbox', { name: /^Name of/ }).fill('decision')
  await page.getByRole('textbox', { name: 'Value of decision' }).fill('${status}')
  await saved(page)

  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Publish v/ })
    .click()
  await expect(page.getByText(/v\d+ published/).first()).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)

  /** From the list of workflows, as the dashboard offers it. */
  const run = async (amount: string) => {
    await page.getByRole('navigation').getByRole('link', { name: 'Workflows' }).first().click()
    await page.getByRole('button', { name: 'Actions for Expense approval' }).click()
    await page.getByRole('menuitem', { name: 'Start' }).click()
    await page.getByRole('dialog').getByLabel('amount').fill(amount)
    await page.getByRole('dialog').getByRole('button', { name: 'Start run' }).click()
    await expect(page).toHaveURL(/\/runs\/run_/)
  }
  const ended = (status: string) => expect(page.getByText(status, { exact: true }).first()).toBeVisible()
  const result = page.getByRole('region', { name: 'Result', exact: true })
  await run('20')
  await ended('Completed')
  await expect(result).toContainText('approved')
  await run('2000')
  await page.getByRole('button', { name: 'Approve' }).click()
  await ended('Completed')
  await expect(result).toContainText('approved')
  await expect(page.getByRole('region', { name: 'Timeline' })).toContainText('→ Approve')
  await run('2000')
  await page.getByRole('button', { name: 'Reject' }).click()
  await ended('Failed')
  await expect(page.getByText('EXPENSE_REJECTED').first()).toBeVisible()
})

test('the same, drawn and run with the keyboard alone', async ({ page, workspace }) => {
  test.setTimeout(480_000)
  const press = (...keys: string[]) =>
    keys.reduce((done, key) => done.then(() => page.keyboard.press(key)), Promise.resolve())
  const pick = async (type: string) => {
    await expect(picker(page)).toBeFocused()
    await page.keyboard.type(type)
    await press('Enter')
    await expect(page.getByRole('dialog')).toHaveCount(0)
  }
  const add = async (type: string, label?: string) => {
    await focused(page, 'react-flow__node')
    await press('a')
    await expect(picker(page)).toBeFocused()
    if (label !== undefined) {
      await press('Shift+Tab')
      await expect(page.getByRole('combobox', { name: 'Exit' })).toBeFocused()
      await page.keyboard.type(label)
      await press('Tab')
    }
    await pick(type)
  }
  const find = async (text: string) => {
    await press('Control+f')
    await expect(page.getByRole('combobox', { name: 'Step to find' })).toBeFocused()
    await page.keyboard.type(text)
    await press('Enter')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await focused(page, 'react-flow__node', text)
  }
  await page.goto(`/${workspace.slug}/workflows`)
  // Keys work only after the page's script has loaded, which is not visible.
  await expect(async () => {
    if ((await page.getByRole('dialog').count()) === 0) await press('c')
    await expect(page.getByRole('dialog')).toBeVisible({ timeout: 5_000 })
  }).toPass()
  await expect(page.getByRole('dialog').getByLabel('Name')).toBeFocused()
  await page.keyboard.type('Expense approval')
  await press('Enter')
  await expect(page).toHaveURL(/\/workflows\/wf_/)
  await tabTo(page, 'Add first step')
  await press('Enter')
  await pick('condition')
  await add('request-user-action')
  await add('set-data', 'Approve')
  await add('end-flow')
  // The path without a step is offered first.
  await find('Request a decision')
  await add('fail-flow')
  await find('Condition')
  await press('l')
  await expect(page.getByRole('combobox', { name: 'Step to connect to' })).toBeFocused()
  await expect(page.getByRole('combobox', { name: 'Exit' })).toHaveValue('false')
  await page.keyboard.type('Set data')
  await press('Enter')
  await expect(page.getByRole('dialog')).toHaveCount(0)

  await focused(page, 'react-flow__node', 'Condition')
  await press('Enter')
  await tabTo(page, 'Write as text')
  await press('Enter')
  await press('Control+a')
  await page.keyboard.type('${amount} > 1000')
  await toGraph(page)
  await find('Set data')
  await press('Enter')
  await tabTo(page, 'Add to values')
  await press('Enter')
  await tabTo(page, /^Name of/, 'back')
  await page.keyboard.type('status')
  await tabTo(page, 'Value of status')
  await page.keyboard.type('approved')
  await toGraph(page)
  /** Picks from a list that has the focus. */
  const option = async (text: string) => {
    await press('ArrowDown')
    await expect(page.getByRole('option', { name: text, exact: true })).toBeVisible()
    await expect(async () => {
      await press('ArrowDown')
      await expect(page.locator('[data-combobox-selected]')).toHaveText(text, { timeout: 2_000 })
    }).toPass()
    await press('Enter')
  }
  // The caller's result, the name of a rejection, and who decides.
  await find('End')
  await press('Enter')
  await tabTo(page, 'Add to result')
  await press('Enter')
  await tabTo(page, /^Name of/, 'back')
  await page.keyboard.type('decision')
  await tabTo(page, 'Value of decision')
  await page.keyboard.type('${status}')
  await toGraph(page)
  await find('Fail')
  await press('Enter')
  await tabTo(page, 'Code')
  await press('Control+a')
  await page.keyboard.type('EXPENSE_REJECTED')
  await toGraph(page)
  await find('Request a decision')
  await press('Enter')
  await tabTo(page, 'Who may answer')
  await page.keyboard.type(workspace.owner.email)
  await expect(page.getByRole('option', { name: workspace.owner.name })).toBeVisible()
  await press('Enter')
  await page.keyboard.type('admins and')
  await expect(page.getByRole('option', { name: 'Admins and owners' })).toBeVisible()
  await press('Enter')
  await tabTo(page, 'More')
  await press('Enter')
  await tabTo(page, 'Approve')
  await page.keyboard.type('1')
  await toGraph(page)
  await press('Home', 'Enter')
  await tabTo(page, 'Add field')
  await press('Enter')
  await tabTo(page, /^Name of/, 'back')
  await page.keyboard.type('amount')
  await tabTo(page, 'Type of amount')
  await option('Number')
  await press('Control+s')
  const id = await expectDrawn(page, workspace)
  const steps = (await getWorkflow(workspace.ctx, { id })).steps
  expect(steps.find(({ type }) => type === 'request-user-action')).toMatchObject({
    assignees: [`user:${workspace.owner.email}`, 'role:admin'],
    needs: { approve: 1 },
  })
  await tabTo(page, 'Publish')
  await press('Enter')
  await tabTo(page, /^Publish v\d+$/)
  await press('Enter')
  await expect(page.getByText(/v\d+ published/).first()).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)

  const run = async (amount: string) => {
    await press('g', 'w')
    await expect(page).toHaveURL(/\/workflows$/)
    await tabTo(page, 'Actions for Expense approval')
    await press('Enter')
    await expect(page.getByRole('menuitem', { name: 'Open' })).toBeVisible()
    await expect(async () => {
      await press('ArrowDown')
      await expect(page.getByRole('menuitem', { name: 'Start', exact: true })).toBeFocused({ timeout: 2_000 })
    }).toPass()
    await press('Enter')
    await expect(page.getByRole('dialog').getByLabel('amount')).toBeFocused()
    await page.keyboard.type(amount)
    await press('Enter')
    await expect(page).toHaveURL(/\/runs\/run_/)
  }
  const ended = (status: string) => expect(page.getByText(status, { exact: true }).first()).toBeVisible()
  const result = page.getByRole('region', { name: 'Result', exact: true })
  for (const [amount, action, status] of [
    ['20', null, 'Completed'],
    ['2000', 'Approve', 'Completed'],
    ['2000', 'Reject', 'Failed'],
  ] as const) {
    await run(amount)
    if (action !== null) {
      await expect(page.getByRole('button', { name: action })).toBeVisible()
      await tabTo(page, action)
      await press('Enter')
    }
    await ended(status)
    if (status === 'Completed') await expect(result).toContainText('approved')
  }
  await expect(page.getByText('EXPENSE_REJECTED').first()).toBeVisible()
})

async function drag(page: Page, from: Locator, to: Locator): Promise<void> {
  /** Its place once it has stopped moving. */
  const middle = async (of: Locator) => {
    let before = ''
    await expect(async () => {
      const now = JSON.stringify(await of.boundingBox())
      const moved = now !== before
      before = now
      expect(moved).toBe(false)
    }).toPass({ intervals: [100] })
    const { x, y, width, height } = JSON.parse(before) as { x: number; y: number; width: number; height: number }
    return { x: x + width / 2, y: y + height / 2 }
  }
  const [start, end] = [await middle(from), await middle(to)]
  await page.mouse.move(start.x, start.y)
  await page.mouse.down()
  await page.mouse.move((start.x + end.x) / 2, (start.y + end.y) / 2, { steps: 5 })
  await page.mouse.move(end.x, end.y, { steps: 5 })
  await page.mouse.up()
}

/** Waits until an element of this class has the focus, and asserts it. */
async function focused(page: Page, name: string, label = ''): Promise<void> {
  await expect
    .poll(() =>
      page.evaluate((wanted) => {
        const element = document.activeElement
        return element?.classList.contains(wanted) ? (element.getAttribute('aria-label') ?? '') : null
      }, name),
    )
    .toContain(label)
}

/**
 * Presses Tab until a control with this name has the focus. Waits for the control first: a person sees it appear, and a
 * spec's keys are faster than a page that is still loading.
 */
async function tabTo(page: Page, name: string | RegExp, direction: 'on' | 'back' = 'on'): Promise<void> {
  const isCalled = (text: string) => (typeof name === 'string' ? text === name : name.test(text))
  await expect.poll(async () => (await namesOf(page, 'all')).some(isCalled), `a control named ${name}`).toBe(true)
  for (let presses = 0; presses < 80; presses++) {
    if ((await namesOf(page, 'focused')).some(isCalled)) return
    await page.keyboard.press(direction === 'on' ? 'Tab' : 'Shift+Tab')
  }
  throw new Error(`No control named ${name} was come to with the Tab key.`)
}

/** The names of the controls that Tab can reach, or of the focused one. */
function namesOf(page: Page, which: 'all' | 'focused'): Promise<string[]> {
  return page.evaluate((wanted) => {
    const inFocus = document.activeElement === document.body ? null : document.activeElement
    const controls = wanted === 'all' ? document.querySelectorAll('a, button, input, textarea, [tabindex]') : [inFocus]
    return [...controls].map((element) => {
      const label = (element as HTMLInputElement | null)?.labels?.[0]?.textContent
      const text = element?.getAttribute('aria-label') ?? label ?? element?.textContent ?? ''
      return text.replace(/[*\s]+$/, '').trim()
    })
  }, which)
}

/** Presses Tab until the graph has the focus: a single stop for all its steps. */
async function toGraph(page: Page): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if (await page.evaluate(() => document.activeElement?.closest('.react-flow') != null)) return
    await page.keyboard.press('Tab')
  }
  throw new Error('The graph was not come to with the Tab key.')
}
