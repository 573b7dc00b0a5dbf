import { getRunStatus } from '@/server/runs/status'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { SAMPLE_WORKFLOWS } from '@/server/workflows/samples'
import { seedIterations } from '../support/seed-runs'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { cancelRun, reached, resumeRun, startRun } from './support/runs'
import { database } from './support/workspace'

test('a run page updates live, and a paused run can be answered there', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByText('Waiting', { exact: true }).first()).toBeVisible()
  const data = { article: 'AX-210', amount: 4 }
  // Answer from elsewhere: the open page must update without a reload.
  await resumeRun(workspace, runId, { type: 'collect_inputs', data })
  await expect(page.getByRole('button', { name: 'Approve' })).toBeVisible()
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect(page.getByText('Completed').first()).toBeVisible()
})

test('a run’s input, result and decisions take no click', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await resumeRun(workspace, runId, { type: 'collect_inputs', data: { article: 'AX-210', amount: 4 } })
  await reached(workspace, runId, ({ status, currentStepId }) => status === 'paused' && currentStepId === 'decision')
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByText(/waiting for someone to choose Approve or Reject for Order of AX-210/)).toBeVisible()
  const body = { type: 'request_user_action', actionId: 'approve', actionValue: 'fine' }
  await resumeRun(workspace, runId, body)
  await expect(
    page.getByText('Ada Lovelace chose “Approve” for Order of AX-210, which led to Order placed.'),
  ).toBeVisible()
  await expect(page.getByRole('region', { name: 'Input', exact: true })).toContainText('Okafor')
  await expect(page.getByRole('region', { name: 'Result', exact: true })).toContainText('AX-210')
  // A form was filled in, too.
  const answers = page.getByRole('region', { name: 'Answers' })
  await expect(answers).toContainText('Approve')
  await expect(answers).toContainText(/by Ada Lovelace, \d\d:\d\d .*: “fine”/)
  // The axis has times; dragging along it shows a part, and a button the whole again.
  const axis = page.getByRole('region', { name: 'Timeline' })
  await expect(axis).toContainText(/\d (ms|s)/)
  const track = await page.locator('[class*="axisTrack"]').boundingBox()
  if (!track) throw new Error('there is no axis')
  const y = track.y + track.height / 2
  await page.mouse.move(track.x + track.width * 0.2, y)
  await page.mouse.down()
  await page.mouse.move(track.x + track.width * 0.6, y, { steps: 4 })
  await page.mouse.up()
  await page.getByRole('button', { name: 'Show the whole run' }).click()
  await expect(page.getByRole('button', { name: 'Show the whole run' })).toBeHidden()
})

test('an agent’s step opens into its messages, tool calls and tokens', async ({ page, workspace }) => {
  const { triage } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, triage, { text: 'Where is my parcel?' })
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  await page.goto(`/${workspace.slug}/runs/${runId}?step=read&tab=messages`)
  const details = page.getByRole('complementary', { name: 'Details of Read the message' })
  await expect(details).toContainText('Where is my parcel?')
  await expect(details).toContainText(/\d+ in, \d+ out/)
  await expect(details.getByText('Answer', { exact: true })).toBeVisible()
})

test('one paused run is cancelled, and another terminated', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const start = () => startRun(workspace, approval, { customer: 'Okafor' })
  const [first, second] = [await start(), await start()]
  for (const runId of [first, second]) await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/runs/${first}`)
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /cancel/i })
    .click()
  await expect(page.getByText('Cancelled').first()).toBeVisible()
  await page.goto(`/${workspace.slug}/runs/${second}`)
  await page.getByRole('button', { name: 'More ways to stop the run' }).click()
  await page.getByRole('menuitem', { name: /terminate/i }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /terminate/i })
    .click()
  await expect(page.getByText('Terminated').first()).toBeVisible()
  for (const runId of [first, second]) await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
})

test('a failed run says why, and a new run continues from the failed step', async ({ page, workspace }) => {
  const { refund } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, refund, { order: 'N-1', amount: 5 })
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByText('Failed').first()).toBeVisible()
  await expect(page.getByText('the card has expired').first()).toBeVisible()
  await expect(page.getByText('No other run failed in the same way.')).toBeVisible()
  await page.getByRole('button', { name: 'Retry from here' }).click()
  await expect(page).not.toHaveURL(new RegExp(runId))
  await expect(page.getByText('1 other run failed in the same way')).toBeVisible()
  await expect(page.getByRole('link', { name: 'an earlier run' })).toHaveAttribute('href', new RegExp(runId))
  await page.getByText('1 other run failed in the same way').click()
  await expect(page.getByRole('main').getByRole('link', { name: 'Refund' })).toHaveCount(2)
})

test('viewers are offered no actions', async ({ browserOf, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  const page = await browserOf('viewer')
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByText('Waiting', { exact: true }).first()).toBeVisible()
  const usable = page
    .getByRole('main')
    .getByRole('button', { name: /^(Cancel|Submit|Approve|More ways to stop the run)$/, disabled: false })
  await expect(usable).toHaveCount(0)
  await page.goto(`/${workspace.slug}/workflows/${approval}`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expect(page.getByRole('button', { name: /^(Publish|Add step|Delete step)$/, disabled: false })).toHaveCount(0)
})

test('new runs wait behind a button until they are requested', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const start = () => startRun(workspace, approval, { customer: 'Okafor' })
  await start()
  // The page reads again after its script has loaded.
  const looked = page.waitForResponse(/runs\.countNew/)
  await page.goto(`/${workspace.slug}/runs`)
  await looked
  const rows = page.getByRole('main').getByRole('link', { name: 'Purchase approval' })
  await expect(rows).toHaveCount(1)
  await start()
  const button = page.getByRole('button', { name: '1 new run' })
  await expect(button).toBeVisible()
  await expect(rows).toHaveCount(1)
  await button.click()
  await expect(rows).toHaveCount(2)
  await expect(button).toBeHidden()
})

test('a run is found by a value of its input, the filters are kept as a view, and its runs are run again', async ({
  page,
  workspace,
}) => {
  const { triage } = await newCompany(workspace.ctx)
  for (const text of ['The parcel is wet', 'The invoice is wrong'])
    await reached(workspace, await startRun(workspace, triage, { text }), ({ endTime }) => endTime !== undefined)
  const main = page.getByRole('main')
  const views = page.getByRole('button', { name: 'Views', exact: true })
  await page.goto(`/${workspace.slug}/runs`)
  await expect(main.getByText('2 runs: 2 completed')).toBeVisible()
  // Without a filter nobody has selected these runs.
  await page.getByRole('button', { name: 'Actions for these runs' }).click()
  await page.getByRole('menuitem', { name: 'Run ended runs again…' }).click()
  const all = page.getByRole('dialog').getByRole('button', { name: 'Run 2 runs again' })
  await expect(all).toBeDisabled()
  await page.getByRole('dialog').getByLabel('Type 2 to confirm').fill('2')
  await expect(all).toBeEnabled()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByLabel('Search runs').fill('parcel')
  await expect(main.getByText('1 run: 1 completed')).toBeVisible()
  await expect(main.getByRole('link', { name: 'Ticket triage' })).toHaveCount(1)
  await views.click()
  await page.getByRole('menuitem', { name: 'Save these filters…' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Parcels')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.goto(`/${workspace.slug}/workflows/${triage}/runs`)
  // The workflow is the page's own: the column has the version.
  await expect(main.getByRole('columnheader', { name: 'Version' })).toBeVisible()
  await views.click()
  await page.getByRole('menuitem', { name: 'Parcels' }).click()
  await expect(page).toHaveURL(/\/runs\?q=parcel$/)
  await expect(main.getByText('1 run: 1 completed')).toBeVisible()
  await page.getByRole('button', { name: 'Actions for these runs' }).click()
  await page.getByRole('menuitem', { name: 'Run ended runs again…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Run 1 run again' }).click()
  await expect(page.getByRole('dialog')).toContainText('1 run was run again.')
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await expect(main.getByText('2 runs: 2 completed')).toBeVisible()
  await views.click()
  await page.getByRole('menuitem', { name: 'Delete “Parcels”' }).click()
  await views.click()
  await expect(page.getByText('Saved filters appear here')).toBeVisible()
})

test('the totals of a search agree with its rows once a run ends', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  const main = page.getByRole('main')
  await page.goto(`/${workspace.slug}/runs?q=Okafor`)
  await expect(main.getByText('1 run: 1 waiting')).toBeVisible()
  await cancelRun(workspace, runId, 'No longer needed')
  await expect(main.getByRole('row').getByText('Cancelled')).toBeVisible()
  await expect(main.getByText('1 run: 1 cancelled')).toBeVisible()
})

test('very many iterations are listed by number, failed ones first, and opened with the keyboard', async ({
  page,
  workspace,
}) => {
  const { runId } = await seedIterations(database().sql, workspace.tenantId, 6_000)
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await timeline.getByRole('button', { name: /^Each order/ }).focus()
  await page.keyboard.press('ArrowRight')
  await expect(timeline.getByText('6,000 items, 5,940 completed, 60 failed')).toBeVisible()
  await page.keyboard.press('ArrowDown')
  await expect(page.getByRole('textbox', { name: 'Go to an item of Each order' })).toBeFocused()
  await expect(timeline.getByRole('button', { name: /^Item 99, failed, The shop answered 503/ })).toBeVisible()
  await expect(timeline.getByRole('button', { name: /^Item 0,/ })).toHaveCount(0)
  await page.keyboard.type('4321')
  await page.keyboard.press('Enter')
  await expect(timeline.getByRole('button', { name: /^Item 4,321, completed/ })).toBeFocused()
  await page.keyboard.press('ArrowRight')
  await expect(timeline.getByRole('button', { name: /^Is it new\?, completed, exit True/ })).toBeVisible()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const details = page.getByRole('complementary', { name: 'Details of Is it new?' })
  await expect(details).toContainText('Item 4,321')
  expect(await timeline.getByRole('listitem').count()).toBeLessThan(80)
  // An address leads into an iteration, even if the page has not loaded it.
  await page.goto(`/${workspace.slug}/runs/${runId}?step=${encodeURIComponent('main/each#1/77:save#1')}`)
  await expect(page.getByRole('complementary', { name: 'Details of Save the order' })).toContainText('Item 77')
  await expect(timeline.getByRole('button', { name: /^Item 77, completed/ })).toBeVisible()
})

test('branches are grouped by name under the step that began them', async ({ page, workspace }) => {
  const sample = SAMPLE_WORKFLOWS.find(({ id }) => id === 'wf_supplier_onboarding')
  const { id } = await createWorkflow(workspace.ctx, sample?.definition ?? {})
  await publishWorkflow(workspace.ctx, { id })
  const runId = await startRun(workspace, id, { supplier: 'Okafor' })
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  const timeline = page.getByRole('region', { name: 'Timeline' })
  for (const name of [/^Purchasing, waiting/, /^Finance, waiting/, /^Documents, completed/, /^Item 1, completed/])
    await expect(timeline.getByRole('button', { name })).toBeVisible()
  await timeline.getByRole('button', { name: /^Bank details, waiting/ }).click()
  const details = page.getByRole('complementary', { name: 'Details of Bank details' })
  await expect(details).toContainText('Finance')
  await page.keyboard.press('ArrowLeft')
  await expect(timeline.getByRole('button', { name: /^Finance, waiting/ })).toBeFocused()
  await timeline.getByRole('button', { name: 'Branches of All at the same time' }).click()
  await expect(timeline.getByRole('button', { name: /^Finance/ })).toHaveCount(0)
})

test('another input is entered in the START fields, and hidden values stay unchanged', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Transfer',
    payload: {
      customer: { type: 'string' },
      address: { type: 'object', default: { city: '' } },
      account: { type: 'string', label: 'Account number', sensitive: true },
    },
    steps: [
      {
        ...{ id: 'end', type: 'end-flow' },
        output: { customer: '${customer}', address: '${address}', account: '${account}' },
      },
    ],
  })
  await publishWorkflow(workspace.ctx, { id })
  const given = { customer: 'Okafor', address: { city: 'Bern' }, account: 'DE-1' }
  const first = await startRun(workspace, id, given)
  await reached(workspace, first, ({ endTime }) => endTime !== undefined)
  await page.goto(`/${workspace.slug}/runs/${first}`)
  await page.getByRole('button', { name: 'Run again', exact: true }).click()
  await page.getByRole('menuitem', { name: /^With another input/ }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByLabel('customer')).toHaveValue('Okafor')
  await expect(dialog).toContainText('The value is hidden, and stays as it is.')
  await dialog.getByLabel('customer').fill('Rossi')
  await dialog.getByLabel(/^city text/).fill('Basel')
  // The same as JSON, and back.
  await dialog.getByRole('button', { name: 'Enter all fields as JSON' }).click()
  const json = dialog.getByRole('textbox', { name: 'START fields' })
  await expect(json).toHaveValue(/"customer": "Rossi"/)
  await expect(json).toHaveValue(/"account": "\*\*\*"/)
  await expect(dialog).toContainText('A sensitive field that stays so keeps its value')
  await dialog.getByRole('button', { name: 'Enter it in rows' }).click()
  await expect(dialog.getByLabel('customer')).toHaveValue('Rossi')
  await dialog.getByRole('button', { name: 'Replace Account number' }).click()
  await expect(dialog.getByRole('textbox', { name: 'Account number' })).toHaveValue('')
  await dialog.getByRole('button', { name: 'Keep the hidden value of Account number' }).click()
  await dialog.getByRole('button', { name: 'Run again' }).click()
  await expect(page).toHaveURL(new RegExp(`/runs/(?!${first})run_`))
  const next = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  await reached(workspace, next, ({ endTime }) => endTime !== undefined)
  // A program gets the stored value; signed-in people have to reveal it.
  const key = { kind: 'apiKey', id: 'key_reader', role: 'owner' } as const
  const { result } = await getRunStatus({ ...workspace.ctx, actor: key }, { runId: next })
  expect(result).toEqual({ customer: 'Rossi', address: { city: 'Basel' }, account: 'DE-1' })
})
