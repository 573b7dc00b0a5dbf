import type { Page } from '@playwright/test'
import { expect } from './fixture'
import type { Workspace } from './workspace'

/** The status that an API caller with this key gets. */
export async function statusWith(page: Page, workspace: Workspace, key: string): Promise<number> {
  const headers = { 'x-api-key': key, 'x-tenant-id': workspace.tenantId }
  return (await page.request.get('/api/workflows', { headers })).status()
}

/** Reads the value from the dialog that shows it once. */
export async function shownValue(page: Page, pattern: RegExp): Promise<string> {
  const dialog = page.getByRole('dialog').filter({ hasText: 'cannot be shown again' })
  await expect(dialog).toBeVisible()
  // A key must not be lost by an accidental key press.
  await page.keyboard.press('Escape')
  await expect(dialog).toBeVisible()
  const value = pattern.exec(await dialog.innerText())?.[0] ?? ''
  await dialog.getByRole('button', { name: 'I have stored it' }).click()
  await expect(dialog).toBeHidden()
  return value
}
