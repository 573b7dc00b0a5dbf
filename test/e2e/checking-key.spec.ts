import { expect, test } from './support/fixture'
import { shownValue, statusWith } from './support/keys'

test('a key that only checks definitions is created with a command to try it, and may do nothing else', async ({
  page,
  workspace,
}) => {
  await page.goto(`/${workspace.slug}/settings/api-keys`)
  await page.getByRole('button', { name: 'New key' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Pull requests')
  await dialog.getByLabel('Only to check definitions').check()
  await expect(dialog.getByLabel('Role')).toBeDisabled()
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await expect(dialog).toContainText('diff -f definitions --publish --backtest')
  const key = await shownValue(page, /sk_[\w-]{20,}/)
  expect(await statusWith(page, workspace, key)).toBe(403)
  await expect(page.getByRole('row').filter({ hasText: 'Pull requests' })).toContainText('Checks definitions only')
})
