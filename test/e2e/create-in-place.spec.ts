import type { Page } from '@playwright/test'
import { createTool, getTool } from '@/server/tools/lifecycle'
import { listTools } from '@/server/tools/list'
import { listVaultSecrets } from '@/server/vault/list'
import { openTool } from '@/server/views/tools/open'
import { createWorkflow, getWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { saved } from './support/saved'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']
const SECRET = 'sk-live-0123456789abcdef'
const CURL = `curl -X POST 'https://api.example.com/refunds?lang=en' \\
  -H 'Authorization: Bearer ${SECRET}' -H 'content-type: application/json' -d '{"order":"N-1","amount":42}'`

const inspector = (page: Page) => page.getByRole('complementary', { name: 'Inspector' })

test('a field of START has a label first, its name follows, and its type and limits hold at a start', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Holiday',
    steps: [{ id: 'end', type: 'end-flow', output: { from: '${firstDay}' } }],
  } as never)
  await page.goto(`/${workspace.slug}/workflows/${id}?step=%23start`)
  const form = inspector(page)
  const add = form.getByRole('button', { name: 'Add field' })
  await add.click()
  await form.getByRole('textbox', { name: 'Label of field 1' }).fill('First day')
  const name = form.getByRole('textbox', { name: 'Name of firstDay' })
  await expect(name).toHaveValue('firstDay')
  await form.getByRole('combobox', { name: 'Type of firstDay' }).click()
  await page.getByRole('option', { name: 'Date', exact: true }).click()
  await add.click()
  await form.getByRole('textbox', { name: 'Label of field 2' }).fill('Days')
  await form.getByRole('combobox', { name: 'Type of days' }).click()
  await page.getByRole('option', { name: 'Whole number' }).click()
  await form.getByRole('textbox', { name: 'Minimum of days' }).fill('1')
  await form.getByRole('textbox', { name: 'Maximum of days' }).fill('0')
  await expect(form.getByText('Less than the minimum')).toBeVisible()
  await form.getByRole('textbox', { name: 'Maximum of days' }).fill('30')
  // Once the author has typed a name, the label changes without it.
  await add.click()
  await form.getByRole('textbox', { name: 'Label of field 3' }).fill('Reason')
  await form.getByRole('textbox', { name: 'Name of reason' }).fill('why')
  await form.getByRole('textbox', { name: 'Label of why' }).fill('The reason')
  await form.getByRole('combobox', { name: 'Type of why' }).click()
  await page.getByRole('option', { name: 'Long text' }).click()
  await saved(page)
  expect(await violationsOf(page, WCAG)).toEqual([])
  expect((await getWorkflow(workspace.ctx, { id })).payload).toEqual({
    firstDay: { type: 'string', format: 'date', label: 'First day' },
    days: { type: 'integer', label: 'Days', minimum: 1, maximum: 30 },
    why: { type: 'string', format: 'long-text', label: 'The reason' },
  })

  await page.getByRole('button', { name: 'Test run' }).click()
  const start = page.getByRole('form', { name: 'Test run' })
  await start.getByLabel('First day').fill('2026-07-01')
  await start.getByLabel('Days').fill('31')
  await start.getByLabel('The reason').fill('Sun\nand sea')
  await start.getByRole('button', { name: 'Run this draft' }).click()
  await expect(start.getByText('Must be at most 30')).toBeVisible()
})

test('a step’s picker makes a tool from a curl command: published, with its secret in the vault, its arguments and a name to save under', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Refund',
    steps: [{ id: 'pay', type: 'call-tool', toolId: '', args: {} }],
  } as never)
  await page.goto(`/${workspace.slug}/workflows/${id}?step=pay`)
  const form = inspector(page)
  // Not saved yet when the dialog opens.
  await page.route(/trpc\/[^?]*workflows.save/, (route) => route.abort())
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill('Pay it back')
  await form.getByRole('button', { name: 'New tool' }).click()
  const dialog = page.getByRole('dialog', { name: 'New tool' })
  await dialog.getByRole('radio', { name: /HTTP/ }).check()
  await dialog.getByLabel('Name').fill('Refund an order')
  await dialog.getByRole('button', { name: 'Import curl' }).click()
  const command = page.getByRole('dialog', { name: 'Import curl' })
  await command.getByLabel('Command').fill(CURL)
  await expect(command.getByLabel('Name of authorization')).toHaveValue('EXAMPLE_TOKEN')
  await expect(command.getByText('may be sent only to api.example.com')).toBeVisible()
  await command.getByText('order', { exact: true }).click()
  await command.getByText('amount', { exact: true }).click()
  expect(await violationsOf(page, WCAG)).toEqual([])
  await command.getByRole('button', { name: 'Use request' }).click()
  await expect(dialog.getByLabel('URL')).toHaveValue('https://api.example.com/refunds?lang=en')
  await dialog.getByRole('button', { name: 'Create tool' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)

  await expect(form.getByRole('combobox', { name: 'Tool' })).toHaveValue('Refund an order')
  await expect(form.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('Pay it back')
  await expect(form.getByRole('group', { name: 'Arguments' }).getByLabel(/^amount/)).toBeVisible()
  await form.getByRole('button', { name: 'Use payItBack' }).click()
  await expect(form.getByRole('textbox', { name: 'Save as' })).toHaveValue('payItBack')
  await page.unroute(/trpc\/[^?]*workflows.save/)
  await saved(page)

  const { items } = await listTools(workspace.ctx, {})
  const [tool] = items
  const made = await getTool(workspace.ctx, { id: tool?.id ?? '' })
  expect(made).toMatchObject({
    version: 1,
    publishedVersion: 1,
    config: {
      method: 'POST',
      headers: { authorization: 'Bearer ${secrets.EXAMPLE_TOKEN}' },
      body: { order: '${args.order}', amount: '${args.amount}' },
    },
    inputSchema: {
      properties: { order: { type: 'string' }, amount: { type: 'number' } },
      required: ['order', 'amount'],
    },
  })
  expect(JSON.stringify(made)).not.toContain(SECRET)
  expect(await listVaultSecrets(workspace.ctx)).toMatchObject([{ name: 'EXAMPLE_TOKEN', hosts: ['api.example.com'] }])
  expect((await getWorkflow(workspace.ctx, { id })).steps[0]).toMatchObject({
    toolId: tool?.id,
    name: 'Pay it back',
    saveAs: 'payItBack',
  })
})

test('an agent and a workflow are made where a step needs them', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Letters',
    steps: [
      { id: 'write', type: 'call-agent', agentId: '', message: 'Write' },
      { id: 'send', type: 'run-workflow', workflowId: '', input: {} },
    ],
    edges: [{ from: 'write', to: 'send' }],
  } as never)
  await page.goto(`/${workspace.slug}/workflows/${id}?step=write`)
  const form = inspector(page)
  await form.getByRole('button', { name: 'New agent' }).click()
  const agent = page.getByRole('dialog', { name: 'New agent' })
  await agent.getByRole('textbox', { name: 'Name', exact: true }).fill('Letter writer')
  await agent.getByLabel('Instructions').fill('Write a kind letter.')
  await agent.getByRole('textbox', { name: 'Name of Answer, summary' }).fill('letter')
  await agent.getByRole('combobox', { name: 'Type of Answer, letter' }).selectOption('Email')
  await agent.getByRole('button', { name: 'Create agent' }).click()
  await expect(form.getByRole('combobox', { name: 'Agent' })).toHaveValue('Letter writer')
  await expect(form.getByText('not published')).toHaveCount(0)

  await page.locator('.react-flow__node-step').filter({ hasText: 'send' }).click()
  await form.getByRole('button', { name: 'New workflow' }).click()
  const workflow = page.getByRole('dialog', { name: 'New workflow' })
  await workflow.getByRole('textbox', { name: 'Name', exact: true }).fill('Send a letter')
  await workflow.getByRole('button', { name: 'Create workflow' }).click()
  await expect(form.getByRole('combobox', { name: 'Workflow' })).toHaveValue('Send a letter')
  await saved(page)
  expect(page.url()).toContain(`/workflows/${id}`)
})

test('a tool’s answer becomes its schema, what its request uses its arguments, and its first publication has no number', async ({
  page,
  workspace,
}) => {
  const { id } = await createTool(workspace.ctx, {
    name: 'Price',
    kind: 'script',
    config: { code: 'return { price: 42, of: args.article, tags: ["a"] }' },
  })
  await page.goto(`/${workspace.slug}/tools/${id}`)
  await expect(page.getByText('The script uses article.')).toBeVisible()
  await page.getByRole('button', { name: 'Add the argument' }).click()
  await page.getByRole('tab', { name: 'Test' }).click()
  await page.getByRole('textbox', { name: /^article/ }).fill('AX-210')
  await page.getByRole('button', { name: 'Run test' }).click()
  await page.getByRole('button', { name: 'Use this answer as the schema' }).click()
  await expect(page.getByText('answers must have the fields of this one')).toBeVisible()
  await page.getByRole('tab', { name: 'Edit' }).click()
  const price = page.getByRole('combobox', { name: 'Type of Output schema, price' })
  await expect(price).toHaveValue('number')
  await page.getByRole('button', { name: 'Limits of Output schema, price' }).click()
  await page.getByRole('textbox', { name: 'Minimum of Output schema, price' }).fill('0')
  await expect(page.getByText(/Draft saved/)).toBeVisible()
  expect(await openTool(workspace.ctx, { id })).toMatchObject({
    draft: {
      content: {
        inputSchema: { properties: { article: {} }, required: ['article'] },
        outputSchema: {
          properties: { price: { type: 'number', minimum: 0 }, tags: { type: 'array', items: { type: 'string' } } },
          required: ['price', 'of', 'tags'],
        },
      },
    },
  })
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('Callers of this tool get it from now on.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await expect(page.getByText('The draft is published.')).toBeVisible()
  await page.getByRole('tab', { name: 'Versions' }).click()
  await expect(page.getByRole('button', { name: /^Version 1.*As created, never published/ })).toBeVisible()
})

test('a tool can be published as it is created, as version 1', async ({ page, workspace }) => {
  await page.goto(`/${workspace.slug}/tools?new=1`)
  const dialog = page.getByRole('dialog', { name: 'New tool' })
  await dialog.getByLabel('Name').fill('Greet')
  await dialog.getByRole('button', { name: 'Create and publish' }).click()
  await expect(page.getByRole('heading', { name: 'Greet', level: 1 })).toBeVisible()
  const { items } = await listTools(workspace.ctx, {})
  expect(items).toMatchObject([{ name: 'Greet', version: 1, publishedVersion: 1 }])
})

test('the new tool of a step fits a phone, and the dark theme', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(`/${workspace.slug}/workflows/${approval}?step=stock`)
  await page.getByRole('button', { name: 'New tool' }).click()
  const dialog = page.getByRole('dialog', { name: 'New tool' })
  await expect(dialog.getByLabel('Name')).toBeFocused()
  await expect(dialog.getByRole('textbox', { name: 'Code' })).toBeVisible()
  expect(await dialog.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0)
  expect(await violationsOf(page, WCAG)).toEqual([])
})
