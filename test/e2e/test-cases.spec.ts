import { createAgent } from '@/server/agents/lifecycle'
import { createTool, getTool } from '@/server/tools/lifecycle'
import { createWorkflow, getWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'

test('a test of a tool is kept as a test case, run again, and shown before the tool is published', async ({
  page,
  workspace,
}) => {
  const { id } = await createTool(workspace.ctx, {
    name: 'Double',
    kind: 'script',
    config: { code: 'return { twice: 42, at: Date.now() }' },
  })
  await page.goto(`/${workspace.slug}/tools/${id}?tab=test`)
  const cases = page.getByRole('region', { name: 'Test cases' })
  await page.getByRole('button', { name: 'Run test' }).click()
  await cases.getByRole('button', { name: 'Keep as a test case' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Doubles 21')
  await dialog.getByRole('radio', { name: /These fields/ }).check()
  await dialog.getByRole('checkbox', { name: /twice/ }).check()
  await dialog.getByRole('button', { name: 'Keep', exact: true }).click()
  await expect(cases.getByText('Expects: twice is 42')).toBeVisible()
  await expect(cases.getByText('Not run here yet')).toBeVisible()
  await cases.getByRole('button', { name: 'Run Doubles 21' }).click()
  await expect(cases.getByText('Passed')).toBeVisible()

  await page.getByRole('tab', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Code' }).first().click()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('return { twice: 41 }')
  await page.getByRole('button', { name: 'Publish' }).click()
  await expect(dialog.getByText('One test case runs when you publish.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await expect(dialog.getByRole('row', { name: /twice 42 41/ })).toBeVisible()
  await dialog.getByRole('button', { name: 'Publish anyway' }).click()
  await expect(page.getByText('The draft is published.')).toBeVisible()
  expect(await getTool(workspace.ctx, { id })).toMatchObject({ version: 2, publishedVersion: 2 })

  await page.getByRole('tab', { name: 'Test' }).click()
  await cases.getByRole('button', { name: 'Actions for Doubles 21' }).click()
  await page.getByRole('menuitem', { name: 'Edit what it expects' }).click()
  await dialog.getByRole('textbox', { name: 'twice' }).fill('forty')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(dialog.getByText('This must be a number, or text in quotes')).toBeVisible()
  await dialog.getByRole('textbox', { name: 'twice' }).fill('41')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(cases.getByText('twice is 41')).toBeVisible()
  await cases.getByRole('button', { name: 'Run Doubles 21' }).click()
  await expect(cases.getByText('Passed')).toBeVisible()
  await cases.getByRole('button', { name: 'Actions for Doubles 21' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await expect(cases.getByText(/None yet/)).toBeVisible()
})

test('a thread is kept as a test case, and the agent on the screen answers it again', async ({ page, workspace }) => {
  const { id } = await createAgent(workspace.ctx, {
    name: 'Orders',
    instructions: 'Extract the order.',
    outputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  })
  await page.goto(`/${workspace.slug}/agents/${id}?tab=playground`)
  const message = page.getByRole('textbox', { name: /message/i }).first()
  await message.fill('3 apples')
  await message.press('ControlOrMeta+Enter')
  await page.getByRole('button', { name: 'Keep as a test case' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('checkbox', { name: /amount/ }).check()
  await dialog.getByRole('button', { name: 'Keep', exact: true }).click()
  await page.getByRole('tab', { name: 'Test cases' }).click()
  const cases = page.getByRole('region', { name: 'Test cases' })
  await cases.getByRole('button', { name: 'Run 3 apples' }).click()
  await expect(cases.getByText(/Passed.*tokens/)).toBeVisible()
  await cases.getByRole('button', { name: 'Keep a thread of the playground' }).click()
  await expect(page.getByRole('tab', { name: 'Playground' })).toHaveAttribute('aria-selected', 'true')
  await page.getByRole('tab', { name: 'Compare' }).click()
  await page.getByLabel('Test case', { exact: true }).selectOption('3 apples')
  await expect(page.getByLabel('Message')).toHaveValue('3 apples')
})

test('a run is kept as a test case of its workflow, and a publisher sees that it no longer passes', async ({
  page,
  workspace,
}) => {
  const end = (output: object) => [{ id: 'end', type: 'end-flow', output }]
  const { id } = await createWorkflow(workspace.ctx, {
    ...{ name: 'Double', payload: { n: { type: 'number' } }, businessKey: 'order ${n}' },
    steps: end({ n: '${n}' }),
  } as never)
  await publishWorkflow(workspace.ctx, { id })
  const runId = await startRun(workspace, id, { n: 4 })
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  await page.goto(`/${workspace.slug}/workflows/${id}/versions`)
  await page.getByRole('button', { name: 'Keep a run' }).click()
  await page.getByRole('dialog').getByRole('combobox', { name: 'Run' }).click()
  await page.getByRole('option', { name: /^order 4, completed/ }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  const keep = page.getByRole('dialog', { name: 'Keep as a test case' })
  await expect(keep.getByLabel('Name')).toHaveValue('order 4')
  await keep.getByRole('button', { name: 'Keep' }).click()
  const cases = page.getByRole('region', { name: 'Test cases' })
  await expect(cases.getByText('Expects: result is {"n":4}')).toBeVisible()
  await cases.getByRole('button', { name: 'Run order 4' }).click()
  await expect(cases.getByText('Passed')).toBeVisible()

  await updateWorkflow(workspace.ctx, { id, body: { steps: end({ n: '${n}', more: 1 }) } as never })
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  const shown = dialog.getByRole('region', { name: 'Test cases' })
  await expect(shown.getByText('0 of 1 passed, 1 failed')).toBeVisible()
  await expect(shown.getByText('more', { exact: true })).toBeVisible()
  // Another member saves meanwhile: the results belong to the draft that is shown now.
  await updateWorkflow(workspace.ctx, { id, body: { steps: end({ n: '${n}' }), description: 'Twice' } as never })
  await dialog.getByRole('button', { name: /^Publish v\d+ anyway$/ }).click()
  await expect(dialog.getByRole('button', { name: /^Publish v\d+$/ })).toBeEnabled()
  await updateWorkflow(workspace.ctx, { id, body: { steps: end({ n: '${n}', more: 1 }) } as never })
  await dialog.getByRole('button', { name: /^Publish v\d+$/ }).click()
  await expect(shown.getByText('0 of 1 passed, 1 failed')).toBeVisible()
  expect((await getWorkflow(workspace.ctx, { id })).publishedVersion).toBe(1)
  await dialog.getByRole('button', { name: /^Publish v\d+ anyway$/ }).click()
  await expect.poll(async () => (await getWorkflow(workspace.ctx, { id })).publishedVersion).toBeGreaterThan(1)
})
