import { getRunStatus } from '@/server/runs/status'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { withoutPolls } from './support/polls'
import { cancelRun, reached, resumeRun, startRun } from './support/runs'

test('counts follow an answer at once, and never contradict the queue', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const start = (customer: string) => startRun(workspace, approval, { customer })
  const [first, second] = [await start('Okafor'), await start('Rossi')]
  for (const runId of [first, second]) await reached(workspace, runId, ({ status }) => status === 'paused')
  await withoutPolls(page)
  await page.goto(`/${workspace.slug}/inbox`)
  const badge = page.getByRole('navigation', { name: 'Main' }).getByLabel('2 waiting')
  await expect(badge).toBeVisible()
  await expect(page.getByText('2 waiting', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: /The order.*Okafor/ }).click()
  await page.getByLabel(/^Article/).fill('AX-210')
  await page.getByLabel(/^Quantity/).fill('4')
  await page.getByRole('button', { name: 'Submit' }).click()
  // The task disappears at once, although the answer can still be undone.
  const one = page.getByRole('navigation', { name: 'Main' }).getByLabel('1 waiting')
  await expect(one).toBeVisible()
  // After that, the run's decision is next.
  await expect(page.getByRole('button', { name: /Order of AX-210.*Okafor/ })).toBeVisible()
  await expect(badge).toBeVisible()
  await expect(page.getByText('2 waiting', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: /Order of AX-210.*Okafor/ }).click()
  // Digits typed into the remark choose no action.
  await page.getByLabel('Remark').fill('Over budget')
  await page.getByLabel('Remark').pressSequentially(' 12')
  await page.getByRole('button', { name: 'Reject' }).click()
  await expect(one).toBeVisible()
  await expect(page.getByText('1 waiting', { exact: true })).toBeVisible()
  await reached(workspace, first, ({ endTime }) => endTime !== undefined)
  await page.goto(`/${workspace.slug}/inbox?view=done`)
  await page.getByRole('button', { name: /Order of AX-210.*Okafor/ }).click()
  await expect(page.getByRole('article').getByText('“Over budget 12”')).toBeVisible()
  await page.getByRole('link', { name: 'Open the run' }).click()
  await expect(page.getByRole('region', { name: /^(Decisions|Answers)$/ })).toContainText('“Over budget 12”')
})

test('when another person answers, counts and list follow without a reload or a poll', async ({
  browserOf,
  workspace,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  const other = await browserOf('operator')
  await withoutPolls(other)
  await other.goto(`/${workspace.slug}/inbox`)
  const task = (name: string) => other.getByRole('button', { name: new RegExp(`${name}.*Okafor`) })
  const inView = (name: string) => other.getByRole('radiogroup', { name: 'Tasks' }).getByText(name, { exact: true })
  const badge = (count: number) =>
    other.getByRole('navigation', { name: 'Main' }).getByLabel(`${count} waiting`, { exact: true })
  await expect(task('The order')).toBeVisible()
  await expect(badge(1)).toBeVisible()
  await expect(inView('All').locator('..')).toHaveText('All 1')
  await resumeRun(workspace, runId, { type: 'collect_inputs', data: { article: 'AX-210', amount: 4 } })
  await expect(task('Order of AX-210')).toBeVisible()
  await expect(task('The order')).toHaveCount(0)
  await startRun(workspace, approval, { customer: 'Rossi' })
  await expect(badge(2)).toBeVisible()
  await expect(inView('All').locator('..')).toHaveText('All 2')
  // A claim moves the task into its member's own view.
  await task('Order of AX-210').click()
  await other.getByRole('button', { name: 'Claim', exact: true }).click()
  await expect(inView('Mine').locator('..')).toHaveText('Mine 1')
  await cancelRun(workspace, runId, 'Not needed')
  await expect(badge(1)).toBeVisible()
  await expect(inView('Mine').locator('..')).toHaveText('Mine')
  await expect(other.getByText('Withdrawn')).toBeVisible()
})

test('a queue is worked off by keyboard: each answer leads to the next task, ready to be typed into', async ({
  page,
  workspace,
}) => {
  const { onboarding } = await newCompany(workspace.ctx)
  await publishWorkflow(workspace.ctx, { id: onboarding })
  const runIds: string[] = []
  for (let index = 0; index < 5; index++) {
    const runId = await startRun(workspace, onboarding, {})
    await reached(workspace, runId, ({ status }) => status === 'paused')
    runIds.push(runId)
  }
  await page.goto(`/${workspace.slug}/inbox`)
  await expect(page.getByText('5 waiting', { exact: true })).toBeVisible()
  await page.keyboard.press('j')
  for (const [index, runId] of runIds.entries()) {
    await expect(page).toHaveURL(new RegExp(runId))
    await expect(page.getByLabel('company')).toBeFocused()
    await page.keyboard.type(`Company ${index}`)
    await page.keyboard.press('Control+Enter')
  }
  await expect(page.getByText('Nothing is waiting for a person')).toBeVisible()
  for (const runId of runIds) await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  // Answered tasks stay available.
  await page.getByText('Done', { exact: true }).click()
  await page.getByLabel('Answered by me').click()
  await expect(page.getByLabel('Answered by me')).toBeChecked()
  const done = page.getByRole('region', { name: 'Queue' }).getByRole('button', { name: /Papers/ })
  await expect(done).toHaveCount(5)
  await done.first().click()
  await expect(page.getByText('Answered by you')).toBeVisible()
  await expect(page.getByRole('article')).toContainText('Company 4')
  await page.getByLabel('Search tasks').fill('no such supplier')
  await expect(page.getByText('No tasks match')).toBeVisible()
})

test('runs that match a filter are counted, and then cancelled', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const runIds: string[] = []
  for (const customer of ['Okafor', 'Okafor', 'Rossi']) {
    const runId = await startRun(workspace, approval, { customer })
    await reached(workspace, runId, ({ status }) => status === 'paused')
    runIds.push(runId)
  }
  await page.goto(`/${workspace.slug}/runs?key=Okafor`)
  await page.getByRole('button', { name: 'Actions for these runs' }).click()
  await page.getByRole('menuitem', { name: 'Cancel open runs' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel 2 runs' }).click()
  await expect(page.getByRole('dialog')).toContainText('2 runs were cancelled.')
  for (const runId of runIds.slice(0, 2)) await reached(workspace, runId, ({ outcome }) => outcome === 'cancelled')
  await reached(workspace, runIds[2] ?? '', ({ status }) => status === 'paused')
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('button', { name: 'Actions for these runs' }).click()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Download as CSV' }).click(),
  ])
  expect(file.suggestedFilename()).toMatch(/^runs-.*\.csv$/)
})

test('runs are found by their key, in the list, the palette and the address', async ({ page, workspace }) => {
  const { refund } = await newCompany(workspace.ctx)
  for (const order of ['N-20417', 'N-30000']) {
    const runId = await startRun(workspace, refund, { order, amount: 5 })
    await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  }
  await page.goto(`/${workspace.slug}/runs?q=n-204`)
  const rows = page.getByRole('main').getByRole('row')
  await expect(rows).toHaveCount(2)
  await expect(rows.last()).toContainText('N-20417')
  await page.getByRole('link', { name: 'Refund' }).click()
  await page.getByRole('link', { name: 'N-20417', exact: true }).click()
  await expect(page).toHaveURL(/key=N-20417/)
  await expect(rows).toHaveCount(2)
  await page.keyboard.press('Control+k')
  await page
    .getByPlaceholder(/search|find/i)
    .last()
    .fill('N-300')
  await page.getByRole('button', { name: /N-30000 · Refund/ }).click()
  await expect(page.getByRole('heading', { name: 'Refund' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'N-30000', exact: true })).toBeVisible()
})

test('a start that takes a file has a file picker', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Paper',
    payload: { paper: { type: 'file' }, copies: { type: 'integer', default: 1 } },
    steps: [{ id: 'end', type: 'end-flow', output: { paper: '${paper}', copies: '${copies}' } }],
  })
  await publishWorkflow(workspace.ctx, { id })
  await page.goto(`/${workspace.slug}/workflows`)
  await page
    .getByRole('button', { name: /Actions of Paper|More.*Paper|Paper/ })
    .first()
    .click()
  await page.getByRole('menuitem', { name: /^Start/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('input[type="file"]').setInputFiles({
    name: 'paper.txt',
    mimeType: 'text/plain',
    buffer: Buffer.alloc(2_000_000, 'a'),
  })
  await dialog.getByRole('button', { name: 'Start run' }).click()
  const result = page.getByRole('region', { name: 'Result', exact: true })
  await expect(result).toContainText('paper.txt')
  // A similar start has it too.
  await page.getByRole('button', { name: 'Run again', exact: true }).click()
  await page.getByRole('menuitem', { name: 'With another input…' }).click()
  await expect(dialog).toContainText('The new run gets the same file, unless you choose another')
  const other = { name: 'other.txt', mimeType: 'text/plain', buffer: Buffer.from('b') }
  await dialog.locator('input[type="file"]').setInputFiles(other)
  await dialog.getByRole('button', { name: 'Run again' }).click()
  await expect(dialog).toHaveCount(0)
  await expect(result).toContainText('other.txt')
  await expect(result).not.toContainText('paper.txt')
})

test('objects and lists of a start are filled in by rows', async ({ page, workspace }) => {
  const usual = { customer: { name: 'Ada', vip: false }, lines: [{ sku: 'A', amount: 1 }] }
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Shop',
    payload: { order: { type: 'object', default: usual }, tags: { type: 'array', required: false } },
    steps: [{ id: 'end', type: 'end-flow', output: { order: '${order}', tags: '${tags}' } }],
  })
  await publishWorkflow(workspace.ctx, { id })
  await page.goto(`/${workspace.slug}/workflows`)
  await page.getByRole('button', { name: 'Actions for Shop' }).click()
  await page.getByRole('menuitem', { name: /^Start/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/^name text/).fill('Tess')
  await dialog.getByLabel(/^amount number/).fill('2.5')
  await dialog.getByRole('button', { name: 'Add to lines' }).click()
  await dialog
    .getByLabel(/^sku text/)
    .last()
    .fill('B')
  await dialog.getByRole('button', { name: 'Add to tags' }).click()
  await dialog.getByLabel(/^tags 1 any/).fill('urgent')
  // The same value as text, and back.
  await dialog.getByRole('button', { name: 'Enter tags as JSON' }).click()
  await expect(dialog.getByLabel('tags')).toHaveValue('[\n  "urgent"\n]')
  await dialog.getByRole('button', { name: 'Enter it in rows' }).click()
  await dialog.getByRole('button', { name: 'Start run' }).click()
  await expect(page).toHaveURL(/runs\/run_/)
  const runId = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  const order = { customer: { name: 'Tess', vip: false }, lines: [{ sku: 'A', amount: 2.5 }, { sku: 'B' }] }
  expect((await getRunStatus(workspace.ctx, { runId })).result).toEqual({ order, tags: ['urgent'] })
})

test('the command on an empty runs page starts a run', async ({ page, workspace }) => {
  const { refund } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/runs`)
  const command = (await page.getByRole('main').locator('pre').first().textContent()) ?? ''
  const [, workflowId = ''] = /start-async\/([\w-]+)/.exec(command) ?? []
  const [, body = ''] = /-d '(.*)'$/s.exec(command) ?? []
  expect([refund, workflowId]).toContain(workflowId)
  const answer = await page.request.post(`/api/workflow/start-async/${workflowId}`, {
    headers: { 'x-api-key': workspace.apiKey, 'x-tenant-id': workspace.tenantId, 'content-type': 'application/json' },
    data: body,
  })
  expect(answer.status(), body).toBeLessThan(300)
})

test('a decision that needs two people: one votes, one may not, and another decides', async ({
  page,
  workspace,
  browserOf,
}) => {
  const actions = [
    { id: 'approve', label: 'Approve' },
    { id: 'reject', label: 'Reject' },
  ]
  const asked = { assignees: ['role:admin'], needs: { approve: 2 }, dueIn: 'PT0.1S' }
  const step = { id: 'ask', type: 'request-user-action', title: 'A new van', actions, ...asked }
  const { id } = await createWorkflow(workspace.ctx, { name: 'Buy', steps: [step] })
  await publishWorkflow(workspace.ctx, { id })
  const runId = await startRun(workspace, id, {})
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox`)
  await page.getByText('My roles', { exact: true }).click()
  const queued = page.getByRole('button', { name: /A new van/ })
  await expect(queued).toContainText('Overdue')
  await queued.click()
  const task = page.getByRole('article')
  await expect(task).toContainText('anybody with the role admin or higher')
  await task.getByRole('button', { name: 'Approve' }).click()
  await expect(task).toContainText('You chose “Approve”')
  await expect(task).toContainText('You have voted')
  await expect(page.getByText('Nothing is waiting for your role')).toBeVisible()

  const other = await browserOf('operator')
  await other.goto(`/${workspace.slug}/inbox?task=${runId}:ask`)
  await expect(other.getByText('this task is assigned to other people')).toBeVisible()
  await expect(other.getByRole('button', { name: 'Approve', exact: true })).toBeDisabled()

  const admin = await browserOf('admin')
  await admin.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(admin.getByText('1 of 2 chose “Approve”: Ada Lovelace.')).toBeVisible()
  await admin.getByRole('button', { name: 'Approve' }).click()
  await expect(admin.getByText(/2 of 2 chose “Approve” for A new van: Ada Lovelace and admin/)).toBeVisible()
})

test('an answer can be undone for a while, and others see that a person is answering', async ({
  page,
  workspace,
  browserOf,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  const other = await browserOf('operator')
  await other.goto(`/${workspace.slug}/inbox`)
  const queued = other.getByRole('button', { name: /The order.*Okafor/ })
  await expect(queued).toBeVisible()
  await page.goto(`/${workspace.slug}/inbox`)
  await page.getByRole('button', { name: /The order.*Okafor/ }).click()
  await page.getByLabel(/^Article/).fill('AX-210')
  await page.getByLabel(/^Quantity/).fill('4')
  await page.getByRole('button', { name: 'Submit' }).click()
  await expect(page.getByRole('article')).toContainText('You have answered')
  await page.getByRole('alert').getByRole('button', { name: 'Undo' }).first().click()
  await expect(page.getByText('Your answer was undone. The task is open again.')).toBeVisible()
  // The typed text is there again, and can still be sent.
  await expect(page.getByLabel(/^Article/)).toHaveValue('AX-210')
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.getByLabel(/^Quantity/).fill('5')
  await page.getByRole('button', { name: 'Submit' }).click()
  await expect(queued).toContainText('is answering')
  // The answer does not need the page that sent it.
  await page.close()
  await reached(workspace, runId, ({ data }) => JSON.stringify(data).includes('"amount":5'))
  await expect(other.getByRole('button', { name: /Order of AX-210.*Okafor/ })).toBeVisible()
})

test('a task is claimed, given to another person and released, and others see it', async ({
  page,
  workspace,
  browserOf,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  const other = await browserOf('operator')
  await other.goto(`/${workspace.slug}/inbox?task=${runId}:order`)
  const theirs = other.getByRole('region', { name: 'Claim' })
  await expect(theirs).toContainText('Unclaimed')
  await page.goto(`/${workspace.slug}/inbox?task=${runId}:order`)
  const claim = page.getByRole('region', { name: 'Claim' })
  await claim.getByRole('button', { name: 'Claim' }).click()
  await expect(claim).toContainText('Claimed by you')
  await expect(theirs).toContainText('Claimed by Ada Lovelace')
  await page.getByText('Mine', { exact: true }).click()
  await expect(page.getByRole('button', { name: /The order.*Okafor/ })).toContainText('Claimed by you')
  await page.getByRole('button', { name: /The order.*Okafor/ }).click()
  await claim.getByRole('button', { name: 'Reassign' }).click()
  await page.getByRole('menuitem', { name: 'operator' }).click()
  await expect(theirs).toContainText('Claimed by you')
  await expect(page.getByText('You have nothing to do')).toBeVisible()
  await theirs.getByRole('button', { name: 'Release' }).click()
  await expect(claim).toContainText('Unclaimed')
})

test('a comment at a task is on the page of its run, for everybody', async ({ page, workspace, browserOf }) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox?task=${runId}:order`)
  await page.getByLabel('New comment').fill('Do we have\nenough of these?')
  await page.getByRole('button', { name: 'Comment', exact: true }).click()
  const comments = page.getByRole('region', { name: 'Comments' })
  await expect(comments.getByRole('article')).toContainText('You')
  const other = await browserOf('viewer')
  await other.goto(`/${workspace.slug}/runs/${runId}`)
  const theirs = other.getByRole('region', { name: 'Comments' })
  await expect(theirs.getByRole('article')).toContainText('Ada Lovelace')
  await expect(theirs.getByRole('article')).toContainText('enough of these?')
  await expect(other.getByLabel('New comment')).toHaveCount(0)
  await comments.getByRole('button', { name: 'Delete' }).click()
  await expect(theirs).toContainText('There are no comments.')
})

test('objects and lists that a task asks for are filled in by rows, or as JSON', async ({ page, workspace }) => {
  const output = {
    address: { type: 'object', label: 'Address', default: { city: '', abroad: false } },
    tags: { type: 'array', label: 'Tags' },
  }
  const { id } = await createWorkflow(workspace.ctx, {
    ...{ name: 'Details', initialStep: 'ask' },
    steps: [
      { id: 'ask', type: 'collect-inputs', title: 'The details', output },
      { id: 'end', type: 'end-flow', output: { address: '${address}', tags: '${tags}' } },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  await publishWorkflow(workspace.ctx, { id })
  const runId = await startRun(workspace, id, {})
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox`)
  await page.getByRole('button', { name: /The details/ }).click()
  const task = page.getByRole('article')
  await task.getByLabel(/^city text/).fill('Bern')
  await task.getByRole('button', { name: 'Submit' }).click()
  await expect(task).toContainText('Required')
  await task.getByRole('button', { name: 'Add to Tags' }).click()
  await task.getByLabel(/^Tags 1 any/).fill('urgent')
  // The same value as text, and back.
  await task.getByRole('button', { name: 'Enter Tags as JSON' }).click()
  await expect(task.getByRole('textbox', { name: 'Tags' })).toHaveValue('[\n  "urgent"\n]')
  await task.getByRole('button', { name: 'Enter it in rows' }).click()
  await task.getByRole('button', { name: 'Submit' }).click()
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  const { result } = await getRunStatus(workspace.ctx, { runId })
  expect(result).toEqual({ address: { city: 'Bern', abroad: false }, tags: ['urgent'] })
})
