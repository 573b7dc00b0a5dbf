import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { newWorkspace, signIn } from './support/workspace'

test('owners of the workspace that runs the service see how it does, and others see nothing of it', async ({
  page,
  workspace,
  browserOf,
}) => {
  await page.goto(`/${workspace.slug}/settings/service`)
  await expect(page.getByRole('heading', { name: 'Not in this workspace' })).toBeVisible()
  await expect(page.getByRole('navigation', { name: 'Settings' }).getByText('Service')).toHaveCount(0)

  const { ctx, slug, owner, apiKey } = await newWorkspace('Those who run it', 'ten_operators')
  const steps = [{ id: 'fail', type: 'fail-flow', code: 'OUR_OWN', message: 'Nobody else reads this' }]
  const { id } = await createWorkflow(ctx, { name: 'Fails', steps })
  await publishWorkflow(ctx, { id })
  await page.request.post(`/api/workflow/start/${id}`, { headers: { 'x-api-key': apiKey }, data: {} })
  const theirs = await browserOf('nobody')
  await signIn(theirs.context(), owner)
  await theirs.goto(`/${slug}/settings`)
  await theirs.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Service' }).click()
  await expect(theirs.getByRole('heading', { name: 'Queue' })).toBeVisible()
  await expect(theirs.getByRole('table', { name: 'By class' })).toContainText('OTHER')
  await expect(theirs.getByRole('table', { name: 'By workspace' })).toBeVisible()
  await expect(theirs.getByText('Nobody else reads this')).toHaveCount(0)
  expect(await violationsOf(theirs, undefined)).toEqual([])
})
