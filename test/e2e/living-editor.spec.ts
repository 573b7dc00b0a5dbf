import type { Page } from '@playwright/test'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import type { Workspace } from './support/workspace'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

async function open(page: Page, workspace: Workspace, workflowId: string, query = ''): Promise<void> {
  await page.goto(`/${workspace.slug}/workflows/${workflowId}${query}`)
  // On a phone the problems are among the other tools.
  await expect(page.getByRole('button', { name: /^(Problems|More tools)/ }).first()).toBeVisible()
}

/** A price is computed, checked, and then announced. */
async function prices(workspace: Workspace): Promise<string> {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Prices',
    payload: { net: { type: 'number' } },
    steps: [
      { id: 's1', name: 'Add tax', type: 'set-data', compute: { gross: '${net} * 2' } },
      { id: 's2', name: 'Large?', type: 'condition', when: '${gross} > 100' },
      { id: 's3', name: 'Tell them', type: 'set-data', values: { told: 'It costs ${gross}' } },
      { id: 's4', name: 'Give up', type: 'set-data', values: { told: 'Nothing' } },
    ],
    edges: [
      { from: 's1', to: 's2' },
      { from: 's2', to: 's3', on: 'true' },
      { from: 's2', to: 's4', on: 'false' },
    ],
  })
  return id
}

const node = (page: Page, name: string) => page.locator('.react-flow__node-step').filter({ hasText: name })
/** The panel covers the lower part. */
const showAll = (page: Page) => page.getByRole('button', { name: 'Show the whole graph' }).click()
const thisRun = (page: Page) => page.getByRole('region', { name: 'This test run' })

async function runDraft(page: Page, net: string, button: string | RegExp = /^Run /): Promise<void> {
  const form = page.getByRole('form', { name: 'Test run' })
  await form.getByLabel(/^net/).fill(net)
  await form.getByRole('button', { name: button }).click()
  await expect(thisRun(page).getByRole('status')).toContainText('Completed')
}

test('during a test, the graph shows the state of each step, and a click on one its data', async ({
  page,
  workspace,
}) => {
  await open(page, workspace, await prices(workspace))
  await page.getByRole('button', { name: 'Test run' }).click()
  await showAll(page)
  await runDraft(page, '60', 'Run this draft')
  const told = node(page, 'Tell them')
  await expect(told).toContainText(/Completed.*\d+\sms/)
  await expect(told).toContainText('"told":"It costs 120"')
  await expect(told).toHaveAccessibleName(/Tell them.*in the test run: Completed/)
  await expect(node(page, 'Give up')).not.toContainText('Completed')
  await told.click()
  const data = page.getByRole('complementary', { name: 'Details of Tell them' })
  await expect(data.getByText('It costs 120').first()).toBeVisible()
  await data.getByRole('tab', { name: 'Attempts' }).click()
  await expect(data.getByText('Completed in one attempt.')).toBeVisible()
  // Without its panel, the graph still shows the run, and the inspector leads to the data.
  await page.getByRole('button', { name: 'Close test run' }).click()
  await expect(told).toContainText('Completed')
  await page.getByRole('button', { name: 'Show its data' }).click()
  await expect(data).toBeVisible()
  await thisRun(page).getByRole('button', { name: 'Clear' }).click()
  await expect(told).not.toContainText('Completed')
})

test('text typed for a test stays when its tab changes', async ({ page, workspace }) => {
  await open(page, workspace, await prices(workspace))
  await page.getByRole('button', { name: 'Test run' }).click()
  const net = page.getByRole('form', { name: 'Test run' }).getByLabel(/^net/)
  await net.fill('60')
  await page.getByRole('tab', { name: 'This step' }).click()
  await page.getByRole('tab', { name: 'Test run' }).click()
  await expect(net).toHaveValue('60')
})

test('of many visits only those seen are drawn, and each can be opened', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Many',
    payload: { net: { type: 'number' }, list: { type: 'any' } },
    steps: [
      { id: 'each', name: 'Each', type: 'for-each', items: '${list}', result: '${item}', saveAs: 'all' },
      { id: 'one', name: 'One', type: 'set-data', values: { seen: '${item}' } },
    ],
    edges: [{ from: 'each', to: 'one', on: 'each' }],
  })
  await open(page, workspace, id)
  await page.getByRole('button', { name: 'Test run' }).click()
  const list = JSON.stringify(Array.from({ length: 45 }, (_, at) => at))
  await page.getByRole('form', { name: 'Test run' }).getByLabel(/^list/).fill(list)
  await runDraft(page, '70')
  const visits = thisRun(page).getByRole('list', { name: 'Steps so far' }).getByRole('listitem')
  await expect(visits.first()).toHaveAttribute('aria-setsize', '46')
  expect(await visits.count()).toBeLessThan(40)
  await visits.first().hover()
  await page.mouse.wheel(0, 20_000)
  await expect(visits.last()).toHaveAttribute('aria-posinset', '46')
  await visits.last().getByRole('button').click()
  await expect(page.getByRole('complementary', { name: 'Details of One' })).toBeVisible()
})

test('a test run of a published workflow that nobody has changed since is a test as well', async ({
  page,
  workspace,
}) => {
  const id = await prices(workspace)
  await publishWorkflow(workspace.ctx, { id })
  await open(page, workspace, id)
  await page.getByRole('button', { name: 'Test run' }).click()
  await runDraft(page, '60', 'Run this draft')
  await page.goto(`/${workspace.slug}/workflows/${id}/runs`)
  const row = page.getByRole('row').filter({ hasText: 'Completed' })
  await expect(row.getByText('Test', { exact: true })).toBeVisible()
})

test('a test runs to a step and no further', async ({ page, workspace }) => {
  const id = await prices(workspace)
  await open(page, workspace, id, '?step=s2')
  await page.getByRole('button', { name: 'Run to here' }).click()
  await runDraft(page, '60', 'Run to Large?')
  await expect(thisRun(page).getByRole('list', { name: 'Steps so far' }).getByRole('listitem')).toHaveCount(2)
  await expect(node(page, 'Large?')).toContainText('Completed')
  await expect(node(page, 'Tell them')).not.toContainText('Completed')
  await expect(thisRun(page).getByRole('status')).toContainText('to Large?')
  // The path branches off before the step.
  await page.getByLabel('Run to', { exact: true }).selectOption({ label: 'Tell them' })
  await runDraft(page, '5', 'Run to Tell them')
  await expect(thisRun(page)).toContainText('The run ended before it came to Tell them')
  await expect(node(page, 'Give up')).not.toContainText('Completed')
})

test('a step runs alone with the last run’s data, or with data that are pinned in this browser', async ({
  page,
  workspace,
}) => {
  await open(page, workspace, await prices(workspace))
  await page.getByRole('button', { name: 'Test run' }).click()
  await showAll(page)
  await runDraft(page, '60')
  await node(page, 'Tell them').click()
  await page.getByRole('button', { name: 'Run only this step' }).first().click()
  const form = page.getByRole('region', { name: 'Run only Tell them' })
  await expect(form.getByText('the last run that came to it')).toBeVisible()
  const data = form.getByRole('textbox', { name: 'Data for this step' })
  await expect(data).toContainText('"gross": 120')
  const run = form.getByRole('button', { name: 'Run only this step' })
  const steps = thisRun(page).getByRole('list', { name: 'Steps so far' }).getByRole('listitem')
  await run.click()
  await expect(thisRun(page).getByRole('status')).toContainText('only Tell them')
  await expect(steps).toHaveCount(1)
  await expect(node(page, 'Tell them')).toContainText('It costs 120')

  await data.click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText('{"gross": 7}')
  await expect(form.getByText('Pinned: kept for you, in this browser.')).toBeVisible()
  await run.click()
  await expect(node(page, 'Tell them')).toContainText('It costs 7')
  await page.reload()
  await expect(data).toContainText('"gross": 7')
  await form.getByRole('button', { name: 'Use the last run’s data' }).click()
  await expect(data).toContainText('"gross": 120')
})

test('a step for people, run alone, says that it opens a task, which is answered beside the graph', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Ask',
    steps: [
      {
        id: 'ask',
        name: 'May we?',
        type: 'request-user-action',
        title: 'May we pay ${sum}?',
        actions: [{ id: 'yes', label: 'Pay it' }],
      },
      { id: 'after', type: 'set-data', values: { done: 'true' } },
    ],
    edges: [{ from: 'ask', to: 'after' }],
  })
  await open(page, workspace, id, '?step=ask&panel=step')
  const form = page.getByRole('region', { name: 'Run only May we?' })
  await expect(form).toContainText('This opens a task that you answer here. Nobody gets a mail')
  await form.getByRole('textbox', { name: 'Data for this step' }).click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText('{"sum": 12}')
  await form.getByRole('button', { name: 'Run only this step' }).click()
  await expect(thisRun(page).getByText('May we pay 12?')).toBeVisible()
  await expect(node(page, 'May we?')).toContainText('Waiting')
  await thisRun(page).getByRole('button', { name: 'Pay it' }).click()
  await expect(thisRun(page).getByRole('status')).toContainText('Completed')
  await expect(thisRun(page).getByRole('list', { name: 'Steps so far' }).getByRole('listitem')).toHaveCount(1)
})

test('inspector and panel are resized by keyboard and mouse, and keep their size', async ({ page, workspace }) => {
  const id = await prices(workspace)
  await open(page, workspace, id, '?panel=problems')
  const inspector = page.getByRole('complementary', { name: 'Inspector' })
  const widthOf = async () => (await inspector.boundingBox())?.width ?? 0
  const heightOf = async () => (await page.getByRole('region', { name: 'Problems' }).boundingBox())?.height ?? 0
  const side = page.getByRole('separator', { name: 'Resize the inspector' })
  const below = page.getByRole('separator', { name: 'Resize the panel' })
  await expect(side).toHaveAttribute('aria-orientation', 'vertical')
  await expect(below).toHaveAttribute('aria-orientation', 'horizontal')
  const before = await widthOf()
  await expect(side).toHaveAttribute('aria-valuenow', String(Math.round(before)))
  await side.focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Shift+ArrowLeft')
  await expect.poll(widthOf).toBe(before + 96)
  await expect(side).toHaveAttribute('aria-valuenow', String(Math.round(before) + 96))
  await page.keyboard.press('Home')
  await expect.poll(widthOf).toBe(256)
  const at = await side.boundingBox()
  await page.mouse.move((at?.x ?? 0) + 5, (at?.y ?? 0) + 300)
  await page.mouse.down()
  await page.mouse.move((at?.x ?? 0) - 95, (at?.y ?? 0) + 300, { steps: 5 })
  await page.mouse.up()
  await expect.poll(widthOf).toBe(356)
  await below.focus()
  const high = await heightOf()
  await page.keyboard.press('ArrowUp')
  await expect.poll(heightOf).toBe(Math.round(high) + 16)
  await page.reload()
  await expect.poll(widthOf).toBe(356)
  await expect.poll(heightOf).toBe(Math.round(high) + 16)
  await side.dblclick()
  await expect.poll(widthOf).toBe(before)
})

test('the list has every step with its state and problems, and shares the selection with the graph', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Listed',
    steps: [
      { id: 'a', name: 'First', type: 'set-data', values: { a: '1' } },
      { id: 'b', name: 'Second', type: 'set-data', compute: { b: '1 +' } },
      { id: 'c', name: 'Alone', type: 'delay', duration: '1 min' },
    ],
    edges: [{ from: 'a', to: 'b' }],
  })
  await open(page, workspace, id)
  await node(page, 'Second').click()
  await page.getByText('List', { exact: true }).click()
  const table = page.getByRole('table', { name: 'Steps' })
  const line = (name: string) => table.getByRole('row').filter({ has: page.getByRole('button', { name }) })
  await expect(table.getByRole('row')).toHaveCount(5)
  // A field has no run state.
  await expect(line('START')).toContainText('no fields')
  await expect(line('START').getByRole('cell').nth(2)).toHaveText('')
  await expect(line('Second')).toContainText('Set data')
  await expect(line('Second')).toContainText('1 error')
  await expect(line('First')).toContainText('Connected')
  await expect(line('Alone')).toContainText('Not connected')
  await expect(table.getByRole('button', { name: 'Second' })).toHaveAttribute('aria-current', 'true')
  // One stop of the Tab key.
  await expect(table.locator('button[tabindex="0"]')).toHaveCount(1)
  await table.getByRole('button', { name: 'Second' }).focus()
  await page.keyboard.press('ArrowUp')
  await expect(table.getByRole('button', { name: 'First' })).toBeFocused()
  await expect(page).toHaveURL(/step=a/)
  await page.keyboard.press('End')
  await expect(table.getByRole('button', { name: 'Alone' })).toBeFocused()
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(
    page.getByRole('complementary', { name: 'Inspector' }).getByRole('heading', { name: 'First' }),
  ).toBeFocused()
  await page.getByText('Graph', { exact: true }).click()
  await expect(page.locator('.react-flow__node.selected')).toContainText('First')
})

test('simulation is a tab beside the test run', async ({ page, workspace }) => {
  await open(page, workspace, await prices(workspace))
  await page.getByRole('button', { name: 'Test run' }).click()
  await page.getByRole('tab', { name: 'Test run' }).focus()
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('tab', { name: 'This step' })).toBeFocused()
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('tab', { name: 'Step through' })).toBeFocused()
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('tab', { name: 'Simulation' })).toHaveAttribute('aria-selected', 'true')
  const panel = page.getByRole('tabpanel', { name: 'Simulation' })
  await expect(panel.getByText(/4 of 4 steps/)).toBeVisible()
  await expect(page).toHaveURL(/panel=simulate/)
})

test('the step picker groups the types into People, Work, Flow and Data', async ({ page, workspace }) => {
  await open(page, workspace, await prices(workspace))
  await page.getByRole('button', { name: /^Add step between START and Add tax/ }).click()
  const list = page.getByRole('listbox', { name: 'Step types' })
  const shown = await list.evaluate((element) =>
    Array.from(element.children).map((child) => (child.getAttribute('role') === 'option' ? 'type' : child.textContent)),
  )
  expect(shown.filter((text) => text !== 'type')).toEqual(['People', 'Work', 'Flow', 'Data'])
  // Each heading has types below it.
  expect(shown.join(' ')).toMatch(/^People( type)+ Work( type)+ Flow( type)+ Data( type)+$/)
  await page.getByRole('option', { name: /^Delay/ }).click()
  await expect(page.locator('.react-flow__node-step')).toHaveCount(5)
})

test('every line of the graph ends in an arrowhead', async ({ page, workspace }) => {
  await open(page, workspace, await prices(workspace))
  const lines = page.locator('.react-flow__edge-path')
  // START, three connections, and the ends of both branches.
  await expect(lines).toHaveCount(6)
  const heads = await lines.evaluateAll((paths) =>
    paths.map((path) => {
      const url = /url\(['"]?#(.+?)['"]?\)/.exec(path.getAttribute('marker-end') ?? '')?.[1]
      return url !== undefined && document.getElementById(url)?.querySelector('polyline, path') !== null
    }),
  )
  expect(heads).toEqual(Array(6).fill(true))
})

test('the list of values marks none that may be missing, until a person chooses it', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Maybe',
    steps: [
      { id: 's1', type: 'condition', when: '1 > 2' },
      { id: 's2', type: 'set-data', values: { aaa: 'x' } },
      { id: 's3', name: 'Both', type: 'end-flow', output: { text: 'Dear ' } },
    ],
    edges: [
      { from: 's1', to: 's2', on: 'true' },
      { from: 's1', to: 's3', on: 'false' },
      { from: 's2', to: 's3' },
    ],
  })
  await open(page, workspace, id, '?step=s3')
  const field = page.getByRole('textbox', { name: 'Value of text' })
  await field.click()
  await page.keyboard.press('End')
  await page.keyboard.press('Control+Space')
  const maybe = page.getByRole('option', { name: /\$\{aaa\}.*may be missing/s })
  await expect(maybe).toBeVisible()
  await expect(page.locator('[role="option"][data-combobox-selected]')).toHaveCount(0)
  await page.keyboard.press('Enter')
  await expect(field).toHaveValue('Dear ')
})

test('viewers read the list, and try nothing out', async ({ browserOf, workspace }) => {
  const id = await prices(workspace)
  const page = await browserOf('viewer')
  await open(page, workspace, id, '?view=list&step=s2&panel=step')
  await expect(page.getByRole('table', { name: 'Steps' }).getByRole('row')).toHaveCount(6)
  await expect(page.getByRole('complementary', { name: 'Inspector' })).toBeVisible()
  await expect(page.getByRole('separator', { name: 'Resize the inspector' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Run to here' })).toHaveCount(0)
  await expect(page.getByText('you need the role editor or higher')).toBeVisible()
})

for (const width of [360, 1440]) {
  test(`the trials and the list fit ${width} pixels and pass axe`, async ({ page, workspace }) => {
    await page.setViewportSize({ width, height: 800 })
    const id = await prices(workspace)
    for (const query of ['?view=list', '?view=list&step=s3&panel=step', '?view=graph&panel=test', '?panel=simulate']) {
      await open(page, workspace, id, query)
      if (query.includes('panel=test')) await runDraft(page, '60')
      await expect(page.locator('[aria-busy="true"]')).toHaveCount(0)
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      expect(over, `${query} scrolls sideways`).toBeLessThanOrEqual(0)
      expect(await violationsOf(page, WCAG), query).toEqual([])
    }
  })
}
