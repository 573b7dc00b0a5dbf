import { readFileSync } from 'node:fs'
import type { Locator, Page } from '@playwright/test'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { pdfOf, pngOf } from '../support/sample-files'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { reached } from './support/runs'
import type { Workspace } from './support/workspace'

const RECEIPTS = {
  name: 'Receipts',
  payload: { receipt: { type: 'file', label: 'Receipt' } },
  steps: [
    {
      ...{ id: 'check', type: 'request-user-action', title: 'A receipt', message: 'Please check ${receipt}.' },
      show: [{ label: 'The receipt', value: '${receipt}' }],
      actions: [{ id: 'approve', label: 'Approve' }],
    },
  ],
}

/** A run that waits for a decision about the file. */
async function received({ ctx, apiKey, tenantId }: Workspace, name: string, content: Buffer | string) {
  const { id } = await createWorkflow(ctx, RECEIPTS as never)
  await publishWorkflow(ctx, { id })
  const form = new FormData()
  form.append('attachment', new Blob([content as BlobPart]), name)
  const response = await fetch(`${process.env.BASE_URL}/api/workflow/start-async/${id}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'x-tenant-id': tenantId },
    body: form,
  })
  expect(response.status).toBe(200)
  const { runId } = (await response.json()) as { runId: string }
  return runId
}

async function newLink({ apiKey, tenantId }: Workspace, runId: string): Promise<string> {
  const response = await fetch(`${process.env.BASE_URL}/api/workflow/task-links/${runId}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'x-tenant-id': tenantId, 'content-type': 'application/json' },
    body: '{}',
  })
  const { url } = (await response.json()) as { url: string }
  return `/task${new URL(url).hash}`
}

const paused = (workspace: Workspace, runId: string) => reached(workspace, runId, ({ status }) => status === 'paused')

/** Where the content of a file is expected, and what of it. */
const SHOWN: [name: string, bytes: Buffer | string, shows: (content: Locator) => Promise<void>][] = [
  ['photo.png', pngOf(320, 200), (content) => expect(content.getByRole('img', { name: 'photo.png' })).toBeVisible()],
  [
    'invoice.pdf',
    pdfOf(['Invoice 4711', 'Thank you']),
    async (content) => {
      await expect(content.getByRole('region', { name: 'Page 1' })).toContainText('Invoice 4711')
      const drawn = await content
        .locator('canvas')
        .first()
        .evaluate((canvas: HTMLCanvasElement) => {
          const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] }
          return Array.from(data).some((value, index) => index % 4 === 0 && value < 128)
        })
      expect(drawn).toBe(true)
    },
  ],
  [
    'orders.csv',
    'article;price\n"AX-210";12,50\nBX-1;3\n',
    (content) => expect(content.getByRole('row')).toHaveText(['articleprice', 'AX-21012,50', 'BX-13']),
  ],
  [
    'notes.txt',
    'Delivered on Tuesday.\n',
    (content) => expect(content.getByText('Delivered on Tuesday.')).toBeVisible(),
  ],
]

for (const [name, bytes, shows] of SHOWN) {
  test(`${name} opens in a task, on the page of its run, and on that of a task link`, async ({
    page,
    browserOf,
    workspace,
  }) => {
    const runId = await received(workspace, name, bytes)
    await paused(workspace, runId)
    await page.goto(`/${workspace.slug}/inbox`)
    await page.getByRole('button', { name: /A receipt/ }).click()
    await opensIn(page, page.getByRole('region', { name: 'Values' }), name, shows)
    await expect(page.getByText(`Please check ${name}.`)).toBeVisible()

    await page.goto(`/${workspace.slug}/runs/${runId}`)
    const input = page.getByRole('region', { name: 'Input', exact: true })
    await expect(input.getByText('Receipt', { exact: true })).toBeVisible()
    // Once, and not as fileId too.
    await expect(input.getByRole('button', { name: `Open ${name}` })).toHaveCount(1)
    await expect(input).not.toContainText('fileId')
    await opensIn(page, input, name, shows)

    const guest = await browserOf('nobody')
    await guest.goto(await newLink(workspace, runId))
    const card = guest.locator('dl').filter({ hasText: 'The receipt' })
    await opensIn(guest, card, name, shows)
  })
}

/** Opens a file in place, downloads it, and closes it. */
async function opensIn(page: Page, place: Locator, name: string, shows: (content: Locator) => Promise<void>) {
  const open = place.getByRole('button', { name: `Open ${name}` })
  await open.click()
  await shows(place)
  expect(await violationsOf(page, undefined)).toEqual([])
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    place.locator(`[aria-label="Download ${name}"]`).click(),
  ])
  expect(download.suggestedFilename()).toBe(name)
  const sent = SHOWN.find(([one]) => one === name)?.[1] ?? ''
  expect(readFileSync(await download.path()).equals(Buffer.from(sent as string))).toBe(true)
  await place.getByRole('button', { name: `Close ${name}` }).click()
  await expect(open).toBeVisible()
}

test('files with scripts are only downloaded, and the addresses of all files show nothing', async ({
  page,
  workspace,
}) => {
  const hostile = '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "taken"</script></svg>'
  for (const name of ['logo.svg', 'page.html', 'photo.png']) {
    const runId = await received(workspace, name, hostile)
    await paused(workspace, runId)
    await page.goto(`/${workspace.slug}/runs/${runId}`)
    const input = page.getByRole('region', { name: 'Input', exact: true })
    await expect(input.getByText(name)).toBeVisible()
    await expect(input.getByRole('button', { name: `Open ${name}` })).toHaveCount(0)
    const address = await input.locator(`[aria-label="Download ${name}"]`).getAttribute('href')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      // The address bar: the page stays where it is.
      page.goto(address ?? '').catch(() => {}),
    ])
    expect(download.suggestedFilename()).toBe(name)
    await expect(page).toHaveURL(new RegExp(runId))
    await expect(page).not.toHaveTitle(/taken/)
  }
})

test('a damaged PDF says so, and one with a thousand pages is drawn as far as one looks', async ({
  page,
  workspace,
}) => {
  const broken = await received(workspace, 'broken.pdf', Buffer.from('%PDF-1.7\nnothing of it\n'))
  await paused(workspace, broken)
  await page.goto(`/${workspace.slug}/runs/${broken}`)
  await page
    .getByRole('region', { name: 'Input', exact: true })
    .getByRole('button', { name: 'Open broken.pdf' })
    .click()
  await expect(page.getByText('This PDF is damaged and cannot be shown.')).toBeVisible()

  const long = await received(workspace, 'long.pdf', pdfOf(Array.from({ length: 1_000 }, (_, at) => `Page ${at + 1}`)))
  await paused(workspace, long)
  await page.goto(`/${workspace.slug}/runs/${long}`)
  const input = page.getByRole('region', { name: 'Input', exact: true })
  await input.getByRole('button', { name: 'Open long.pdf' }).click()
  await expect(input.getByRole('region', { name: 'Page 1', exact: true })).toContainText('Page 1')
  await expect(input.locator('canvas')).toHaveCount(10)
  await input.getByRole('button', { name: 'Show more pages (990 left)' }).click()
  await expect(input.locator('canvas')).toHaveCount(20)
})

test('several files of one field are chosen at a start and in a task, and shown as files', async ({
  page,
  workspace,
}) => {
  const files = { type: 'array', items: { type: 'file' } }
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Claim',
    payload: { receipts: { ...files, label: 'Receipts' } },
    steps: [
      { id: 'more', type: 'collect-inputs', title: 'More papers', output: { papers: { ...files, label: 'Papers' } } },
    ],
  } as never)
  await publishWorkflow(workspace.ctx, { id })
  const chosen = (...names: string[]) =>
    names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(`content of ${name}`) }))
  await page.goto(`/${workspace.slug}/workflows`)
  await page.getByRole('button', { name: 'Actions for Claim' }).click()
  await page.getByRole('menuitem', { name: /^Start/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('input[type="file"]').setInputFiles(chosen('one.txt', 'two.txt'))
  await dialog.getByRole('button', { name: 'Start run' }).click()
  const input = page.getByRole('region', { name: 'Input', exact: true })
  for (const name of ['one.txt', 'two.txt']) {
    await input.getByRole('button', { name: `Open ${name}` }).click()
    await expect(input.getByText(`content of ${name}`)).toBeVisible()
  }
  await page.locator('input[type="file"]').setInputFiles(chosen('three.txt', 'four.txt'))
  await page.getByRole('button', { name: 'Submit' }).click()
  const answers = page.getByRole('region', { name: 'Answers' })
  for (const name of ['three.txt', 'four.txt']) {
    await expect(answers.getByRole('button', { name: `Open ${name}` })).toBeVisible()
  }
})
