import type { Locator, Page } from '@playwright/test'
import { createAgent } from '@/server/agents/lifecycle'
import { createTool } from '@/server/tools/lifecycle'
import { createWorkflow, getWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { SAMPLE_WORKFLOWS } from '@/server/workflows/samples'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { saved } from './support/saved'
import type { Workspace } from './support/workspace'

async function open(page: Page, workspace: Workspace, workflowId: string, query = ''): Promise<void> {
  await page.goto(`/${workspace.slug}/workflows/${workflowId}${query}`)
  await expect(page.getByRole('button', { name: /^Problems/ })).toBeVisible()
}

async function stepsOf({ ctx }: Workspace, workflowId: string) {
  return (await getWorkflow(ctx, { id: workflowId })).steps
}

test('form fields keep their order and can be reordered', async ({ page, workspace }) => {
  const output = Object.fromEntries(['reason', 'by', 'amount'].map((name) => [name, { type: 'string' as const }]))
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Leave',
    steps: [
      { id: 'ask', type: 'collect-inputs', output },
      { id: 'approve', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] },
    ],
  })
  await open(page, workspace, id, '?step=ask')
  const names = page.getByRole('textbox', { name: /^Name of / })
  const shown = () => names.evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value))
  await expect.poll(shown).toEqual(['reason', 'by', 'amount'])
  const up = page.getByRole('button', { name: 'Move amount up' })
  await up.click()
  await expect.poll(shown).toEqual(['reason', 'amount', 'by'])
  await expect(up).toBeFocused()
  await page.keyboard.press('Enter')
  await expect.poll(shown).toEqual(['amount', 'reason', 'by'])
  await page.getByRole('textbox', { name: 'Label of by' }).fill('Approved by')
  await saved(page)
  await expect
    .poll(async () => Object.keys((await stepsOf(workspace, id))[0]?.output ?? {}))
    .toEqual(['amount', 'reason', 'by'])
  await expect
    .poll(async () => (await stepsOf(workspace, id))[0]?.output)
    .toMatchObject({ by: { type: 'string', label: 'Approved by' } })
  await page.reload()
  await expect.poll(shown).toEqual(['amount', 'reason', 'by'])
  // Another step's form begins at its top.
  const inspector = page.getByRole('complementary', { name: 'Inspector' })
  const scrolled = () => inspector.evaluate((panel) => panel.scrollTop)
  await inspector.evaluate((panel) => panel.scrollTo(0, panel.scrollHeight))
  expect(await scrolled()).toBeGreaterThan(0)
  await page.getByRole('group', { name: /approve/ }).click()
  await expect(inspector.getByRole('heading', { name: 'approve' })).toBeVisible()
  await expect.poll(scrolled).toBe(0)
})

test('an empty condition says that it is required, and its example is not shown as what is wrong', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Check',
    steps: [{ id: 'check', type: 'condition', when: '' }],
  })
  await open(page, workspace, id, '?step=check')
  await page.getByRole('button', { name: 'Write as text' }).click()
  const field = page.getByRole('textbox', { name: 'If' })
  await expect(field).toHaveAttribute('aria-invalid', 'true')
  await expect(page.getByText('Must not be empty').first()).toBeVisible()
  const [placeholder, wrong] = await field.evaluate((input) => {
    const error = document.createElement('span')
    error.style.color = 'var(--mantine-color-error)'
    input.after(error)
    return [getComputedStyle(input, '::placeholder').color, getComputedStyle(error).color]
  })
  expect(placeholder).not.toBe(wrong)
})

test('edits can be undone and redone, and steps are copied as JSON', async ({ context, page, workspace }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const { approval } = await newCompany(workspace.ctx)
  const before = (await stepsOf(workspace, approval)).length
  const nodes = page.locator('.react-flow__node-step')
  await open(page, workspace, approval)
  await expect(nodes).toHaveCount(before)
  await nodes.first().click()
  await page.keyboard.press('ControlOrMeta+c')
  expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toHaveProperty('steps')
  await page.keyboard.press('ControlOrMeta+v')
  await expect(nodes).toHaveCount(before + 1)
  await page.getByRole('button', { name: /^Undo: / }).click()
  await expect(nodes).toHaveCount(before)
  await page.getByRole('button', { name: /^Redo: / }).click()
  await expect(nodes).toHaveCount(before + 1)
  await saved(page)
  await expect.poll(async () => (await stepsOf(workspace, approval)).length).toBe(before + 1)
  const ids = (await stepsOf(workspace, approval)).map(({ id }) => id)
  expect(new Set(ids).size, 'ids of steps').toBe(ids.length)
})

test('a problem leads to its field', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Unfinished',
    steps: [
      { id: 'call', type: 'call-tool', name: 'Call' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'call', to: 'end' }],
  })
  await open(page, workspace, id)
  await page.getByRole('button', { name: /^Problems [1-9]/ }).click()
  const problems = page.getByRole('list', { name: 'Problems' })
  await expect(problems.getByRole('link', { name: 'INVALID_CONFIG' }).first()).toHaveAttribute(
    'href',
    '/errors/INVALID_CONFIG',
  )
  await problems
    .getByRole('button', { name: / · Tool/ })
    .first()
    .click()
  await expect(page.getByLabel('Id', { exact: true })).toHaveValue('call')
  await expect(page.getByRole('combobox', { name: 'Tool' })).toBeFocused()

  // Known problems stay while the server cannot be reached.
  await page.route(/workflows\.check/, (route) => route.abort())
  await page.getByRole('textbox', { name: 'Name' }).fill('Call the tool')
  await expect(page.getByText('The draft cannot be checked right now.')).toBeVisible()
  await expect(problems.getByRole('button', { name: / · Tool/ })).not.toHaveCount(0)
})

test('Escape closes a dialog, and the selection stays', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Order',
    payload: { total: { type: 'number' } },
    steps: [{ id: 'end', type: 'end-flow' }],
  })
  await page.goto(`/${workspace.slug}/workflows/${id}?step=%23start`)
  const opener = page.getByRole('button', { name: 'Paste a sample' })
  await opener.click()
  await expect(page.getByRole('dialog').getByRole('textbox')).toBeVisible()
  // The focus is in the dialog, on an element that disappears with it.
  await expect(page.getByRole('dialog').getByRole('button').first()).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(opener).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(opener).toHaveCount(0)
})

const DELIVERY = {
  name: 'Book a delivery',
  description: 'Books a courier.',
  kind: 'script',
  config: { code: 'return { booked: true }' },
  inputSchema: {
    type: 'object',
    properties: {
      customer: { type: 'string', description: 'Who gets the parcel' },
      weight: { type: 'number', description: 'In kilograms' },
      speed: { enum: ['normal', 'express'], description: 'How soon it must be there' },
    },
    required: ['customer', 'weight', 'speed'],
    additionalProperties: false,
  },
} as const
const MAPPED = { customer: '${customer}', weight: '${kilograms}', speed: 'express' }

async function deliveryWorkflow({ ctx }: Workspace): Promise<string> {
  const { id } = await createWorkflow(ctx, {
    name: 'Ship an order',
    payload: { note: { type: 'string' }, customer: { type: 'string' }, kilograms: { type: 'number' } },
    steps: [
      { id: 'book', type: 'call-tool', toolId: '' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'book', to: 'end' }],
  })
  return id
}

test('a stranger maps a tool of three arguments without opening its page, by mouse or by keyboard', async ({
  page,
  workspace,
}) => {
  await createTool(workspace.ctx, DELIVERY)
  const [byMouse, byKeys] = [await deliveryWorkflow(workspace), await deliveryWorkflow(workspace)]
  const form = page.getByRole('group', { name: 'Arguments' })
  const argsOf = (id: string) => expect.poll(async () => (await stepsOf(workspace, id))[0]?.args)

  await open(page, workspace, byMouse, '?step=book')
  await page.getByRole('combobox', { name: 'Tool' }).click()
  await page.getByRole('option', { name: 'Book a delivery' }).click()
  await expect(form.getByText('Who gets the parcel')).toBeVisible()
  await expect(form.getByText('In kilograms')).toBeVisible()
  await page.getByRole('button', { name: 'Map 1 of the same name' }).click()
  await page.getByRole('button', { name: 'Insert a value into weight' }).click()
  // Fitting entries come first, before START fields that precede them.
  await expect(page.getByRole('option').first()).toContainText('${kilograms}')
  await page.getByRole('option', { name: /kilograms/ }).click()
  await form.getByLabel(/^speed/).click()
  await page.getByRole('option', { name: 'express' }).click()
  await argsOf(byMouse).toEqual(MAPPED)
  await expect(page.getByRole('button', { name: 'Problems 0' })).toBeVisible()
  // The page holds edits it does not know to be saved, and would ask about them.
  await saved(page)

  // An argument that the tool does not have stays until a person removes it, with one click.
  const [book = {}, ...others] = await stepsOf(workspace, byMouse)
  const coloured = [{ ...book, args: { ...MAPPED, colour: 'red' } }, ...others]
  await updateWorkflow(workspace.ctx, { id: byMouse, body: { steps: coloured } as never })
  await open(page, workspace, byMouse, '?step=book')
  // The tool takes no other arguments, so nothing needs JSON.
  await expect(form.getByText('JSON', { exact: true })).toHaveCount(0)
  await expect(form.getByLabel(/^colour/)).toHaveValue('red')
  await page.getByRole('button', { name: /^Problems 1/ }).click()
  await page.getByRole('list', { name: 'Problems' }).getByRole('button', { name: 'Fix: Remove colour' }).click()
  await argsOf(byMouse).toEqual(MAPPED)
  await page.getByRole('button', { name: /^Undo: fix/ }).click()
  await argsOf(byMouse).toEqual({ ...MAPPED, colour: 'red' })

  await open(page, workspace, byKeys, '?step=book')
  await tabTo(page, page.getByRole('combobox', { name: 'Tool' }))
  await page.keyboard.type('book')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(form.getByText('In kilograms')).toBeVisible()
  await tabTo(page, page.getByRole('button', { name: 'Map 1 of the same name' }))
  await page.keyboard.press('Enter')
  await tabTo(page, form.getByLabel(/^weight/))
  await page.keyboard.press('Control+Space')
  await page.keyboard.press('Enter')
  await expect(form.getByLabel(/^weight/)).toHaveValue('${kilograms}')
  await tabTo(page, form.getByLabel(/^speed/))
  await page.keyboard.type('express')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await argsOf(byKeys).toEqual(MAPPED)
})

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  for (let stop = 0; stop < 80; stop++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  await expect(wanted, 'reached with Tab').toBeFocused()
}

test('a draft can be simulated, and a failure leads to its step', async ({ page, workspace }) => {
  const { id: agentId } = await createAgent(workspace.ctx, {
    ...{ name: 'Clerk', outputSchema: { type: 'object' } },
    tools: [{ toolId: 'tool_json', approval: 'always' }],
  })
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Shares',
    payload: { people: { type: 'number' } },
    steps: [
      { id: 'many', type: 'condition', when: '${people} > 7' },
      { id: 'share', type: 'set-data', compute: { share: '1 / (${people} - 8)' } },
      { id: 'look', type: 'call-agent', agentId, message: 'x' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [
      { from: 'many', to: 'share', on: 'true' },
      { from: 'many', to: 'end', on: 'false' },
      { from: 'share', to: 'look' },
      { from: 'look', to: 'end' },
    ],
  })
  await open(page, workspace, id)
  await page.getByRole('button', { name: 'Simulate', exact: true }).click()
  const panel = page.getByRole('region', { name: 'Simulation' })
  await expect(panel.getByText(/4 of 4 steps and 4 of 4 exits reached/)).toBeVisible()
  const asking = panel.getByRole('region', { name: 'Agents that may ask people' })
  await expect(asking.getByRole('button')).toHaveText('look')
  await panel.getByRole('button', { name: /^share .*divides by zero.*"people":8/ }).click()
  await expect(page.getByRole('textbox', { name: 'Id' })).toHaveValue('share')
})

test('an unpublished draft can be test-run, and an earlier version restored', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Greeting',
    payload: { name: { type: 'string' } },
    steps: [{ id: 'end', type: 'end-flow', output: { text: 'Good day, ${name}' } }],
  })
  await open(page, workspace, id)
  await page.getByRole('button', { name: 'Test run' }).click()
  const panel = page.getByRole('form', { name: 'Test run' })
  await panel.getByLabel(/^name/).fill('Ada')
  await panel.getByRole('button', { name: 'Run this draft' }).click()
  const run = page.getByRole('region', { name: 'This test run' })
  await expect(run.getByText('Completed').first()).toBeVisible()
  await expect(run.getByText('Good day, Ada').first()).toBeVisible()
  expect(await getWorkflow(workspace.ctx, { id })).toMatchObject({ status: 'draft', publishedVersion: null })

  // Replaces the whole text, as a paste would.
  await page.getByText('JSON', { exact: true }).first().click()
  const code = page.getByRole('textbox', { name: 'Workflow as JSON' })
  const text = (await code.evaluate((element) => (element as HTMLElement).innerText)).replace('Good day', 'Good night')
  await code.click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(text)
  await page.getByRole('button', { name: 'Apply' }).click()
  await saved(page)
  await expect.poll(async () => (await stepsOf(workspace, id))[0]?.output).toEqual({ text: 'Good night, ${name}' })

  await page.getByRole('button', { name: 'History', exact: true }).click()
  // Only publishing makes a number that people see.
  const history = page.getByRole('list', { name: 'Versions' })
  await expect(history.getByRole('button', { name: /^Draft of \d\d:\d\d/ })).toHaveCount(2)
  await expect(history.getByText(/\bversion \d/i)).toHaveCount(0)
  await history.getByRole('button').last().click()
  await page.getByRole('button', { name: 'Restore this earlier draft' }).click()
  await expect.poll(async () => (await stepsOf(workspace, id))[0]?.output).toEqual({ text: 'Good day, ${name}' })
  expect((await getWorkflow(workspace.ctx, { id })).version).toBeGreaterThan(2)
})

test('a hull behind each branch follows its steps and catches no click', async ({ page, workspace }) => {
  const sample = SAMPLE_WORKFLOWS.find(({ id }) => id === 'wf_supplier_onboarding')
  const { id } = await createWorkflow(workspace.ctx, sample?.definition ?? {})
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await expect(page.locator('[data-hull]')).toHaveCount(4)
  const hull = page.locator('[data-hull="checks purchasing"]')
  await expect(hull).toHaveText('Purchasing')
  await page.getByRole('button', { name: 'Show the whole graph' }).click()
  const caught = await hull.evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect()
    const at = document.elementFromPoint(x + width - 4, y + height / 2)
    return at?.closest('[data-hull]') !== null
  })
  expect(caught).toBe(false)
  const shape = () => hull.locator('path').getAttribute('d')
  const before = await shape()
  const step = page.locator('.react-flow__node-step').filter({ hasText: 'Purchasing decides' })
  await step.hover()
  await page.mouse.down()
  const { x = 0, y = 0 } = (await step.boundingBox()) ?? {}
  await page.mouse.move(x + 160, y + 160, { steps: 6 })
  await expect.poll(shape).not.toBe(before)
  await page.mouse.up()
})

test('leaving right after a panel opened, while the next screen is slow, still leaves', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  await page.route(/\/inbox\?.*_rsc=/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 800))
    await route.continue()
  })
  await page.goto(`/${workspace.slug}/workflows/${approval}`)
  await page.getByRole('button', { name: /^Problems/ }).click()
  // Before the panel is in the URL.
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await expect(page).toHaveURL(/\/inbox/)
  await page.goBack()
  await expect(page).toHaveURL(/panel=problems/)
})

test('nothing covers the handle of START on an empty workflow', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, { name: 'Empty', steps: [] })
  for (const [width, height] of [
    [1440, 900],
    [1280, 640],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height })
    await page.goto(`/${workspace.slug}/workflows/${id}?view=graph`)
    await expect(page.getByRole('button', { name: 'Add first step' })).toBeVisible()
    const handle = page.locator('.react-flow__node-start .react-flow__handle')
    const free = () =>
      handle.evaluate((element) => {
        const { x, y, width, height } = element.getBoundingClientRect()
        return element.contains(document.elementFromPoint(x + width / 2, y + height / 2))
      })
    await expect.poll(free).toBe(true)
  }
})
