import { createSchedule } from '@/server/schedules/save'
import { createWorkflow, getWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { reached, resumeRun, startRun } from './support/runs'

const END = {
  steps: [{ id: 'end', type: 'end-flow', name: 'The end', output: { a: 1 } }],
  initialStep: 'end',
  edges: [],
}

test('a workflow has five tabs, each with its address', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, { name: 'Home', ...END } as never)
  const base = `/${workspace.slug}/workflows/${id}`
  await page.goto(base)
  const tabs = page.getByRole('navigation', { name: 'This workflow' })
  for (const [name, path] of [
    ['Runs', '/runs'],
    ['Insights', '/insights'],
    ['Versions', '/versions'],
    ['Settings', '/settings'],
    ['Editor', ''],
  ] as const) {
    await tabs.getByRole('link', { name, exact: true }).click()
    await expect(page).toHaveURL(new RegExp(`${id}${path}$`))
    await expect(tabs.locator('[aria-current="page"]')).toHaveText(name)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Home')
    await page.reload()
    await expect(tabs.locator('[aria-current="page"]')).toHaveText(name)
  }
})

test('the Runs tab of a published workflow starts that workflow, and says how others do', async ({
  page,
  workspace,
}) => {
  await createWorkflow(workspace.ctx, { name: 'A first one', ...END } as never)
  const { id } = await createWorkflow(workspace.ctx, { name: 'Home', ...END } as never)
  const runs = `/${workspace.slug}/workflows/${id}/runs`
  await page.goto(runs)
  await expect(page.getByRole('main').locator('pre')).toContainText(`/start-async/${id}`)
  const run = page.getByRole('button', { name: 'Start', exact: true })
  await expect(run).toHaveCount(0)
  await publishWorkflow(workspace.ctx, { id })
  await page.goto(runs)
  await expect(page.getByText('Start one with Start above')).toBeVisible()
  await run.click()
  await page.getByRole('dialog', { name: 'Start “Home”' }).getByRole('button', { name: 'Start run' }).click()
  await expect(page).toHaveURL(/\/runs\/run_/)
})

test('title, tabs and Publish stay where they are from tab to tab', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, { name: 'Home', ...END } as never)
  await publishWorkflow(workspace.ctx, { id })
  await updateWorkflow(workspace.ctx, { id, body: { description: 'New' } as never })
  const base = `/${workspace.slug}/workflows/${id}`
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    const placesAt = async (path: string) => {
      await page.goto(`${base}${path}`)
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('Home')
      if (['', '/versions', '/settings'].includes(path)) {
        await expect(page.getByText('1 unpublished change')).toBeVisible()
        await expect(page.getByRole('button', { name: 'Publish', exact: true })).toBeVisible()
      }
      const title = await page.getByRole('heading', { level: 1 }).boundingBox()
      const tab = await page
        .getByRole('navigation', { name: 'This workflow' })
        .getByRole('link', { name: 'Settings' })
        .boundingBox()
      return [title?.x, title?.y, title?.height, tab?.x, tab?.y].map((place) => Math.round(place ?? Number.NaN))
    }
    const ofEditor = await placesAt('')
    for (const path of ['/runs', '/insights', '/versions', '/settings'])
      expect(await placesAt(path), `${path} at ${width}`).toEqual(ofEditor)
  }
})

test('a version published from the page of the versions is in its list', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, { name: 'Home', ...END } as never)
  await page.goto(`/${workspace.slug}/workflows/${id}/versions`)
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Publish v1' }).click()
  await expect(page.getByText('v1 published')).toBeVisible()
  await expect(page.getByRole('list', { name: 'Versions' }).getByRole('button').first()).toContainText('Published')
})

test('only publications have a number; a draft has its time, and is restored from its page', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, { name: 'Home', ...END } as never)
  await publishWorkflow(workspace.ctx, { id })
  const changed = [{ ...END.steps[0], output: { a: 2 } }]
  await updateWorkflow(workspace.ctx, { id, body: { steps: changed } as never })
  await page.goto(`/${workspace.slug}/workflows/${id}/versions`)
  const history = page.getByRole('list', { name: 'Versions' })
  await expect(history.getByRole('button')).toHaveCount(2)
  await expect(history.getByRole('button').first()).toContainText(/^Draft of \d\d:\d\d/)
  await expect(history.getByRole('button').last()).toContainText(/^Version 1/)
  await history.getByRole('button').last().click()
  // Names come before ids.
  await expect(page.getByText('The end', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await expect.poll(async () => (await getWorkflow(workspace.ctx, { id })).steps[0]?.output).toEqual({ a: 1 })
  await expect(page.getByText('The draft is the same.').first()).toBeVisible()
})

test('people see how often a workflow was published, and once which version that is in the API', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, { name: 'Home', ...END } as never)
  const save = (a: number) =>
    updateWorkflow(workspace.ctx, { id, body: { steps: [{ ...END.steps[0], output: { a } }] } as never })
  for (const a of [2, 3]) await save(a)
  expect((await publishWorkflow(workspace.ctx, { id })).version).toBe(3)
  await startRun(workspace, id, {})
  for (const a of [4, 5]) await save(a)
  await page.goto(`/${workspace.slug}/workflows/${id}/versions`)
  await expect(page.getByText('v1 published')).toBeVisible()
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Publish v2' }).click()
  await expect(page.getByText('Version 2 of Home is published.')).toBeVisible()
  await expect(page.getByText('v2 published')).toBeVisible()
  const history = page.getByRole('list', { name: 'Versions' }).getByRole('button')
  await expect(history.filter({ hasText: /^Version 2/ })).toContainText('version 5 in the API')
  await expect(history.filter({ hasText: /^Version 1/ })).toContainText('version 3 in the API')
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await expect(page.getByText('v2 published')).toBeVisible()
  await page.goto(`/${workspace.slug}/workflows/${id}/runs?version=3`)
  await expect(page.getByRole('button', { name: 'Version 1: remove this filter' })).toBeVisible()
  await page.getByRole('main').getByRole('row').getByRole('link', { name: 'v1' }).click()
  await expect(page.getByText('Version 1 of Home')).toBeVisible()
})

test('settings are edited on their own page and are part of the draft; viewers only read them', async ({
  page,
  workspace,
  browserOf,
}) => {
  const { id } = await createWorkflow(workspace.ctx, {
    ...{ name: 'Home', ...END, payload: { orderId: { type: 'string' } } },
  } as never)
  const viewer = await browserOf('viewer')
  await viewer.goto(`/${workspace.slug}/workflows/${id}/settings`)
  for (const field of await viewer.getByRole('main').getByRole('textbox').all()) {
    await expect(field).toHaveAttribute('readonly', '')
  }
  await expect(viewer.getByText('Your role (viewer) can view this workflow but not edit it.')).toBeVisible()
  await page.goto(`/${workspace.slug}/workflows/${id}/settings`)
  await page.getByLabel('Business key').fill('${orderId}')
  await page.getByLabel('Time limit of a run', { exact: true }).fill('2')
  await expect(page.getByRole('combobox', { name: 'Unit of time limit of a run' })).toHaveValue('days')
  await expect(page.getByRole('status').filter({ hasText: /Saved \d/ })).toBeVisible()
  expect(await getWorkflow(workspace.ctx, { id })).toMatchObject({
    businessKey: '${orderId}',
    limits: { timeoutMs: 2 * 86_400_000 },
  })
  // A screen's last save, even while closing, is not reported by the next one as another member's.
  await page.getByLabel('Business key').fill('order ${orderId}')
  const tabs = page.getByRole('navigation', { name: 'This workflow' })
  for (const tab of ['Editor', 'Settings']) {
    const checked = page.waitForResponse((response) => response.url().includes('workflows.get'))
    await tabs.getByRole('link', { name: tab, exact: true }).click()
    await checked
    await expect(page.getByLabel('Business key')).toHaveValue('order ${orderId}')
  }
  await expect(page.getByText('was merged into this draft')).toHaveCount(0)
})

test('a publisher sees who starts the workflow', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, { name: 'Child', ...END } as never)
  await publishWorkflow(workspace.ctx, { id })
  await createSchedule(workspace.ctx, { workflowId: id, body: { name: 'Each night', cron: '0 2 * * *' } })
  const parent = await createWorkflow(workspace.ctx, {
    ...{ name: 'Parent', initialStep: 'call', edges: [] },
    steps: [{ id: 'call', type: 'run-workflow', workflowId: id }],
  } as never)
  await publishWorkflow(workspace.ctx, { id: parent.id })
  await updateWorkflow(workspace.ctx, { id, body: { description: 'New' } as never })
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await page.getByRole('button', { name: 'Publish' }).click()
  const users = page.getByRole('dialog').getByRole('region', { name: 'Used by' })
  await expect(users.getByRole('listitem')).toHaveText([
    'ParentWorkflow, keeps version 1 until it is published again',
    'Each nightSchedule',
  ])
})

test('a note typed at publishing is shown with its version', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, { name: 'Home', ...END } as never)
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Note').fill('For the summer sale')
  await dialog.getByRole('button', { name: 'Publish v1' }).click()
  await expect(dialog).toHaveCount(0)
  await page.goto(`/${workspace.slug}/workflows/${id}/versions`)
  const history = page.getByRole('list', { name: 'Versions' })
  await expect(history.getByRole('button', { name: /^Version 1/ })).toContainText('For the summer sale')
})

test('open runs of an old version are counted by the step where they stand, and listed', async ({
  page,
  workspace,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  for (const customer of ['Okafor', 'Rossi', 'Lindqvist']) {
    const runId = await startRun(workspace, approval, { customer })
    await reached(workspace, runId, ({ status }) => status === 'paused')
    if (customer !== 'Lindqvist') continue
    await resumeRun(workspace, runId, { type: 'collect_inputs', data: { article: 'AX-210', amount: 4 } })
    await reached(workspace, runId, ({ status, currentStepId }) => status === 'paused' && currentStepId === 'decision')
  }
  await publishWorkflow(workspace.ctx, { id: approval })
  await page.goto(`/${workspace.slug}/workflows/${approval}/versions`)
  const old = page.getByRole('list', { name: 'Versions' }).getByRole('button', { name: /^Version 1/ })
  await expect(old).toContainText('3 open runs')
  await old.click()
  await expect(page.getByText('3 open runs: 2 at The order, 1 at The decision')).toBeVisible()
  await page.getByRole('link', { name: '3 open runs' }).click()
  await expect(page).toHaveURL(/\/runs\?version=1&/)
  for (const customer of ['Okafor', 'Rossi', 'Lindqvist'])
    await expect(page.getByRole('main').getByRole('row').filter({ hasText: customer })).toHaveCount(1)
})
