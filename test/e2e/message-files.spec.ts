import type { Page } from '@playwright/test'
import { createAgent } from '@/server/agents/lifecycle'
import { pdfOf, pngOf } from '@/test/support/sample-files'
import { expect, test } from './support/fixture'

async function shots(page: Page, name: string) {
  if (!process.env.SHOTS) return
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: `${process.env.SHOTS}/${name}-${colorScheme}.png`, fullPage: true })
  }
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.screenshot({ path: `${process.env.SHOTS}/${name}-phone.png`, fullPage: true })
  if (size) await page.setViewportSize(size)
  await page.emulateMedia({ colorScheme: 'light' })
}

test('files are attached to a message in the playground, and its thread shows them', async ({ page, workspace }) => {
  const { id } = await createAgent(workspace.ctx, { name: 'Reads', instructions: 'Read.' })
  await page.goto(`/${workspace.slug}/agents/${id}?tab=playground`)
  const message = page.getByRole('textbox', { name: /message/i }).first()
  const send = page.getByRole('button', { name: 'Send', exact: true })
  const attached = page.getByRole('list', { name: 'Files of the message' })
  const choose = async (...files: [name: string, mimeType: string, buffer: Buffer][]) => {
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Attach files' }).click()
    await (await chooser).setFiles(files.map(([name, mimeType, buffer]) => ({ name, mimeType, buffer })))
  }
  await choose(
    ['scan.png', 'image/png', pngOf(40, 40)],
    ['bill of a supplier with a very long name of its own.pdf', 'application/pdf', pdfOf(['Invoice 7'])],
    ['large.txt', 'text/plain', Buffer.alloc(3_932_161, 'x')],
  )
  await expect(attached.getByRole('listitem')).toHaveCount(3)
  await expect(attached.getByText('It is larger than 3.75 MB.')).toBeVisible()
  await message.fill('What are these?')
  await expect(send).toBeDisabled()
  await shots(page, 'attached')
  await page.getByRole('button', { name: 'Remove large.txt' }).click()
  await expect(attached.locator('[aria-busy=true]')).toHaveCount(0)
  await send.click()
  const said = page.getByRole('log', { name: 'Conversation' })
  await expect(said.getByRole('button', { name: 'Open scan.png' })).toBeVisible()
  await expect(said.getByRole('link', { name: /^Download bill of a supplier/ })).toBeVisible()
  await expect(attached).toHaveCount(0)
  await expect(message).toHaveValue('')
  await shots(page, 'thread')

  // A file that no model reads comes back with its message.
  await choose(['a.zip', 'application/zip', Buffer.from('PK\u0003\u0004 nothing')])
  await expect(attached.locator('[aria-busy=false]')).toHaveCount(1)
  await message.fill('And this?')
  await send.click()
  await expect(page.getByText('A model cannot read a.zip').first()).toBeVisible()
  await expect(message).toHaveValue('And this?')
  await expect(attached.getByText('a.zip')).toBeVisible()
  await shots(page, 'refused')
  await page.getByRole('button', { name: 'Remove a.zip' }).click()
  await send.click()
  await expect(said.getByText('And this?')).toBeVisible()

  await page.reload()
  await said.getByRole('button', { name: 'Open scan.png' }).click()
  await expect(said.getByRole('img', { name: /scan.png/ })).toBeVisible()
})
