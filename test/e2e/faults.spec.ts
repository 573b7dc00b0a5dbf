import type { Locator } from '@playwright/test'
import { members } from '@/db/schema/members'
import { systemContext, withTransaction } from '@/server/context'
import { newId } from '@/server/ids'
import { addSamples } from '@/server/tenants/boot/add-samples'
import { createTenant } from '@/server/tenants/create'
import { createWorkflow } from '@/server/workflows/create'
import { listWorkflows } from '@/server/workflows/list'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { reached, resumeRun, startRun } from './support/runs'
import { database } from './support/workspace'

const actions = [
  { id: 'approve', label: 'Approve' },
  { id: 'reject', label: 'Reject' },
]

test('a run’s next task is there as soon as the answer before it counts', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox`)
  await expect(page.getByRole('button', { name: /The order.*Okafor/ })).toBeVisible()
  // The page hears of it, and does not look again in four seconds.
  await resumeRun(workspace, runId, { type: 'collect_inputs', data: { article: 'AX-210', amount: 4 } })
  await expect(page.getByRole('button', { name: /Order of AX-210.*Okafor/ })).toBeVisible({ timeout: 2_500 })
})

test('neither a sample nor a good workflow has a problem', async ({ page, workspace }) => {
  test.slow()
  await addSamples(workspace.ctx)
  await createWorkflow(workspace.ctx, {
    ...{ name: 'Good', payload: {}, initialStep: 'ask' },
    steps: [
      { id: 'ask', type: 'request-user-action', title: 'May we?', actions },
      { id: 'form', type: 'collect-inputs', output: { size: { type: 'string' } } },
      { id: 'end', type: 'end-flow', output: { size: '${size}' } },
    ],
    edges: [
      { from: 'ask', to: 'form' },
      { from: 'form', to: 'end' },
    ],
  } as never)
  const { items } = await listWorkflows(workspace.ctx, {})
  expect(items.length).toBeGreaterThan(9)
  for (const { id, name } of items) {
    await page.goto(`/${workspace.slug}/workflows/${id}?panel=problems`)
    await expect(page.getByText('No problems. This draft can be published.'), name).toBeVisible()
    await expect(page.getByRole('button', { name: 'Problems 0', exact: true }), name).toBeVisible()
  }
})

test('dialogs share one frame: the same heading, cross, room and corners', async ({ page, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const dialogs = [
    ['/workflows', 'New workflow'],
    ['/tools', 'New tool'],
    ['/settings/api-keys', 'Create key'],
    ['/settings/vault', 'Add secret'],
    ['/settings/members', /^Invite/],
    ['/schedules', 'Create schedule'],
    [`/workflows/${approval}`, /^Publish/],
  ] as const
  const frames: string[] = []
  for (const [path, name] of dialogs) {
    await page.goto(`/${workspace.slug}${path}`)
    await page.getByRole('button', { name }).first().click()
    const dialog = page.getByRole('dialog')
    await expect(dialog.getByRole('heading', { level: 2 })).toBeVisible()
    frames.push(
      await dialog.evaluate((element) => {
        const heading = element.querySelector('h2') as Element
        const cross = element.querySelector('header button') as Element
        const { borderRadius, boxShadow } = getComputedStyle(element)
        const { fontSize, fontWeight } = getComputedStyle(heading)
        const [outer, inner, button] = [element, heading, cross].map((one) => one.getBoundingClientRect())
        if (!outer || !inner || !button) throw new Error('There is no frame')
        return JSON.stringify({
          ...{ borderRadius, boxShadow, fontSize, fontWeight },
          left: Math.round(inner.x - outer.x),
          top: Math.round(inner.y - outer.y),
          cross: [Math.round(outer.right - button.right), Math.round(button.y - outer.y), button.width],
        })
      }),
    )
    await page.keyboard.press('Escape')
    await expect(dialog).toHaveCount(0)
  }
  expect(new Set(frames).size, frames.join('\n')).toBe(1)
})

test('people change the workspace from the menu', async ({ page, workspace }) => {
  const { db } = database()
  const tenantId = newId('ten')
  const system = systemContext({ tenantId, db, log: workspace.ctx.log })
  const { slug } = await withTransaction(system, (tx) => createTenant(tx, { name: 'Second Company' }))
  const { userId } = workspace.owner
  await db.insert(members).values({ tenantId, userId, role: 'viewer', createdAt: new Date() })
  await createWorkflow(system, { name: 'Of the second' } as never)
  await page.goto(`/${workspace.slug}/workflows`)
  await page.getByRole('button', { name: 'Workspace Northwind Supply' }).click()
  const [mine, other] = [/^Northwind Supply/, 'Second Company'].map((name) => page.getByRole('menuitem', { name }))
  await expect(mine?.getByLabel('current') as Locator).toBeVisible()
  await other?.click()
  await expect(page).toHaveURL(new RegExp(`/${slug}$`))
  await expect(page.getByRole('button', { name: 'Workspace Second Company' })).toBeVisible()
  await page.keyboard.press('g')
  await page.keyboard.press('w')
  await expect(page.getByText('Of the second')).toBeVisible()
  // The role of the one is not that of the other.
  await expect(page.getByRole('button', { name: 'New workflow' })).toHaveCount(0)
})
