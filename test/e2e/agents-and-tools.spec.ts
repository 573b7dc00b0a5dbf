import { getAgent } from '@/server/agents/lifecycle'
import { createTool, getTool, saveToolDraft } from '@/server/tools/lifecycle'
import { openAgent } from '@/server/views/agents/open'
import { openTool } from '@/server/views/tools/open'
import { startMcpServer } from '@/test/support/mcp-server'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { newPerson } from './support/workspace'

test('an agent answers in the playground with data that matches its schema, and the thread continues', async ({
  page,
  workspace,
}) => {
  const { agent } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/agents/${agent}?tab=playground`)
  const message = page.getByRole('textbox', { name: /message/i }).first()
  for (const text of ['Where is my order N-20417?', 'And the one before?']) {
    await message.fill(text)
    await message.press('ControlOrMeta+Enter')
    await expect(page.getByText(text).first()).toBeVisible()
    await expect(message).toHaveValue('')
    await expect(page.getByText('summary').first()).toBeVisible()
  }
  await page.reload()
  await expect(page.getByText('Where is my order N-20417?').first()).toBeVisible()
})

test('a tool can be tested and shows the HTTP answer', async ({ page, workspace }) => {
  const { stock, declined } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/tools/${stock}?tab=test`)
  await page.getByRole('textbox', { name: /^article/ }).fill('AX-210')
  await page.getByRole('button', { name: /^Run/ }).first().click()
  await expect(page.getByText('executionTime').first()).toBeVisible()
  await page.goto(`/${workspace.slug}/tools/${declined}?tab=test`)
  await page.getByRole('button', { name: /^Run/ }).first().click()
  await expect(page.getByText('the card has expired').first()).toBeVisible()
})

test('an agent is saved while it is edited, published with a note, and restored', async ({ page, workspace }) => {
  const { agent } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/agents/${agent}`)
  const description = page.getByLabel('Description', { exact: true })
  const before = await description.inputValue()
  await description.fill('Thrown away')
  await page.getByRole('button', { name: 'Discard draft' }).click()
  await expect(description).toHaveValue(before)
  await description.fill('Answers in one sentence.')
  await expect(page.getByText(/Draft saved/)).toBeVisible()
  await page.reload()
  await expect(description).toHaveValue('Answers in one sentence.')
  expect(await getAgent(workspace.ctx, { id: agent })).toMatchObject({ version: 1, description: before })
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('Answers in one sentence.').first()).toBeVisible()
  await expect(dialog.getByRole('region', { name: 'Used by' }).getByRole('link').first()).toBeVisible()
  await dialog.getByLabel('Note').fill('Shorter answers')
  await dialog.getByRole('button', { name: 'Publish v2' }).click()
  await expect(page.getByText('Version 2 is published.')).toBeVisible()
  await page.getByRole('tab', { name: 'Versions' }).click()
  await expect(page.getByRole('button', { name: /^Version 2.*Shorter answers/ })).toBeVisible()
  await page.getByRole('button', { name: /^Version 1/ }).click()
  await page.getByRole('button', { name: 'Restore into the draft' }).click()
  await expect(description).toHaveValue(before)
  await expect(page.getByText(/Draft saved/)).toBeVisible()
  expect(await getAgent(workspace.ctx, { id: agent })).toMatchObject({ version: 2, publishedVersion: 2 })
})

test('an author says which calls of a tool need an approval, and who is asked', async ({ page, workspace }) => {
  const { agent } = await newCompany(workspace.ctx)
  const tools = async () => {
    const { draft } = await openAgent(workspace.ctx, { id: agent })
    return (draft?.content as { tools: object[] } | null)?.tools
  }
  await page.goto(`/${workspace.slug}/agents/${agent}`)
  const needs = page.getByLabel(/^Needs approval: /).first()
  await needs.selectOption('When…')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog.getByText(/^People are asked in runs, chats and invocations\./)).toBeVisible()
  await expect(dialog.getByText('Say when a call needs an approval.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Write as text' }).click()
  const field = (name: string) => dialog.getByRole('textbox', { name, exact: true })
  await field('Condition').fill('${args.article} == "AX-210"')
  await field('Title').fill('Look up ${args.article}')
  await dialog.getByRole('combobox', { name: 'Who may answer' }).fill('role:admin')
  await page.keyboard.press('Enter')
  await expect(dialog.getByText('Arguments that people may change')).toBeVisible()
  await field('Votes to approve').fill('2')
  await expect(dialog.getByText('Arguments that people may change')).toBeHidden()
  await field('Time to decide').fill('4')
  await dialog.getByLabel('When the time is up').selectOption('Fail the step')
  await dialog.getByRole('button', { name: 'Save' }).click()
  const approval = {
    ...{ when: '${args.article} == "AX-210"', title: 'Look up ${args.article}', assignees: ['role:admin'] },
    ...{ needs: { approve: 2 }, expiresIn: 'PT4H', onExpiry: 'fail' },
  }
  await expect.poll(async () => (await tools())?.[0]).toMatchObject({ approval })
  await expect(page.getByText('2 votes')).toBeVisible()
  await page.reload()
  await expect(needs).toHaveValue('when')
  await needs.selectOption('Never')
  // As it was: no draft is left.
  await expect.poll(tools).toBeUndefined()
})

test('a tool that another person changed in the same place asks, and overwrites nothing', async ({
  page,
  workspace,
}) => {
  const { stock } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/tools/${stock}`)
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  const draft = () => openTool(workspace.ctx, { id: stock })
  await page.route(/trpc\/[^?]*saveDraft/, (route) => route.abort())
  await name.fill('Count the stock')
  await expect(page.getByText('Offline, kept in this browser')).toBeVisible()
  const theirs = { name: 'Look into the warehouse', description: 'Changed by an API key' }
  const tom = await newPerson(workspace.ctx, 'editor', 'Tom Ford')
  const asTom = { ...workspace.ctx, actor: { ...workspace.ctx.actor, id: tom.userId } }
  await saveToolDraft(asTom, { id: stock, body: { revision: 0, baseVersion: 1, content: theirs } })
  await page.unroute(/trpc\/[^?]*saveDraft/)
  await page.getByRole('button', { name: 'Retry' }).click()
  await expect(page.getByRole('alert').filter({ hasText: 'Tom Ford changed what you changed' })).toBeVisible()
  await expect(name).toHaveValue('Count the stock')
  expect(await draft()).toMatchObject({ draft: { content: theirs } })
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await expect(page.getByText(/Draft saved/)).toBeVisible()
  expect(await draft()).toMatchObject({
    version: 1,
    draft: { content: { name: 'Count the stock', description: 'Changed by an API key' } },
  })
})

test('half a schema does not become part of the draft, and is still there after a reload', async ({
  page,
  workspace,
}) => {
  const { agent } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/agents/${agent}?tab=schema`)
  const schema = page.getByRole('textbox', { name: 'Output schema as JSON Schema' })
  await schema.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('half of it')
  await expect(page.getByText(/Not in the draft yet, kept in this browser/)).toBeVisible()
  await page.reload()
  await expect(schema).toContainText('half of it')
  await expect(page.getByText(/Not in the draft yet, kept in this browser/)).toBeVisible()
  // Fields on a closed tab still count.
  await page.goto(`/${workspace.slug}/agents/${agent}`)
  await page.getByLabel('Description', { exact: true }).fill('Not to be published yet')
  const publish = page.getByRole('button', { name: 'Publish' })
  await expect(publish).toHaveAttribute('aria-disabled', 'true')
  await page.getByRole('tab', { name: 'Output schema' }).click()
  await expect(schema).toContainText('half of it')
  await page.getByRole('button', { name: 'Discard draft' }).click()
  await expect(schema).not.toContainText('half of it')
})

test('the tools of an MCP server are listed, and one is chosen, saved and tested', async ({ page, workspace }) => {
  const server = await startMcpServer()
  try {
    const { remote } = await newCompany(workspace.ctx)
    await page.goto(`/${workspace.slug}/tools/${remote}`)
    await page.getByLabel('URL').fill(server.url)
    await page.getByRole('button', { name: 'List the server’s tools' }).click()
    await page.getByRole('radio', { name: /get-sum/ }).check()
    await expect(page.getByLabel('Tool on the server')).toHaveValue('get-sum')
    await expect(page.getByText(/Draft saved/)).toBeVisible()
    expect(await openTool(workspace.ctx, { id: remote })).toMatchObject({
      draft: { content: { config: { toolName: 'get-sum' }, inputSchema: { properties: { a: { type: 'number' } } } } },
    })
    await page.getByRole('tab', { name: 'Test' }).click()
    await page.getByLabel(/^a\b/).fill('20')
    await page.getByLabel(/^b\b/).fill('22')
    await page.getByRole('button', { name: /^Run/ }).first().click()
    await expect(page.getByText(/sum of 20 and 22 is 42/).first()).toBeVisible()
  } finally {
    await server.stop()
  }
})

test('testing a tool tests the content on the screen, saved or not, and an answer does not outlive a change', async ({
  page,
  workspace,
}) => {
  const { id } = await createTool(workspace.ctx, {
    name: 'Answer',
    kind: 'script',
    config: { code: "return { said: 'old' }" },
  })
  await page.goto(`/${workspace.slug}/tools/${id}`)
  const write = async (code: string) => {
    await page.getByRole('tab', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Code' }).first().click()
    await page.keyboard.press('Control+a')
    await page.keyboard.type(code)
    await page.getByRole('tab', { name: 'Test' }).click()
  }
  // Only the test itself reaches the server.
  await page.route(/trpc\/[^?]*saveDraft/, (route) => route.abort())
  await write("return { said: 'new' }")
  await expect(page.getByText('Tests the draft on screen; not saved yet.')).toBeVisible()
  await page.getByRole('button', { name: 'Run test' }).click()
  const answer = page.getByRole('region', { name: 'Answer' }).first()
  await expect(answer).toContainText('"new"')
  await expect(answer).toContainText('success after')
  await write('return nothing(')
  await expect(answer).not.toContainText('success after')
  await page.getByRole('button', { name: 'Run test' }).click()
  await expect(answer).toContainText('EXECUTION_ERROR')
  expect(await getTool(workspace.ctx, { id })).toMatchObject({ version: 1 })
})

test('the playground talks to the agent on the screen, and is beside the form where there is room', async ({
  page,
  workspace,
}) => {
  const { agent } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/agents/${agent}`)
  await page.getByLabel('Description', { exact: true }).fill('Not saved')
  await page.getByRole('tab', { name: 'Playground' }).click()
  await expect(page.getByText('Tests the draft on screen; not saved yet.')).toBeVisible()
  const message = page.getByRole('textbox', { name: /message/i }).first()
  await message.fill('Where is my order N-20417?')
  await message.press('ControlOrMeta+Enter')
  const result = page.getByRole('complementary', { name: 'Result' })
  await expect(result).toContainText('Draft, based on version 1')
  await page.setViewportSize({ width: 1600, height: 900 })
  // Text typed on one tab can be sent on the other.
  await message.fill('And the one before?')
  await page.getByRole('tab', { name: 'Edit' }).click()
  await expect(page.getByLabel('Instructions')).toBeVisible()
  await expect(message).toHaveValue('And the one before?')
  await message.press('ControlOrMeta+Enter')
  await expect(message).toHaveValue('')
  await expect(result).toContainText('Matches the schema')
  await page.getByLabel('Instructions').fill('Say it shorter.')
  await expect(result).toContainText('From before your latest changes')
})

test('two versions of an agent answer the same message beside each other', async ({ page, workspace }) => {
  const { agent } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/agents/${agent}?tab=compare`)
  await expect(page.getByLabel('Second', { exact: true })).toHaveValue('screen')
  await page.getByLabel('Message').fill('Where is my order N-20417?')
  await page.getByRole('button', { name: 'Ask both' }).click()
  for (const name of ['First answer', 'Second answer']) {
    const side = page.getByRole('region', { name })
    await expect(side).toContainText('summary')
    await expect(side).toContainText('Tokens')
  }
  await expect(page.getByRole('region', { name: 'Second answer' })).toContainText('Draft, based on version')
})

test('an agent gets a fall-back model and the reasons for which it answers', async ({ page, workspace }) => {
  const { agent } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/agents/${agent}`)
  await page.getByRole('button', { name: 'Add fall-back' }).click()
  const fallback = page.getByRole('group', { name: 'Fall-back 1' })
  await fallback.getByLabel('Provider').selectOption('anthropic')
  await page.getByLabel('Its key is refused').check()
  await expect(page.getByText(/Draft saved/)).toBeVisible()
  await page.reload()
  await expect(fallback.getByLabel('Provider')).toHaveValue('anthropic')
  await expect(page.getByLabel('Its key is refused')).toBeChecked()
  await expect(page.getByLabel('It refuses to answer')).not.toBeChecked()
  await page.getByRole('button', { name: 'Remove fall-back 1' }).click()
  await expect(fallback).toHaveCount(0)
  await expect(page.getByText(/Draft saved/)).toBeVisible()
  await page.reload()
  await expect(page.getByRole('button', { name: 'Add fall-back' })).toBeVisible()
  await expect(fallback).toHaveCount(0)
})

test('an admin limits what agents may use, and sees what they used today', async ({ page, workspace }) => {
  await page.goto(`/${workspace.slug}/settings/agents`)
  await expect(page.getByText('0 tokens, US$ 0')).toBeVisible()
  await page.getByLabel('US dollars a day').fill('20')
  await page.getByRole('button', { name: 'Save limits' }).click()
  await expect(page.getByText('The limits are saved.')).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('US dollars a day')).toHaveValue('20')
})
