import type { Page } from '@playwright/test'
import { expect } from './fixture'

/** Publishes the workflow that the editor shows, as a person does. */
export async function publishInEditor(page: Page): Promise<void> {
  const publish = { name: /^Publish/ }
  await page.getByRole('button', publish).first().click()
  await page.getByRole('dialog').getByRole('button', publish).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
}
