import { expect, type Page } from '@playwright/test'

/** Waits until the editor reports that everything is saved. */
export function saved(page: Page): Promise<void> {
  return expect(page.getByRole('status').filter({ hasText: /(^|\s)Saved/ })).toBeVisible()
}
