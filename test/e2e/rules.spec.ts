import type { Page } from '@playwright/test'
import { createWorkflow, getWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import type { Workspace } from './support/workspace'

const steps = [
  { id: 'check', type: 'condition', when: 'true' },
  { id: 'odd', type: 'condition', when: '${amount} * 2 > 100' },
  { id: 'route', type: 'switch', cases: [{ id: 'north', label: 'North', when: '${country} in ["DE"]' }] },
  { id: 'wait', type: 'delay', for: 'PT2H' },
  { id: 'long', type: 'delay', for: 'P1DT2H' },
  { id: 'end', type: 'end-flow' },
]

async function made(workspace: Workspace): Promise<{ id: string; step: (id: string) => Promise<unknown> }> {
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Rules',
    payload: {
      amount: { type: 'number' },
      country: { type: 'string', options: ['DE', 'FR'] },
      tags: { type: 'array' },
      note: { type: 'string' },
    },
    initialStep: 'check',
    steps,
    edges: [
      { from: 'check', on: 'true', to: 'odd' },
      { from: 'odd', on: 'true', to: 'route' },
      { from: 'route', on: 'north', to: 'wait' },
      { from: 'wait', to: 'long' },
      { from: 'long', to: 'end' },
    ],
  } as never)
  const step = async (stepId: string) => {
    const now = (await getWorkflow(workspace.ctx, { id })) as unknown as { steps: { id: string }[] }
    return now.steps.find((one) => one.id === stepId)
  }
  return { id, step }
}

const open = (page: Page, workspace: Workspace, id: string, step: string) =>
  page.goto(`/${workspace.slug}/workflows/${id}?step=${step}`)

/** A control by its whole name, which the list that it opens has too. */
const control = (page: Page, name: string) => page.locator(`:is(input, select)[aria-label="${name}"]`)

test('a condition is built from rules that fit the fields, and says the same as text', async ({ page, workspace }) => {
  const { id, step } = await made(workspace)
  await open(page, workspace, id, 'check')
  const add = page.getByRole('button', { name: 'Add rule' })
  const rule = (part: string, number: number, nth = '') => control(page, `${part} of rule ${number} of If${nth}`)
  const second = ', part 2'
  const field = async (number: number, name: string) => {
    await rule('Field', number).click()
    await page.getByRole('option', { name, exact: true }).click()
  }
  await add.click()
  await field(1, 'amount')
  await rule('Operator', 1).selectOption('is at least')
  await rule('Value', 1).fill('1000')
  await add.click()
  // Until it has a field, what was built before stays.
  await expect(page.getByText('Complete each rule to save the condition.')).toBeVisible()
  await field(2, 'country')
  await rule('Operator', 2).selectOption('is one of')
  await rule('Value', 2).click()
  await page.getByRole('option', { name: 'FR' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Or…' }).nth(1).click()
  await rule('Field', 2, second).click()
  await page.getByRole('option', { name: 'note', exact: true }).click()
  await rule('Operator', 2, second).selectOption('contains')
  await rule('Value', 2, second).fill('"urgent"')
  await rule('Value', 2, second).blur()
  const when = '${amount} >= 1000 && (${country} in ["FR"] || contains(${note}, "\\"urgent\\""))'
  await expect.poll(() => step('check')).toMatchObject({ when })
  expect(await violationsOf(page, undefined)).toEqual([])
  await page.getByRole('button', { name: 'Write as text' }).click()
  await expect(page.getByRole('textbox', { name: 'If' })).toHaveValue(when)
  await expect(page.getByRole('textbox', { name: 'If' })).toBeFocused()
  await page.getByRole('button', { name: 'Show as rules' }).click()
  await expect(rule('Value', 2, second)).toHaveValue('"urgent"')
  await page.reload()
  await expect(rule('Value', 1)).toHaveValue('1000')
})

test('a condition that no rule can say stays text, and becomes rules once it can', async ({ page, workspace }) => {
  const { id, step } = await made(workspace)
  await open(page, workspace, id, 'odd')
  const text = page.getByRole('textbox', { name: 'If' })
  await expect(text).toHaveValue('${amount} * 2 > 100')
  await expect(page.getByText('This condition can only be written as text.')).toBeVisible()
  await text.fill('${amount} > 50')
  await text.blur()
  await expect.poll(() => step('odd')).toMatchObject({ when: '${amount} > 50' })
  await page.getByRole('button', { name: 'Show as rules' }).click()
  await expect(control(page, 'Value of rule 1 of If')).toHaveValue('50')
})

test('a case of a switch is built from rules', async ({ page, workspace }) => {
  const { id, step } = await made(workspace)
  await open(page, workspace, id, 'route')
  await control(page, 'Operator of rule 1 of Expression of North').selectOption('is none of')
  await expect.poll(() => step('route')).toMatchObject({ cases: [{ id: 'north', when: '!(${country} in ["DE"])' }] })
})

test('a duration is a number and a unit, unless only text can say it', async ({ page, workspace }) => {
  const { id, step } = await made(workspace)
  await open(page, workspace, id, 'wait')
  const count = page.getByRole('textbox', { name: 'For', exact: true })
  await expect(count).toHaveValue('2')
  await count.fill('3')
  await page.getByRole('combobox', { name: 'Unit of for' }).click()
  await page.getByRole('option', { name: 'weeks' }).click()
  await expect.poll(() => step('wait')).toMatchObject({ for: 'P3W' })
  await page.getByRole('button', { name: 'Write For as text' }).click()
  await expect(page.getByRole('textbox', { name: 'For', exact: true })).toHaveValue('P3W')
  await page.getByRole('button', { name: 'Use a number and unit' }).click()
  await expect(count).toHaveValue('3')
  await open(page, workspace, id, 'long')
  await expect(page.getByRole('textbox', { name: 'For', exact: true })).toHaveValue('P1DT2H')
  await page.getByRole('textbox', { name: 'For', exact: true }).fill('P1DT3H')
  await page.getByRole('textbox', { name: 'For', exact: true }).blur()
  await expect.poll(() => step('long')).toMatchObject({ for: 'P1DT3H' })
})
