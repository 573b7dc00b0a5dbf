import type { Page } from '@playwright/test'
import { createAgent } from '@/server/agents/lifecycle'
import { createWorkflow, getWorkflow, listWorkflows } from '@/server/workflows/lifecycle'
import { type ModelServer, startModelServer } from '@/test/support/model'
import { EXPENSES } from '@/test/workflows/described'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { publishInEditor } from './support/publish'
import { saved } from './support/saved'
import type { Workspace } from './support/workspace'

let model: ModelServer
test.beforeEach(async () => {
  model = await startModelServer()
})
test.afterEach(() => model.close())

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const text = (definition: object) => ({ text: JSON.stringify(definition) })
const stepsOf = async ({ ctx }: Workspace, id: string) => (await getWorkflow(ctx, { id })).steps.map((step) => step.id)
const dialogOf = (page: Page) => page.getByRole('dialog')

/** The workspace's model, which an agent reaches. */
async function withModel({ ctx }: Workspace): Promise<void> {
  const own = { provider: 'openai-compatible', modelId: 'house-1', baseUrl: model.url, settings: {} } as const
  await createAgent(ctx, { name: 'House model', model: own })
}

test('without a model that has a key, the dialog says where to add one', async ({ page, workspace, browserOf }) => {
  const { id } = await createWorkflow(workspace.ctx, { name: 'Refunds' })
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await page.getByText('Describe your process').click()
  await expect(dialogOf(page).getByText('No model has a key yet')).toBeVisible()
  expect(await violationsOf(page, WCAG)).toEqual([])
  await dialogOf(page).getByRole('link', { name: 'Open the vault' }).click()
  await page.waitForURL(/settings\/vault/)
  const editor = await browserOf('editor')
  await editor.goto(`/${workspace.slug}/workflows/${id}`)
  await editor.getByText('Describe your process').click()
  await expect(dialogOf(editor).getByText(/Ask an admin/)).toBeVisible()
  await expect(dialogOf(editor).getByRole('link', { name: 'Open the vault' })).toHaveCount(0)
})

test('a description draws the workflow and then changes it, each as one edit that undo reverts', async ({
  page,
  workspace,
}) => {
  await withModel(workspace)
  const { id } = await createWorkflow(workspace.ctx, { name: 'Expenses of ours' })
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await page.getByText('Describe your process').click()
  const dialog = dialogOf(page)
  const words = dialog.getByLabel('Your process')
  await expect(words).toBeFocused()
  await words.fill('Employees hand in expenses. Over 1,000 an admin must approve.')

  // It can be stopped, and nothing happens then.
  model.script({ hang: true })
  await dialog.getByRole('button', { name: 'Draw it' }).click()
  await expect(dialog.getByText(/house-1 writes the draft/)).toBeVisible()
  expect(await violationsOf(page, WCAG)).toEqual([])
  await dialog.getByRole('button', { name: 'Stop' }).click()
  await expect.poll(() => model.calls[0]?.aborted).toBe(true)
  await expect(dialog.getByText(/house-1 writes the draft/)).toHaveCount(0)

  // An answer with problems is not offered; the reasons are.
  const broken = text({ ...EXPENSES, edges: [{ from: 'amount_check', to: 'nowhere', on: 'true' }] })
  model.script(broken, broken, broken)
  await words.press('ControlOrMeta+Enter')
  await expect(dialog.getByText('No answer could be used')).toBeVisible()
  await expect(dialog.getByRole('listitem').first()).toContainText('nowhere')
  expect(await violationsOf(page, WCAG)).toEqual([])
  expect(await stepsOf(workspace, id)).toEqual([])

  model.script(text(EXPENSES))
  await dialog.getByRole('button', { name: 'Draw it' }).click()
  await expect(dialog).toHaveCount(0)
  await expect(page.getByText('Steps: 3 added. Undo reverts it.').first()).toBeVisible()
  await saved(page)
  expect(await stepsOf(workspace, id)).toEqual(['amount_check', 'approval', 'done'])
  expect((await getWorkflow(workspace.ctx, { id })).name).toBe('Expenses of ours')

  const board = { id: 'board', type: 'request-user-action', name: 'The board', actions: [{ id: 'ok', label: 'OK' }] }
  const [first, second] = EXPENSES.edges
  model.script(
    text({
      ...{ ...EXPENSES, steps: [...EXPENSES.steps, board] },
      edges: [first, second, { from: 'approval', to: 'board' }, { from: 'board', to: 'done' }],
    }),
  )
  await page.getByRole('button', { name: 'Describe a change' }).click()
  await dialog.getByLabel('The change').fill('Then the board approves, too.')
  await dialog.getByRole('button', { name: 'Change the draft' }).click()
  await expect(page.getByText('Steps: 1 added. Undo reverts it.').first()).toBeVisible()
  await saved(page)
  await expect.poll(() => stepsOf(workspace, id)).toContain('board')
  await page.getByRole('button', { name: 'Undo: describe a change' }).click()
  await expect.poll(() => stepsOf(workspace, id)).toEqual(['amount_check', 'approval', 'done'])
  await page.getByRole('button', { name: 'Redo: describe a change' }).click()
  await expect.poll(() => stepsOf(workspace, id)).toContain('board')
  await saved(page)
  await publishInEditor(page)
  expect(await getWorkflow(workspace.ctx, { id })).toMatchObject({ status: 'published' })
})

test('a new workflow begins with a description, and an error of the model is shown', async ({ page, workspace }) => {
  await withModel(workspace)
  model.script({ status: 400 }, text(EXPENSES))
  await page.goto(`/${workspace.slug}/workflows`)
  await page.getByRole('button', { name: 'New workflow' }).first().click()
  const dialog = dialogOf(page)
  await dialog.getByText('Describe it').click()
  await dialog.getByLabel('Your process').fill('Over 1,000 an admin must approve.')
  await dialog.getByRole('button', { name: 'Create and open' }).click()
  await expect(dialog.getByText('There is no draft')).toBeVisible()
  expect(await violationsOf(page, WCAG)).toEqual([])
  await dialog.getByRole('button', { name: 'Create and open' }).click()
  await page.waitForURL(/\/workflows\/wf_/)
  await expect(page.getByRole('heading', { name: EXPENSES.name })).toBeVisible()
  await expect(page.getByText('Over 1,000?').first()).toBeVisible()
})

test('a step gets a described workflow as a draft, which is not published unseen', async ({ page, workspace }) => {
  await withModel(workspace)
  model.script(text(EXPENSES))
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Parent',
    steps: [{ id: 'call', type: 'run-workflow', workflowId: '', input: {} }],
  } as never)
  await page.goto(`/${workspace.slug}/workflows/${id}?step=call`)
  const form = page.getByRole('complementary', { name: 'Inspector' })
  await form.getByRole('button', { name: 'New workflow' }).click()
  const dialog = dialogOf(page)
  await dialog.getByText('Describe it').click()
  await dialog.getByLabel('Your process').fill('Over 1,000 an admin must approve.')
  await dialog.getByRole('button', { name: 'Create workflow' }).click()
  await expect(form.getByRole('combobox', { name: 'Workflow' })).toHaveValue(EXPENSES.name)
  await expect(page.getByText(`“${EXPENSES.name}” is a draft.`)).toBeVisible()
  await saved(page)
  const { items } = await listWorkflows(workspace.ctx, { search: EXPENSES.name })
  expect(items).toMatchObject([{ name: EXPENSES.name, status: 'draft', publishedVersion: null }])
})
