import { getGroup, listGroups } from '@/server/members/groups/read'
import { createWorkflow, getWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { publishInEditor } from './support/publish'
import { reached, startRun } from './support/runs'
import { saved } from './support/saved'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

test('a group is made, asked in a step, and answers: its member finds the task under Mine, another person does not', async ({
  page,
  workspace,
  browserOf,
}) => {
  const member = await browserOf('editor')
  const other = await browserOf('operator')
  await page.goto(`/${workspace.slug}/settings/groups`)
  await page.getByRole('button', { name: 'New group' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Finance')
  await dialog.getByRole('combobox', { name: 'Members' }).click()
  await page.getByRole('option', { name: /^editor/ }).click()
  await page.keyboard.press('Escape')
  expect(await violationsOf(page, WCAG)).toEqual([])
  await dialog.getByRole('button', { name: 'Create group' }).click()
  await expect(page.getByRole('row', { name: /Finance/ })).toContainText('editor')
  // A notification that fades in has less contrast meanwhile.
  expect(await violationsOf(page, WCAG, '.mantine-Notification-root')).toEqual([])

  const actions = [{ id: 'approve', label: 'Approve' }]
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Invoices',
    payload: { contact: { type: 'string', required: false } },
    steps: [{ id: 'ok', type: 'request-user-action', title: 'Invoice 17', actions }],
  })
  await page.goto(`/${workspace.slug}/workflows/${id}?step=ok`)
  const who = page.getByRole('combobox', { name: 'Who may answer' })
  const assignees = async () => (await getWorkflow(workspace.ctx, { id })).steps[0]?.assignees
  await who.fill('ada.lovelase@')
  await who.press('Enter')
  await who.fill(workspace.owner.email.replace('lovelace', 'lovelase'))
  await who.press('Enter')
  await expect(page.getByText(/is not a member of this workspace/).first()).toBeVisible()
  await who.press('Backspace')
  await who.press('Backspace')
  await who.fill('fin')
  await expect(page.getByRole('option', { name: 'Finance' })).toBeVisible()
  expect(await violationsOf(page, WCAG)).toEqual([])
  await who.press('Enter')
  await who.fill('${contact}')
  await who.blur()
  await expect.poll(assignees).toEqual(['group:Finance', 'user:${contact}'])
  await who.press('Backspace')
  await expect.poll(assignees).toEqual(['group:Finance'])
  await saved(page)
  await publishInEditor(page)

  const runId = await startRun(workspace, id, {})
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await other.goto(`/${workspace.slug}/inbox?view=mine`)
  await expect(other.getByText('You have nothing to do')).toBeVisible()
  await other.goto(`/${workspace.slug}/inbox?task=${encodeURIComponent(`${runId}:main:ok#1`)}`)
  await expect(other.getByText('this task is assigned to other people')).toBeVisible()
  await expect(other.getByRole('button', { name: 'Approve', exact: true })).toBeDisabled()

  await member.goto(`/${workspace.slug}/inbox?view=mine`)
  await member.getByRole('button', { name: /Invoice 17/ }).click()
  await expect(member.getByRole('article')).toContainText('anybody in the group Finance')
  await member.getByRole('article').getByRole('button', { name: 'Approve' }).click()
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
})

test('a rename lists the workflows that have the earlier name, and so does a deletion', async ({ page, workspace }) => {
  await page.goto(`/${workspace.slug}/settings/groups`)
  await page.getByRole('button', { name: 'New group' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('Legal')
  await page.getByRole('dialog').getByRole('button', { name: 'Create group' }).click()
  await expect(page.getByRole('row', { name: /Legal/ })).toContainText('Nobody')
  const output = { n: { type: 'number' as const } }
  const asks = { id: 'ask', type: 'collect-inputs', output, assignees: ['group:Legal'] }
  await createWorkflow(workspace.ctx, { name: 'Contracts', steps: [asks] })
  const choose = async (item: string) => {
    await page.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await choose('Edit')
  await page.getByRole('dialog').getByLabel('Name').fill('Law')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  const renamed = page.getByRole('dialog', { name: /is called “Law” now/ })
  await expect(renamed.getByRole('link', { name: 'Contracts' })).toBeVisible()
  await renamed.getByRole('button', { name: 'Close' }).last().click()
  await expect(page.getByRole('row', { name: /Law/ })).toContainText('Earlier: legal')
  const [group] = await listGroups(workspace.ctx)
  expect((await getGroup(workspace.ctx, { id: group?.id ?? '' })).usedBy).toMatchObject([{ as: ['Legal'] }])
  await choose('Delete')
  await expect(page.getByRole('dialog').getByRole('link', { name: 'Contracts' })).toBeVisible()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByText('No groups yet')).toBeVisible()
})
